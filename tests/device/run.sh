#!/usr/bin/env bash
# All golden cases on this machine's NVIDIA GPU: how far each is from the truth beside the reference, and how long it took.
#   run.sh                  installs what is missing, builds, runs (README.md beside this file tells what it prints)
#   run.sh --build DIR      uses a build that is there, also with --pack
#   run.sh --pack FILE      makes an archive (.tar.gz) of compiled programs, for machines that have a GPU and nothing else; needs no GPU
#   run.sh --packed         runs in an unpacked archive; the archive's own run.sh does so by itself
# --target emulator runs the same without a GPU. Exit status 0: every case is within the rule of tests/data/README.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=cuda mode=run build="" archive=""
while [ $# -gt 0 ]; do
  case $1 in
  --build) build=$(cd "$2" && pwd); shift ;;
  --pack) mode=pack archive=$2; shift ;;
  --packed) mode=packed ;;
  --target) target=$2; shift ;;
  *) sed -n '2,7s/^# *//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ -e "$here/packed" ] && mode=packed

say() { printf '\n%s\n' "$*"; }
began=$(date +%s)

if [ "$target" = cuda ] && [ "$mode" != pack ] && ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
  echo "run.sh: this machine has no NVIDIA driver (libcuda.so.1); --target emulator runs the same programs without" >&2
  exit 1
fi

# Builds what is needed; on systems other than Debian the packages have to be there.
if [ "$mode" != packed ]; then
  cd "$here/../.."
  if [ -z "$build" ]; then
    say "Building"
    build=$PWD/build
    targets=(nnterp nnterp-exec nnterp_compiler e2e-goldens)
    if (. /etc/os-release && [ "${ID:-}" = debian ]); then
      tools/scripts/setup.sh release "${targets[@]}"
    else
      cmake --preset release >/dev/null && cmake --build --preset release --target "${targets[@]}"
    fi
  fi
fi

# A folder per case with its program, and whatever the test needs to run it.
if [ "$mode" = pack ]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/nnterp-pack.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  pack=$work/nnterp-device
  mkdir -p "$pack/bin" "$pack/lib" "$pack/data" "$pack/artefacts"
  touch "$pack/packed"
  cp tests/device/run.sh "$pack/"
  cp "$build/tests/e2e-goldens" "$build/bin/nnterp-exec" "$pack/bin/"
  strip "$pack"/bin/*
  cp -r tests/data/cases tests/data/checkpoints "$pack/data/"
  # Libraries besides those of the system itself.
  ldd "$pack/bin/e2e-goldens" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so/ { print $3 }' |
    xargs -I{} cp -L {} "$pack/lib/"
  say "Compiling the cases"
  compile() { # CASE
    local words
    words=$(python3 - "tests/data/cases/$1" <<'PYTHON'
import json, struct, sys
case = json.load(open(sys.argv[1] + "/case.json"))
for name in case["inputs"].values():
    with open(sys.argv[1] + "/" + name, "rb") as file:
        if "pixel_values" in json.loads(file.read(struct.unpack("<Q", file.read(8))[0])):
            sys.exit(0)  # programs for a GPU are those of text
words = ["tests/data/checkpoints/" + case["checkpoint"], "--plan", sys.argv[1] + "/plan.json", "--generate", str(case["generate"]), "--dtype", case["dtype"]]
print(" ".join(words))
PYTHON
    )
    [ -n "$words" ] || return 0
    # shellcheck disable=SC2086 # words
    "$build/bin/nnterp" compile $words --target cuda --quiet --out "$2/artefacts/$1" >/dev/null || { echo "run.sh: case $1 does not compile" >&2; return 1; }
  }
  export -f compile
  export build
  ls tests/data/cases | xargs -P "$(nproc)" -I{} bash -c 'compile {} "$0"' "$pack"
  tar -C "$work" -czf "$archive" nnterp-device
  say "$archive: $(du -h "$archive" | cut -f1); on the machine with the GPU: tar xzf, then nnterp-device/run.sh"
  exit 0
fi

if [ "$mode" = packed ]; then
  export LD_LIBRARY_PATH=$here/lib NNTERP_TEST_DATA=$here/data NNTERP_ARTEFACTS=$here/artefacts
  goldens=$here/bin/e2e-goldens cases=$here/data/cases
else
  export NNTERP_LIB_DIR=$build/lib
  goldens=$build/tests/e2e-goldens cases=tests/data/cases
fi
built=$(date +%s)

results=$(mktemp -d "${TMPDIR:-/tmp}/nnterp-goldens.XXXXXX")
trap 'rm -rf "$results"' EXIT
shards=$(nproc)
[ "$shards" -le 8 ] || shards=8
[ "$target" = cuda ] && { nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || true; }
say "Running with --target $target, $shards processes at a time"
for ((i = 0; i < shards; ++i)); do
  NNTERP_TARGET=$target NNTERP_SHARD=$i/$shards "$goldens" >"$results/$i" 2>&1 && touch "$results/$i.ok" &
done
wait
grep -h "ratio to the reference's rms" "$results"/[0-9]* | sort || true

status=0
for ((i = 0; i < shards; ++i)); do
  [ -e "$results/$i.ok" ] && continue
  status=1
  say "FAILED (part $i):"
  grep -v "ratio to the reference's rms" "$results/$i" | tail -60
done
ended=$(date +%s)
grep -h "ratio to the reference's rms" "$results"/[0-9]* | awk '
  {
    for (i = 1; i <= NF; ++i) {
      if ($i == "median") middle = $(i + 1) + 0
      if ($i == "worst") largest = $(i + 1) + 0
      if ($i == "ms") time += $(i - 1)
    }
    sum += middle
    if (largest > worst) { worst = largest; where = $1 }
  }
  END {
    if (NR > 0)
      printf "\n%d cases with floating-point outputs: medians are %.3f on average, worst ratio %.3f (%s), %.1f s of running\n", NR, sum / NR, worst, where, time / 1000
  }'
say "$([ $status = 0 ] && echo "all cases are within the rule" || echo "some cases are NOT within the rule"); built in $((built - began)) s, run in $((ended - built)) s"
exit $status
