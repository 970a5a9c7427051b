#!/usr/bin/env bash
# Assembles every kernel of the programs in tests/device/programs.txt with NVIDIA's ptxas, and compares registers, stack, spills and shared
# memory with tests/device/ptxas.golden. Needs no GPU. Without ptxas (PATH, $CUDA_HOME, $CUDA_PATH, or beside nvcc) it checks nothing and says so.
#   check-ptx.sh [--update] [BUILD]     BUILD: folder with bin/nnterp (default: build); --update writes the golden file anew
# Exit status: 0 all is well, or there is no ptxas; 1 a kernel is refused, spills where it must not, or differs.
set -euo pipefail
cd "$(dirname "$0")/../.."
chips=(sm_80 sm_90 sm_100)
# Kernels whose accumulators and states are meant to stay in registers.
must_not_spill='^(linear|experts|delta|attention)_'
golden=tests/device/ptxas.golden
update=false
if [ "${1:-}" = --update ]; then update=true; shift; fi
build=${1:-build}

find_ptxas() {
  command -v ptxas && return
  local folder nvcc
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}"; do
    if [ -n "$folder" ] && [ -x "$folder/bin/ptxas" ]; then echo "$folder/bin/ptxas"; return; fi
  done
  if nvcc=$(command -v nvcc); then
    folder=$(dirname "$(readlink -f "$nvcc")")
    if [ -x "$folder/ptxas" ]; then echo "$folder/ptxas"; return; fi
  fi
  return 1
}
if ! ptxas=$(find_ptxas); then
  echo "check-ptx: skipped, there is no ptxas (it comes with the CUDA toolkit)"
  exit 0
fi
if [ ! -x "$build/bin/nnterp" ]; then
  echo "check-ptx: expected $build/bin/nnterp; build first, or name the folder of the build" >&2
  exit 1
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/nnterp-ptx.XXXXXX")
trap 'rm -rf "$work"' EXIT

number=0
while read -r checkpoint options; do
  number=$((number + 1))
  # shellcheck disable=SC2086 # options are words
  "$build/bin/nnterp" compile "tests/data/checkpoints/$checkpoint" $options --target cuda --emit=ptx --quiet --out "$work/$number.ptx"
done < <(sed 's/#.*//; /^[[:space:]]*$/d' tests/device/programs.txt)

# One module with each kernel once: kernels of equal name are equal. What stands before an entry at module level belongs to it.
awk '
  /^\.(version|target|address_size)/ { if (FNR == NR || !header) print; next }
  { header = 1; piece = piece $0 "\n" }
  /\.entry / { name = $0; sub(/.*\.entry +/, "", name); sub(/[^A-Za-z0-9_$].*/, "", name) }
  /^}/ { if (!(name in seen)) { seen[name] = 1; printf "%s", piece } piece = "" }
' "$work"/*.ptx >"$work/all"
echo "check-ptx: $number programs, $(grep -c '\.entry ' "$work/all") kernels, $(wc -c <"$work/all") bytes of PTX"

for chip in "${chips[@]}"; do
  "$ptxas" -v -arch="$chip" -o /dev/null "$work/all" >"$work/$chip.log" 2>&1 && echo ok >"$work/$chip.ok" &
done
wait
status=0
for chip in "${chips[@]}"; do
  if [ ! -e "$work/$chip.ok" ]; then
    echo "check-ptx: ptxas refuses the kernels for $chip:" >&2
    grep -v 'ptxas info' "$work/$chip.log" | awk 'NR <= 20' >&2
    status=1
  fi
done
[ "$status" = 0 ] || exit 1

{
  echo "# Written by tools/scripts/check-ptx.sh --update, $("$ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/ptxas of CUDA \1/p')"
  for chip in "${chips[@]}"; do
    awk -v chip="$chip" '
      /Compiling entry function/ { split($0, part, "\047"); name = part[2] }
      /bytes stack frame/ { stack = $1; spill = $5 + $9 }
      /Used [0-9]+ registers/ {
        shared = 0
        for (i = 1; i < NF; ++i) {
          if ($i == "Used") registers = $(i + 1)
          if ($i ~ /^[0-9]+$/ && $(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared = $i
        }
        print chip, name, "registers", registers, "stack", stack, "spilled", spill, "shared", shared
      }' "$work/$chip.log" | sort
  done
} >"$work/golden"

for chip in "${chips[@]}"; do
  echo "heaviest on $chip:"
  awk -v chip="$chip" '$1 == chip' "$work/golden" | sort -k4,4nr -k2,2 | awk 'NR <= 10 { $1 = " "; print }'
done

spilling=$(awk -v kernels="$must_not_spill" '$2 ~ kernels && $8 > 0' "$work/golden")
if [ -n "$spilling" ]; then
  printf 'check-ptx: these kernels keep registers in memory, and must not:\n%s\n' "$spilling" >&2
  status=1
fi
if [ "$update" = true ]; then
  cp "$work/golden" "$golden"
  echo "check-ptx: wrote $golden"
elif [ ! -e "$golden" ] || [ "$(head -1 "$golden")" != "$(head -1 "$work/golden")" ]; then
  echo "check-ptx: not compared with $golden, which is of another ptxas; --update writes it anew"
elif ! diff -u "$golden" "$work/golden" >"$work/diff"; then
  echo "check-ptx: kernels differ from $golden (--update writes it anew):" >&2
  grep '^[-+][^-+]' "$work/diff" >&2
  status=1
fi
exit "$status"
