// Examples that `--help` ends with: what one would type, and why.
#pragma once

namespace nnterp::help {

constexpr const char *tool = R"(Examples
  nnterp info toy/                              what is this checkpoint?
  nnterp points toy/                            which values can I look at and edit?
  nnterp run toy/ --prompt "The capital of"     the most likely next tokens
  nnterp run toy/ --prompt "The capital of" --generate 20
                                                how the text goes on
  nnterp run toy/ --prompt "The capital of" --tap 'layers[*].layer_output{seq=prompt[-1]}' --out streams.safetensors
                                                the residual stream at the last token, after every block
  nnterp run toy/ --prompt "The capital of" --edit 'layers[3].self_attn.attention_premix{heads=1} zero'
                                                what if head 1 of block 3 said nothing?

CKPT is a folder with config.json and weights; info, points, import, check and compile also take a config.json alone.
Every command explains itself: nnterp run --help)";

constexpr const char *info = R"(Examples
  nnterp info toy/
  nnterp info Qwen3.5-35B-A3B/config.json       sizes of a model whose weights are elsewhere
  nnterp info toy/ --json | jq .sizes)";

constexpr const char *points = R"(Examples
  nnterp points toy/                            every name, with layout, shape, access and what it is
  nnterp points toy/ attention                  only names that contain "attention"
  nnterp points toy/ --tree                     the modules of the model with the values at each
  nnterp points toy/ --json                     the same for scripts)";

constexpr const char *import = R"(Examples
  nnterp import toy/                            the graph of the model, with a point at every name
  nnterp import toy/config.json --out toy.mlir)";

constexpr const char *check = R"(Prints a summary, or all errors of the plan. Needs no weights.

Examples
  nnterp check toy/ --plan plan.json
  nnterp check toy/config.json --edit 'layers[2].mlp.expert_weights drop 3,5'
  nnterp check toy/ --plan plan.json --generate 10      what of it reaches ten generated tokens?
  nnterp check toy/ --plan plan.json --print-plan       the plan with all flags in it, as JSON
  nnterp check toy/ --plan plan.json --print-plan=ir    the same as nnterp.plan)";

constexpr const char *explain = R"(Nothing is computed and no weights are read; a config.json alone will do.

Examples
  nnterp explain toy/ --tokens 512 --generate 100
  nnterp explain toy/config.json --plan patching.json   what do these worlds share?
  nnterp explain toy/ --plan plan.json --rows 16 --json
  nnterp explain toy/ --tokens 512 --generate 2 --target cuda --gpu H100     kernel by kernel, no GPU needed

  programs  kernels per call on the prompt, and per generated token
  worlds    what each world computes for itself
  work      floating-point operations, and bytes of weights that are read
  taps      what the output file holds; state: what a sequence keeps; memory: the expected peak
  device    with --target cuda: every kernel that a call starts with its grid, what it moves and computes, and the least time
            that takes on a GPU (A100, H100, H200, B200, RTX4090); registers where ptxas is installed)";

constexpr const char *compile = R"(Examples
  nnterp compile toy/ --plan plan.json                  compile into the cache: the next run starts at once
  nnterp compile toy/ --plan plan.json --generate 10    for runs that generate (any number of tokens from 2 on)
  nnterp compile toy/ --plan plan.json --out artefact/  the program in a folder, to be run by nnterp-exec
  nnterp compile toy/ --target cuda --out for-gpu/      a program for GPUs from sm_80 on; no GPU needed
  nnterp compile toy/config.json --emit=simplified      the graph after pruning and sharing
  nnterp compile toy/config.json --emit=llvm --out toy.ll
  nnterp compile toy/config.json --target cuda --emit=ptx --out toy.ptx

Stages, in order: import, plan, checked, simplified, kernels, bufferized, llvm, object.
For a GPU: bufferized, launches (kernels beside the host's code), llvm (that code), ptx, object.)";

constexpr const char *run = R"(Without --plan and --tap, the logits are tapped.
A second run of the same plan on another prompt, or with other numbers, indices or vectors, does not compile again.

With --generate, tokens are chosen as the checkpoint's generation_config.json says: --greedy always takes the likeliest,
--temperature, --top-k and --top-p sample, and --seed makes another draw. A row ends at the checkpoint's end tokens
(--eos, --no-eos). Selections name prompt tokens as prompt[...] and generated ones, as they are fed back, as gen[...];
what a plan does to the prompt stays in force for all that is generated, through the caches.

A chat goes through the checkpoint's own template. Where that knows thinking, say which you want.

--target cuda runs on an NVIDIA GPU, --target emulator runs the same program, PTX and all, on the CPU: slowly, but every
access to memory is checked. What comes out is the same as on the CPU up to the order in which sums are rounded.

Examples
  nnterp run toy/ --prompt "The capital of"
  nnterp run toy/ --prompt "One text" --prompt "and another, as a batch" --tap logits --out logits.safetensors
  nnterp run toy/ --plan plan.json --ids 1,2,3 --json
  nnterp run toy/ --input batch.safetensors --tap 'layers[0:4].mlp.router_logits'
  nnterp run toy/ --prompt "The capital of Italy is" --generate 12 --tap 'layers[*].layer_output{seq=gen[*]}'
  nnterp run toy/ --prompt "7 plus 8 is" --generate 5 --edit 'layers[5].mlp.routed_output{seq=gen[*]} zero'
  nnterp run toy/ --chat-prompt "Where is Rome?" --no-thinking --generate 40 --temperature 0.7 --seed 3
  nnterp run toy/ --prompt "When Anna and Ben" --save-state anna.safetensors
  nnterp run toy/ --load-state anna.safetensors --prompt " went to the shop," --generate 10
  nnterp run toy/ --prompt "The capital of Italy is" --generate 12 --target cuda
  nnterp run toy/ --plan worlds.json --prompt "clean:=The capital of Italy is" --prompt "corrupt:=The capital of Japan is"
  nnterp run toy/ --prompt "Hello" --edit 'layers[2].layer_output{seq=prompt[-1]} add v*4' --value v=steer.safetensors#v

Names, selections and operations: --tap [WORLD:]NAME[{AXIS=SEL,...}][@before][=ALIAS]
                                  --edit [WORLD:]NAME[{AXIS=SEL,...}] OP [ARGS]
  OP    zero | mask | fill C | scale C or SRC | add SRC[*C] | replace SRC | clamp MIN MAX | affine A B | lerp SRC T
        | project_out SRC | drop E,E | drop_renorm E,E | reroute E,E | force E,E [max]
  SEL   an index, a:b, several joined by |, prompt[...], gen[...], *)";

constexpr const char *verify = R"(Runs plans whose outcome is known on this checkpoint, and the same sequences in different ways: padded,
in a batch, through caches, in pieces, from a saved state. Where a promise says ==, every bit is compared. Looks at the first linear and the first
full-attention block and the last one, unless --all-blocks. Without --prompt and --ids, on three short rows of ids.
Exit status 1 when a check fails; what was expected and what was found is then on standard error.

Examples
  nnterp verify toy/
  nnterp verify toy/ --prompt "The capital of Italy is" --prompt "7 plus" --all-blocks
  nnterp verify toy/ --only cache --only state --generate 8
  nnterp verify --list                          every check, and what it promises)";

constexpr const char *tokenize = R"(Examples
  printf 'The capital of' | nnterp tokenize toy/
  printf 'The capital of' | nnterp tokenize toy/ --json         ids, pieces, and byte offsets in the input
  printf 'The capital of' | nnterp tokenize toy/ | nnterp detokenize toy/)";

constexpr const char *detokenize = R"(Example
  echo 1 2 3 | nnterp detokenize toy/)";

constexpr const char *errors = R"(Examples
  nnterp errors                                 all codes
  nnterp errors NNT0601                         what one of them means)";

} // namespace nnterp::help
