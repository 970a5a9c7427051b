#!/usr/bin/env bash
# Sets up, then shows the main job on the embedded checkpoint: who receives the gift, and where the model keeps the giver.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/scripts/setup.sh release nnterp nnterp_compiler nnterp-opt nnterp-lsp-server

checkpoint=tests/data/checkpoints/toy
plan=tests/data/plans/patch-giver.json
results=$(mktemp -d "${TMPDIR:-/tmp}/nnterp-demo.XXXXXX")
mkdir "$results/clean" "$results/patched" "$results/others"

say() {
  if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi
}
show() { # COMMAND...: as one would type it, then what it prints
  printf '$'
  for word in "$@"; do
    case $word in *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  "build/bin/$@" 2>&1
}

say '1. Two prompts that differ in the giver, as they are'
show nnterp run "$checkpoint" \
  --prompt 'When Anna and Ben went to the shop, Ben gave a book to' \
  --prompt 'When Anna and Ben went to the shop, Anna gave a book to' \
  --tap 'logits{seq=prompt[-1]}' --out "$results/clean/values.safetensors"

say '2. The same with a plan: in row 0, what block 0 hands on at the giver (token 9) is what it is in row 1'
cat "$plan"
show nnterp check "$checkpoint" --plan "$plan"
show nnterp run "$checkpoint" --plan "$plan" --out "$results/patched/values.safetensors"
echo
echo 'Row 0 still reads "Ben gave", but answers as if Anna had given: " Ben" instead of " Anna".'

say '3. Other prompts, the same plan: nothing is compiled again'
show nnterp run "$checkpoint" --plan "$plan" \
  --prompt 'When Leo and Ida went to the harbour, Leo gave a ring to' \
  --prompt 'When Leo and Ida went to the harbour, Ida gave a ring to' --out "$results/others/values.safetensors"

say "The tapped values are in $results/{clean,patched,others}/values.safetensors, described by the index.json beside each"
