// RUN: nnterp-opt %s --verify-roundtrip | FileCheck %s
// Every op of the hybrid dialect round-trips; its results have the inferred types.

// CHECK-LABEL: func @structure
func.func @structure(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  // CHECK: hybrid.weight "model.norm.weight" : tensor<8xbf16>
  %w = hybrid.weight "model.norm.weight" : tensor<8xbf16>
  // CHECK: hybrid.block 3 -> tensor<?x?x8xf32>
  %y = hybrid.block 3 -> tensor<?x?x8xf32> {
    // CHECK: hybrid.rms_norm %{{.*}}, %{{.*}} unit_offset eps {{.*}} : tensor<?x?x8xf32>, tensor<8xbf16>
    %n = hybrid.rms_norm %x, %w unit_offset eps 1.0e-6 : tensor<?x?x8xf32>, tensor<8xbf16>
    hybrid.yield %n : tensor<?x?x8xf32>
  }
  // CHECK: hybrid.kernel "hybrid.silu"(%{{.*}} : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %z = hybrid.kernel "hybrid.silu" (%y : tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  ^bb0(%a: tensor<?x?x8xf32>):
    // CHECK: hybrid.silu
    %s = hybrid.silu %a : tensor<?x?x8xf32>
    hybrid.yield %s : tensor<?x?x8xf32>
  }
  return %z : tensor<?x?x8xf32>
}

// CHECK-LABEL: func @inputs
func.func @inputs(%ids: tensor<?x?xi64>, %lengths: tensor<?xi64>, %p: tensor<3x?x?xi64>) -> tensor<?x?x8xf32> {
  // CHECK: hybrid.token_mask
  %m = hybrid.token_mask %ids, %lengths : tensor<?x?xi64>, tensor<?xi64>
  // CHECK: hybrid.input_size
  %n = hybrid.input_size %ids : tensor<?x?xi64>
  // CHECK: hybrid.rope_table %{{.*}} sections [2, 1, 1] inv_freq
  %c, %s = hybrid.rope_table %p sections [2, 1, 1] inv_freq [1.0, 0.5, 0.25, 0.125] as f32 : tensor<3x?x?xi64>
  %w = hybrid.weight "model.embed_tokens.weight" : tensor<16x8xf16>
  // CHECK: hybrid.embedding %{{.*}}, %{{.*}} as f32 : tensor<?x?xi64>, tensor<16x8xf16>
  %x = hybrid.embedding %ids, %w as f32 : tensor<?x?xi64>, tensor<16x8xf16>
  return %x : tensor<?x?x8xf32>
}

// CHECK-LABEL: func @delta_net
func.func @delta_net(%x: tensor<?x?x16xf32>, %ids: tensor<?x?xi64>, %n: tensor<?xi64>, %g: tensor<?x?x2xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4x4xf32>) {
  %w = hybrid.weight "conv" : tensor<16x1x4xf32>
  // CHECK: hybrid.initial_state %{{.*}} dims [16, 4] as f32 : tensor<?xi64>
  %c0 = hybrid.initial_state %n dims [16, 4] as f32 : tensor<?xi64>
  // CHECK: hybrid.short_conv
  %u, %c1 = hybrid.short_conv %x, %w, %c0, %n : tensor<?x?x16xf32>, tensor<16x1x4xf32>, tensor<?x16x4xf32>, tensor<?xi64>
  // CHECK: hybrid.heads %{{.*}} offset 4 stride 4 size 4 heads 2 repeat 2 : tensor<?x?x16xf32>
  %k = hybrid.heads %u offset 4 stride 4 size 4 heads 2 repeat 2 : tensor<?x?x16xf32>
  // CHECK: hybrid.l2_norm
  %kn = hybrid.l2_norm %k eps 1.0e-6 scale 0.5 : tensor<?x?x2x4xf32>
  %l = hybrid.weight "A_log" : tensor<2xf32>
  // CHECK: hybrid.decay
  %d = hybrid.decay %g, %l, %l : tensor<?x?x2xf32>, tensor<2xf32>, tensor<2xf32>
  // CHECK: hybrid.sigmoid
  %b = hybrid.sigmoid %g : tensor<?x?x2xf32>
  %s0 = hybrid.initial_state %n dims [2, 4, 4] as f32 : tensor<?xi64>
  // CHECK: hybrid.pad_decay %{{.*}} in f32
  %s2 = hybrid.pad_decay %s0, %l, %l, %n in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xi64>
  // CHECK: hybrid.delta_rule {{.*}} states : {{.*}} {
  %y, %s1, %states = hybrid.delta_rule %kn, %kn, %k, %d, %b, %s0, %n states : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
      tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>, tensor<?x?x2x4x4xf32>) {
  ^bb0(%z: tensor<?x1x2x4x4xf32>, %t: index):
    hybrid.yield %z : tensor<?x1x2x4x4xf32>
  }
  %gain = hybrid.weight "norm" : tensor<4xf32>
  // CHECK: hybrid.gated_rms_norm
  %o = hybrid.gated_rms_norm %y, %k, %gain eps 1.0e-6 : tensor<?x?x2x4xf32>, tensor<4xf32>
  return %o, %states : tensor<?x?x2x4xf32>, tensor<?x?x2x4x4xf32>
}

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<?x?x4x8xbf16>, %k: tensor<?x?x2x8xbf16>, %c: tensor<?x?x2xbf16>) -> tensor<?x?x32xbf16> {
  // CHECK: hybrid.rope
  %r = hybrid.rope %q, %c, %c : tensor<?x?x4x8xbf16>, tensor<?x?x2xbf16>
  // CHECK: hybrid.swap_heads
  %qs = hybrid.swap_heads %r : tensor<?x?x4x8xbf16>
  %ks = hybrid.swap_heads %k : tensor<?x?x2x8xbf16>
  // CHECK: hybrid.attention_scores %{{.*}}, %{{.*}} scale {{.*}} : tensor<?x4x?x8xbf16>, tensor<?x2x?x8xbf16>
  %s = hybrid.attention_scores %qs, %ks scale 0.5 : tensor<?x4x?x8xbf16>, tensor<?x2x?x8xbf16>
  // CHECK: hybrid.softmax %{{.*}} causal as bf16
  %p = hybrid.softmax %s causal as bf16 : tensor<?x4x?x?xbf16>
  // CHECK: hybrid.attention_mix
  %y = hybrid.attention_mix %p, %ks : tensor<?x4x?x?xbf16>, tensor<?x2x?x8xbf16>
  // CHECK: hybrid.gate %{{.*}} by %{{.*}} : tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>
  %g = hybrid.gate %y by %q : tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>
  // CHECK: hybrid.merge_heads
  %m = hybrid.merge_heads %g : tensor<?x?x4x8xbf16>
  return %m : tensor<?x?x32xbf16>
}

// CHECK-LABEL: func @memory
func.func @memory(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %n: tensor<?xi64>, %past: tensor<?xi64>, %t: tensor<1xi64>) -> tensor<?x?x4x8xf32> {
  // CHECK: hybrid.memory "keys" : tensor<?x2x?x8xf32>
  %c = hybrid.memory "keys" : tensor<?x2x?x8xf32>
  // CHECK: hybrid.kv_append %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  %f = hybrid.kv_append %c, %k, %n : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  // CHECK: hybrid.kv_append %{{.*}}, %{{.*}}, %{{.*}} past %{{.*}} : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>, tensor<?xi64>
  %a = hybrid.kv_append %c, %k, %n past %past : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>, tensor<?xi64>
  // CHECK: hybrid.kv_view
  %v = hybrid.kv_view %a, %t : tensor<?x2x?x8xf32>, tensor<1xi64>
  // CHECK: hybrid.kv_store
  %s = hybrid.kv_store %a, %v : tensor<?x2x?x8xf32>
  // CHECK: hybrid.remember %{{.*}} as "keys" : tensor<?x2x?x8xf32>
  hybrid.remember %s as "keys" : tensor<?x2x?x8xf32>
  // CHECK: hybrid.remember %{{.*}} as "saved" saved
  hybrid.remember %f as "saved" saved : tensor<?x2x?x8xf32>
  // CHECK: hybrid.attention_scores %{{.*}}, %{{.*}} past %{{.*}} scale {{.*}} : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  %w = hybrid.attention_scores %q, %v past %past scale 0.5 : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  // CHECK: hybrid.softmax %{{.*}} causal past %{{.*}} as f32
  %p = hybrid.softmax %w causal past %past as f32 : tensor<?x4x?x?xf32>, tensor<?xi64>
  // CHECK: hybrid.attention_mix %{{.*}}, %{{.*}} past %{{.*}}
  %y = hybrid.attention_mix %p, %v past %past : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  return %y : tensor<?x?x4x8xf32>
}

// CHECK-LABEL: func @mixture
func.func @mixture(%x: tensor<?x?x8xf32>, %n: tensor<?xi64>, %forced: tensor<?x?x2xi64>) -> tensor<?x8xf32> {
  %r = hybrid.weight "gate" : tensor<4x8xf32>
  // CHECK: hybrid.linear %{{.*}}, %{{.*}} : tensor<?x?x8xf32>, tensor<4x8xf32>
  %l = hybrid.linear %x, %r : tensor<?x?x8xf32>, tensor<4x8xf32>
  // CHECK: hybrid.router %{{.*}} top 2 forced %{{.*}} : tensor<?x?x2xi64> : tensor<?x?x4xf32>
  %w, %i = hybrid.router %l top 2 forced %forced : tensor<?x?x2xi64> : tensor<?x?x4xf32>
  %gu = hybrid.weight "gate_up" : tensor<4x6x8xf32>
  %d = hybrid.weight "down" : tensor<4x8x3xf32>
  // CHECK: hybrid.experts
  %o = hybrid.experts %x, %i, %w, %gu, %d : tensor<?x?x8xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32>, tensor<4x6x8xf32>, tensor<4x8x3xf32>
  // CHECK: hybrid.combine %{{.*}} : tensor<?x?x2x8xf32>
  %c = hybrid.combine %o : tensor<?x?x2x8xf32>
  // CHECK: hybrid.mul
  %m = hybrid.mul %c, %x : tensor<?x?x8xf32>
  // CHECK: hybrid.add
  %a = hybrid.add %m, %x : tensor<?x?x8xf32>
  // CHECK: hybrid.last_token
  %t = hybrid.last_token %a, %n : tensor<?x?x8xf32>, tensor<?xi64>
  return %t : tensor<?x8xf32>
}
