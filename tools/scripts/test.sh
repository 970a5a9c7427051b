#!/usr/bin/env bash
# Sets up and runs every test through ctest.
#   test.sh [PRESET] [CTEST ARGUMENTS...]      e.g.  test.sh sanitizer -R e2e
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=release
case "${1:-}" in release | sanitizer) preset=$1; shift ;; esac
tools/scripts/setup.sh "$preset"
ctest --preset "$preset" -j "$(nproc)" "$@"
