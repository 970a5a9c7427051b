#!/usr/bin/env bash
# Installs what nnterp-opt needs on Debian 12 and builds it into build/. Run again at will: what is there stays.
#   setup.sh [PRESET] [TARGET...]      release (default) or sanitizer; without targets: everything
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-release}
targets=("${@:2}")

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

. /etc/os-release 2>/dev/null || true
if [ "${ID:-}" != debian ] || [ "${VERSION_ID:-0}" -lt 12 ]; then
  echo "nnterp-opt is built for Debian 12; this is ${PRETTY_NAME:-another system}." >&2
  echo "Install the packages listed in tools/scripts/packages.txt by hand, then: cmake --preset $preset && cmake --build --preset $preset" >&2
  exit 1
fi

mapfile -t packages < <(sed 's/#.*//; s/[[:space:]]//g; /^$/d' tools/scripts/packages.txt)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Installing packages needs root: run this as root, or install sudo." >&2; exit 1; }
    sudo=sudo
  fi
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

say "Building (preset $preset)"
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" ${targets[@]:+--target "${targets[@]}"}
