// RUN: nnterp-opt %s --split-input-file --verify-diagnostics
// One case per constraint of the hybrid dialect.

func.func @block_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects its region to yield values of its result types}}
  %y = hybrid.block 0 -> tensor<?x?x8xf32> {
    hybrid.yield
  }
  return
}

// -----

func.func @kernel_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects its region's arguments to have the types of its inputs}}
  hybrid.kernel "k" (%x : tensor<?x?x8xf32>) {
    hybrid.yield
  }
  return
}

// -----

func.func @kernel_c2(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects its region to yield values of its result types}}
  %y = hybrid.kernel "k" (%x : tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  ^bb0(%a: tensor<?x?x8xf32>):
    hybrid.yield
  }
  return
}

// -----

func.func @embedding_c1(%ids: tensor<?x?xi64>, %t: tensor<8xf32>) {
  // expected-error @below {{expects a table of rank 2, found 'tensor<8xf32>'}}
  %x = hybrid.embedding %ids, %t as f32 : tensor<?x?xi64>, tensor<8xf32>
  return
}

// -----

func.func @rope_table_c1(%p: tensor<2x?x?xi64>) {
  // expected-error @below {{expects axis 0 of positions to be 3, found 2}}
  %c, %s = hybrid.rope_table %p sections [2, 1, 1] inv_freq [1.0] as f32 : tensor<2x?x?xi64>
  return
}

// -----

func.func @rope_table_c2(%p: tensor<3x?x?xi64>) {
  // expected-error @below {{expects three sections, found 2}}
  %c, %s = hybrid.rope_table %p sections [2, 1] inv_freq [1.0] as f32 : tensor<3x?x?xi64>
  return
}

// -----

func.func @rms_norm_c1(%x: tensor<?x?x8xf32>, %w: tensor<1x8xf32>) {
  // expected-error @below {{expects a gain of rank 1, found 'tensor<1x8xf32>'}}
  %y = hybrid.rms_norm %x, %w eps 1.0e-6 : tensor<?x?x8xf32>, tensor<1x8xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x?x8xf32>, %w: tensor<7xf32>) {
  // expected-error @below {{expects axis 0 of the gain to be 8, found 7}}
  %y = hybrid.rms_norm %x, %w eps 1.0e-6 : tensor<?x?x8xf32>, tensor<7xf32>
  return
}

// -----

func.func @gated_rms_norm_c2(%x: tensor<?x?x2x8xf32>, %w: tensor<7xf32>) {
  // expected-error @below {{expects axis 0 of the gain to be 8, found 7}}
  %y = hybrid.gated_rms_norm %x, %x, %w eps 1.0e-6 : tensor<?x?x2x8xf32>, tensor<7xf32>
  return
}

// -----

func.func @linear_c1(%x: tensor<?x?x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{expects a matrix of rank 2, found 'tensor<8xf32>'}}
  %y = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @linear_c2(%x: tensor<?x?x8xf32>, %w: tensor<4x7xf32>) {
  // expected-error @below {{expects axis 1 of the matrix to be 8, found 7}}
  %y = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<4x7xf32>
  return
}

// -----

func.func @gate_c1(%x: tensor<?x?x8xf32>, %g: tensor<?x8xf32>) {
  // expected-error @below {{expects a gate of rank 3, found 'tensor<?x8xf32>'}}
  %y = hybrid.gate %x by %g : tensor<?x?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @gate_c2(%x: tensor<?x?x8xf32>, %g: tensor<?x?x2xf32>) {
  // expected-error @below {{expects a gate whose last axis is 1 or 8, found 2}}
  %y = hybrid.gate %x by %g : tensor<?x?x8xf32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @decay_c1(%x: tensor<?x?x8xf32>, %a: tensor<7xf32>, %d: tensor<8xf32>) {
  // expected-error @below {{expects axis 0 of the gain to be 8, found 7}}
  %y = hybrid.decay %x, %a, %d : tensor<?x?x8xf32>, tensor<7xf32>, tensor<8xf32>
  return
}

// -----

func.func @decay_c2(%x: tensor<?x?x8xf32>, %a: tensor<8xf32>, %d: tensor<7xf32>) {
  // expected-error @below {{expects axis 0 of the gain to be 8, found 7}}
  %y = hybrid.decay %x, %a, %d : tensor<?x?x8xf32>, tensor<8xf32>, tensor<7xf32>
  return
}

// -----

func.func @heads_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects positive sizes}}
  %y = hybrid.heads %x offset 0 stride 4 size 0 heads 2 repeat 1 : tensor<?x?x8xf32>
  return
}

// -----

func.func @heads_c2(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects the repeat 2 to divide the 3 heads}}
  %y = hybrid.heads %x offset 0 stride 4 size 4 heads 3 repeat 2 : tensor<?x?x8xf32>
  return
}

// -----

func.func @heads_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{reads up to 9 of a last axis of 8}}
  %y = hybrid.heads %x offset 1 stride 4 size 4 heads 2 repeat 1 : tensor<?x?x8xf32>
  return
}

// -----

func.func @merge_heads_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects static heads and head size, found 'tensor<?x?x8xf32>'}}
  %y = "hybrid.merge_heads"(%x) : (tensor<?x?x8xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_decay_c1(%s: tensor<?x4x4xf32>, %l: tensor<2xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects a state of rank 4, found 'tensor<?x4x4xf32>'}}
  %y = hybrid.pad_decay %s, %l, %l, %n in f32 : tensor<?x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xi64>
  return
}

// -----

func.func @pad_decay_c2(%s: tensor<?x2x4x4xf32>, %l: tensor<3xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects axis 0 of rates and biases to be 2, found 3}}
  %y = hybrid.pad_decay %s, %l, %l, %n in f32 : tensor<?x2x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?xi64>
  return
}

// -----

func.func @short_conv_c1(%u: tensor<?x8xf32>, %w: tensor<8x1x4xf32>, %s: tensor<?x8x4xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects an input of rank 3, found 'tensor<?x8xf32>'}}
  %y, %z = hybrid.short_conv %u, %w, %s, %n : tensor<?x8xf32>, tensor<8x1x4xf32>, tensor<?x8x4xf32>, tensor<?xi64>
  return
}

// -----

func.func @short_conv_c2(%u: tensor<?x?x8xf32>, %w: tensor<7x1x4xf32>, %s: tensor<?x8x4xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects axis 0 of the weight to be 8, found 7}}
  %y, %z = hybrid.short_conv %u, %w, %s, %n : tensor<?x?x8xf32>, tensor<7x1x4xf32>, tensor<?x8x4xf32>, tensor<?xi64>
  return
}

// -----

func.func @short_conv_c3(%u: tensor<?x?x8xf32>, %w: tensor<8x1x4xf32>, %s: tensor<?x8x3xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects axis 2 of the state to be 4, found 3}}
  %y, %z = hybrid.short_conv %u, %w, %s, %n : tensor<?x?x8xf32>, tensor<8x1x4xf32>, tensor<?x8x3xf32>, tensor<?xi64>
  return
}

// -----

func.func @delta_rule_c1(%q: tensor<?x?x3x4xf32>, %k: tensor<?x?x2x4xf32>, %g: tensor<?x?x2xf32>, %s: tensor<?x2x4x4xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects axis 2 of every argument to be 2, found 3}}
  %y, %z = hybrid.delta_rule %q, %k, %k, %g, %g, %s, %n : (tensor<?x?x3x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
    tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>)
  return
}

// -----

func.func @delta_rule_c4(%k: tensor<?x?x2x4xf32>, %g: tensor<?x?x2xf32>, %s: tensor<?x2x5x4xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects axis 2 of the state to be 4, found 5}}
  %y, %z = hybrid.delta_rule %k, %k, %k, %g, %g, %s, %n : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
    tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x5x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x5x4xf32>)
  return
}

// -----

func.func @delta_rule_c5(%k: tensor<?x?x2x4xf32>, %g: tensor<?x?x2xf32>, %s: tensor<?x2x4x4xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects its region to yield the edited state}}
  %y, %z = hybrid.delta_rule %k, %k, %k, %g, %g, %s, %n : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
    tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>) {
  ^bb0(%state: tensor<?x1x2x4x4xf32>, %t: index):
    hybrid.yield
  }
  return
}

// -----

func.func @rope_c1(%x: tensor<?x?x8xf32>, %c: tensor<?x?x2xf32>) {
  // expected-error @below {{expects an input of rank 4, found 'tensor<?x?x8xf32>'}}
  %y = hybrid.rope %x, %c, %c : tensor<?x?x8xf32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @rope_c3(%x: tensor<?x?x2x8xf32>, %c: tensor<?x?x5xf32>) {
  // expected-error @below {{rotates 10 dims of heads of 8}}
  %y = hybrid.rope %x, %c, %c : tensor<?x?x2x8xf32>, tensor<?x?x5xf32>
  return
}

// -----

func.func @attention_scores_c1(%q: tensor<?x4x?x8xf32>, %k: tensor<?x3x?x8xf32>) {
  // expected-error @below {{expects key heads that divide the 4 query heads, found 3}}
  %s = hybrid.attention_scores %q, %k scale 0.5 : tensor<?x4x?x8xf32>, tensor<?x3x?x8xf32>
  return
}

// -----

func.func @softmax_c1(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects a pattern of rank 4, found 'tensor<?x8xf32>'}}
  %y = hybrid.softmax %x causal as f32 : tensor<?x8xf32>
  return
}

// -----

func.func @router_c1(%l: tensor<?x?x4xf32>) {
  // expected-error @below {{chooses 5 of 4 experts}}
  %w, %i = hybrid.router %l top 5 : tensor<?x?x4xf32>
  return
}

// -----

func.func @experts_c1(%x: tensor<?x?x8xf32>, %i: tensor<?x?x2xi64>, %w: tensor<?x?x2xf32>, %gu: tensor<4x6x7xf32>, %d: tensor<4x8x3xf32>) {
  // expected-error @below {{expects axis 2 of gate_up to be 8, found 7}}
  %y = hybrid.experts %x, %i, %w, %gu, %d : tensor<?x?x8xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32>, tensor<4x6x7xf32>, tensor<4x8x3xf32>
  return
}

// -----

func.func @experts_c2(%x: tensor<?x?x8xf32>, %i: tensor<?x?x2xi64>, %w: tensor<?x?x2xf32>, %gu: tensor<4x6x8xf32>, %d: tensor<5x8x3xf32>) {
  // expected-error @below {{expects axis 0 of down to be 4, found 5}}
  %y = hybrid.experts %x, %i, %w, %gu, %d : tensor<?x?x8xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32>, tensor<4x6x8xf32>, tensor<5x8x3xf32>
  return
}

// -----

func.func @experts_c3(%x: tensor<?x?x8xf32>, %i: tensor<?x?x2xi64>, %w: tensor<?x?x3xf32>, %gu: tensor<4x6x8xf32>, %d: tensor<4x8x3xf32>) {
  // expected-error @below {{expects axis 2 of the weights to be 2, found 3}}
  %y = hybrid.experts %x, %i, %w, %gu, %d : tensor<?x?x8xf32>, tensor<?x?x2xi64>, tensor<?x?x3xf32>, tensor<4x6x8xf32>, tensor<4x8x3xf32>
  return
}

// -----

func.func @last_token_c1(%x: tensor<?x8xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects inputs of the ranks in its description}}
  %y = hybrid.last_token %x, %n : tensor<?x8xf32>, tensor<?xi64>
  return
}

// -----

func.func @kv_append_c1(%c: tensor<?x2x?xf32>, %k: tensor<?x2x?x8xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects a cache and what is added of rank 4}}
  %y = hybrid.kv_append %c, %k, %n : tensor<?x2x?xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  return
}

// -----

func.func @kv_append_c2(%c: tensor<?x2x?x8xf32>, %k: tensor<?x3x?x8xf32>, %n: tensor<?xi64>) {
  // expected-error @below {{expects axis 1 of what is added to be 2, found 3}}
  %y = hybrid.kv_append %c, %k, %n : tensor<?x2x?x8xf32>, tensor<?x3x?x8xf32>, tensor<?xi64>
  return
}

// -----

func.func @kv_view_c1(%c: tensor<?x2x4x8xf32>, %t: tensor<1xi64>) {
  // expected-error @below {{expects a cache of dynamic capacity}}
  %y = hybrid.kv_view %c, %t : tensor<?x2x4x8xf32>, tensor<1xi64>
  return
}
