// The plain lowering, run: what must hold to the bit, on rows of different lengths. main gives the number of broken promises.
// RUN: nnterp-opt %s -pass-pipeline='builtin.module(func.func(nnterp-lower-plain),eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},canonicalize,cse,canonicalize,drop-equivalent-buffer-results,buffer-deallocation-pipeline,canonicalize,cse,func.func(nnterp-copy-to-loops,convert-linalg-to-loops,nnterp-expand-math),expand-strided-metadata,lower-affine,convert-scf-to-cf,arith-expand{include-bf16=true},convert-to-llvm,reconcile-unrealized-casts)' | mlir-runner -e main -entry-point-result=i64 | FileCheck %s
// CHECK: {{^}}0{{$}}

// How many entries of two tensors differ in their bits (+0 and -0 differ).
func.func private @differ3(%a: tensor<?x?x?xf32> {bufferization.writable = false}, %b: tensor<?x?x?xf32> {bufferization.writable = false}) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant 0 : i64
  %d0 = tensor.dim %b, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %b, %c1 : tensor<?x?x?xf32>
  %d2 = tensor.dim %b, %c2 : tensor<?x?x?xf32>
  %n = scf.for %i = %c0 to %d0 step %c1 iter_args(%n0 = %none) -> (i64) {
    %n1 = scf.for %j = %c0 to %d1 step %c1 iter_args(%n2 = %n0) -> (i64) {
      %n3 = scf.for %k = %c0 to %d2 step %c1 iter_args(%n4 = %n2) -> (i64) {
        %x = tensor.extract %a[%i, %j, %k] : tensor<?x?x?xf32>
        %y = tensor.extract %b[%i, %j, %k] : tensor<?x?x?xf32>
        %xi = arith.bitcast %x : f32 to i32
        %yi = arith.bitcast %y : f32 to i32
        %ne = arith.cmpi ne, %xi, %yi : i32
        %one = arith.extui %ne : i1 to i64
        %n5 = arith.addi %n4, %one : i64
        scf.yield %n5 : i64
      }
      scf.yield %n3 : i64
    }
    scf.yield %n1 : i64
  }
  return %n : i64
}

func.func private @differ5(%a: tensor<?x?x2x2x2xf32> {bufferization.writable = false}, %b: tensor<?x?x2x2x2xf32> {bufferization.writable = false}) -> i64 {
  %x = tensor.collapse_shape %a [[0], [1], [2, 3, 4]] : tensor<?x?x2x2x2xf32> into tensor<?x?x8xf32>
  %y = tensor.collapse_shape %b [[0], [1], [2, 3, 4]] : tensor<?x?x2x2x2xf32> into tensor<?x?x8xf32>
  %u = tensor.cast %x : tensor<?x?x8xf32> to tensor<?x?x?xf32>
  %v = tensor.cast %y : tensor<?x?x8xf32> to tensor<?x?x?xf32>
  %n = call @differ3(%u, %v) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  return %n : i64
}

// A dot product that float32 would get wrong: 1e8 + 1 - 1e8.
func.func private @linear() -> i64 {
  %x0 = arith.constant dense<[[[1.0e8, 1.0, -1.0e8], [1.0, 2.0, 3.0]]]> : tensor<1x2x3xf32>
  %w = arith.constant dense<[[1.0, 1.0, 1.0], [0.5, 0.0, -1.0]]> : tensor<2x3xbf16>
  %e0 = arith.constant dense<[[[1.0, 1.5e8], [6.0, -2.5]]]> : tensor<1x2x2xf32>
  %x = tensor.cast %x0 : tensor<1x2x3xf32> to tensor<?x?x3xf32>
  %y = hybrid.linear %x, %w : tensor<?x?x3xf32>, tensor<2x3xbf16>
  %a = tensor.cast %y : tensor<?x?x2xf32> to tensor<?x?x?xf32>
  %e = tensor.cast %e0 : tensor<1x2x2xf32> to tensor<?x?x?xf32>
  %n = call @differ3(%a, %e) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  return %n : i64
}

// gate(x, g) is x * sigmoid(g), and a sum over slots goes from the first to the last in float32: (1e8 + 1) - 1e8 = 0.
func.func private @identities() -> i64 {
  %x0 = arith.constant dense<[[[0.3, -1.7, 12.5]]]> : tensor<1x1x3xf32>
  %g0 = arith.constant dense<[[[0.9, -3.1, 0.01]]]> : tensor<1x1x3xf32>
  %o0 = arith.constant dense<[[[[1.0e8, 1.0], [1.0, 1.0], [-1.0e8, 1.0]]]]> : tensor<1x1x3x2xf32>
  %e0 = arith.constant dense<[[[0.0, 3.0]]]> : tensor<1x1x2xf32>
  %x = tensor.cast %x0 : tensor<1x1x3xf32> to tensor<?x?x3xf32>
  %g = tensor.cast %g0 : tensor<1x1x3xf32> to tensor<?x?x3xf32>
  %o = tensor.cast %o0 : tensor<1x1x3x2xf32> to tensor<?x?x3x2xf32>
  %a = hybrid.gate %x by %g : tensor<?x?x3xf32>, tensor<?x?x3xf32>
  %s = hybrid.sigmoid %g : tensor<?x?x3xf32>
  %b = hybrid.mul %x, %s : tensor<?x?x3xf32>
  %c = hybrid.combine %o : tensor<?x?x3x2xf32>
  %ad = tensor.cast %a : tensor<?x?x3xf32> to tensor<?x?x?xf32>
  %bd = tensor.cast %b : tensor<?x?x3xf32> to tensor<?x?x?xf32>
  %cd = tensor.cast %c : tensor<?x?x2xf32> to tensor<?x?x?xf32>
  %ed = tensor.cast %e0 : tensor<1x1x2xf32> to tensor<?x?x?xf32>
  %n0 = call @differ3(%ad, %bd) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  %n1 = call @differ3(%cd, %ed) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  %n = arith.addi %n0, %n1 : i64
  return %n : i64
}

// Uniform rows where every key holds the lowest value, zeros behind the query.
func.func private @softmax() -> i64 {
  %low = arith.constant dense<[[[[-3.40282347E+38, 5.0], [-3.40282347E+38, -3.40282347E+38]]]]> : tensor<1x1x2x2xf32>
  %e0 = arith.constant dense<[[[1.0, 0.0], [0.5, 0.5]]]> : tensor<1x2x2xf32>
  %s = tensor.cast %low : tensor<1x1x2x2xf32> to tensor<?x1x?x?xf32>
  %p = hybrid.softmax %s causal as f32 : tensor<?x1x?x?xf32>
  %q = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<?x1x?x?xf32> into tensor<?x?x?xf32>
  %e = tensor.cast %e0 : tensor<1x2x2xf32> to tensor<?x?x?xf32>
  %n = call @differ3(%q, %e) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  return %n : i64
}

// Equal logits: the lower index first; forced experts take the first slots.
func.func private @router() -> i64 {
  %l0 = arith.constant dense<[[[1.0, 2.0, 2.0, 0.0], [3.0, 1.0, 1.0, 5.0]]]> : tensor<1x2x4xf32>
  %f0 = arith.constant dense<[[[-1, -1, -1], [2, -1, -1]]]> : tensor<1x2x3xi64>
  %e = arith.constant dense<[[[1, 2, 0], [2, 3, 0]]]> : tensor<1x2x3xi64>
  %l = tensor.cast %l0 : tensor<1x2x4xf32> to tensor<?x?x4xf32>
  %f = tensor.cast %f0 : tensor<1x2x3xi64> to tensor<?x?x3xi64>
  %w, %i = hybrid.router %l top 3 forced %f : tensor<?x?x3xi64> : tensor<?x?x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %none = arith.constant 0 : i64
  %n = scf.for %s = %c0 to %c2 step %c1 iter_args(%n0 = %none) -> (i64) {
    %n1 = scf.for %j = %c0 to %c3 step %c1 iter_args(%n2 = %n0) -> (i64) {
      %a = tensor.extract %i[%c0, %s, %j] : tensor<?x?x3xi64>
      %b = tensor.extract %e[%c0, %s, %j] : tensor<1x2x3xi64>
      %ne = arith.cmpi ne, %a, %b : i64
      %one = arith.extui %ne : i1 to i64
      %n3 = arith.addi %n2, %one : i64
      scf.yield %n3 : i64
    }
    scf.yield %n1 : i64
  }
  return %n : i64
}

// Two rows, the first one token long. The state stays behind a row's end, the last of the states is the state given out, taking states
// changes nothing, and the first row is what it is alone.
func.func private @delta() -> i64 {
  %k0 = arith.constant dense<[[[[0.6, 0.8], [1.0, 0.0]], [[9.0, 9.0], [9.0, 9.0]]], [[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]]]]> : tensor<2x2x2x2xf32>
  %g0 = arith.constant dense<[[[-0.1, -0.2], [-9.0, -9.0]], [[-0.3, -0.4], [-0.5, -0.6]]]> : tensor<2x2x2xf32>
  %b0 = arith.constant dense<0.7> : tensor<2x2x2xf32>
  %s0 = arith.constant dense<0.3> : tensor<2x2x2x2xf32>
  %n0 = arith.constant dense<[1, 2]> : tensor<2xi64>
  %k = tensor.cast %k0 : tensor<2x2x2x2xf32> to tensor<?x?x2x2xf32>
  %g = tensor.cast %g0 : tensor<2x2x2xf32> to tensor<?x?x2xf32>
  %b = tensor.cast %b0 : tensor<2x2x2xf32> to tensor<?x?x2xf32>
  %s = tensor.cast %s0 : tensor<2x2x2x2xf32> to tensor<?x2x2x2xf32>
  %l = tensor.cast %n0 : tensor<2xi64> to tensor<?xi64>
  %y, %z, %st = hybrid.delta_rule %k, %k, %k, %g, %b, %s, %l states : (tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x2x2xf32>, tensor<?xi64>) -> (tensor<?x?x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x?x2x2x2xf32>)
  %y2, %z2 = hybrid.delta_rule %k, %k, %k, %g, %b, %s, %l : (tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x2x2xf32>, tensor<?xi64>) -> (tensor<?x?x2x2xf32>, tensor<?x2x2x2xf32>)

  %ka = arith.constant dense<[[[[0.6, 0.8], [1.0, 0.0]]]]> : tensor<1x1x2x2xf32>
  %ga = arith.constant dense<[[[-0.1, -0.2]]]> : tensor<1x1x2xf32>
  %ba = arith.constant dense<0.7> : tensor<1x1x2xf32>
  %sa = arith.constant dense<0.3> : tensor<1x2x2x2xf32>
  %na = arith.constant dense<1> : tensor<1xi64>
  %k1 = tensor.cast %ka : tensor<1x1x2x2xf32> to tensor<?x?x2x2xf32>
  %g1 = tensor.cast %ga : tensor<1x1x2xf32> to tensor<?x?x2xf32>
  %b1 = tensor.cast %ba : tensor<1x1x2xf32> to tensor<?x?x2xf32>
  %s1 = tensor.cast %sa : tensor<1x2x2x2xf32> to tensor<?x2x2x2xf32>
  %l1 = tensor.cast %na : tensor<1xi64> to tensor<?xi64>
  %y1, %z1 = hybrid.delta_rule %k1, %k1, %k1, %g1, %b1, %s1, %l1 : (tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x2x2xf32>, tensor<?xi64>) -> (tensor<?x?x2x2xf32>, tensor<?x2x2x2xf32>)

  // [B,2,2,2] as [B,1,2,2,2]; the last states as the same.
  %two = arith.constant 2 : index
  %one = arith.constant 1 : index
  %zv = tensor.expand_shape %z [[0, 1], [2], [3], [4]] output_shape [%two, 1, 2, 2, 2] : tensor<?x2x2x2xf32> into tensor<?x1x2x2x2xf32>
  %z2v = tensor.expand_shape %z2 [[0, 1], [2], [3], [4]] output_shape [%two, 1, 2, 2, 2] : tensor<?x2x2x2xf32> into tensor<?x1x2x2x2xf32>
  %z1v = tensor.expand_shape %z1 [[0, 1], [2], [3], [4]] output_shape [%one, 1, 2, 2, 2] : tensor<?x2x2x2xf32> into tensor<?x1x2x2x2xf32>
  %last = tensor.extract_slice %st[0, 1, 0, 0, 0] [2, 1, 2, 2, 2] [1, 1, 1, 1, 1] : tensor<?x?x2x2x2xf32> to tensor<2x1x2x2x2xf32>
  %first = tensor.extract_slice %st[0, 0, 0, 0, 0] [1, 1, 2, 2, 2] [1, 1, 1, 1, 1] : tensor<?x?x2x2x2xf32> to tensor<1x1x2x2x2xf32>
  %zd = tensor.cast %zv : tensor<?x1x2x2x2xf32> to tensor<?x?x2x2x2xf32>
  %z2d = tensor.cast %z2v : tensor<?x1x2x2x2xf32> to tensor<?x?x2x2x2xf32>
  %z1d = tensor.cast %z1v : tensor<?x1x2x2x2xf32> to tensor<?x?x2x2x2xf32>
  %lastd = tensor.cast %last : tensor<2x1x2x2x2xf32> to tensor<?x?x2x2x2xf32>
  %firstd = tensor.cast %first : tensor<1x1x2x2x2xf32> to tensor<?x?x2x2x2xf32>
  %m0 = call @differ5(%lastd, %zd) : (tensor<?x?x2x2x2xf32>, tensor<?x?x2x2x2xf32>) -> i64
  %m1 = call @differ5(%z2d, %zd) : (tensor<?x?x2x2x2xf32>, tensor<?x?x2x2x2xf32>) -> i64
  %m2 = call @differ5(%firstd, %z1d) : (tensor<?x?x2x2x2xf32>, tensor<?x?x2x2x2xf32>) -> i64
  // Over the extent of the second operand: row 0 of the batch is the row alone.
  %m3 = call @differ5(%zd, %z1d) : (tensor<?x?x2x2x2xf32>, tensor<?x?x2x2x2xf32>) -> i64
  %ym = hybrid.merge_heads %y : tensor<?x?x2x2xf32>
  %ym1 = hybrid.merge_heads %y1 : tensor<?x?x2x2xf32>
  %yd = tensor.cast %ym : tensor<?x?x4xf32> to tensor<?x?x?xf32>
  %y1d = tensor.cast %ym1 : tensor<?x?x4xf32> to tensor<?x?x?xf32>
  %m4 = call @differ3(%yd, %y1d) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  %t0 = arith.addi %m0, %m1 : i64
  %t1 = arith.addi %m2, %m3 : i64
  %t2 = arith.addi %t0, %t1 : i64
  %t3 = arith.addi %t2, %m4 : i64
  return %t3 : i64
}

// An edit touches what its tables select, in float32, and leaves its operand to others.
func.func private @edit() -> i64 {
  %x0 = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>
  %t = arith.constant dense<[[-1, 0], [1, -1]]> : tensor<2x2xi64>
  %s0 = arith.constant dense<[[[10.0], [20.0]], [[30.0], [40.0]]]> : tensor<2x2x1xf32>
  %e0 = arith.constant dense<[[[2.0, 4.0], [16.0, 18.0]], [[50.0, 52.0], [14.0, 16.0]]]> : tensor<2x2x2xf32>
  %x = tensor.cast %x0 : tensor<2x2x2xf32> to tensor<?x?x2xf32>
  %td = tensor.cast %t : tensor<2x2xi64> to tensor<?x?xi64>
  %s = tensor.cast %s0 : tensor<2x2x1xf32> to tensor<?x?x1xf32>
  %v = hybrid.add %x, %x : tensor<?x?x2xf32>
  %y = nnterp.edit %v tables [1] (%td : tensor<?x?xi64>) sources [array<i64: -2, 0, -1>] (%s : tensor<?x?x1xf32>) through (%td : tensor<?x?xi64>) entry 0 : tensor<?x?x2xf32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nnterp.yield %r : f32
  }
  %before = hybrid.add %x, %x : tensor<?x?x2xf32>
  %vd = tensor.cast %v : tensor<?x?x2xf32> to tensor<?x?x?xf32>
  %bd = tensor.cast %before : tensor<?x?x2xf32> to tensor<?x?x?xf32>
  %yd = tensor.cast %y : tensor<?x?x2xf32> to tensor<?x?x?xf32>
  %ed = tensor.cast %e0 : tensor<2x2x2xf32> to tensor<?x?x?xf32>
  %n0 = call @differ3(%yd, %ed) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  %n1 = call @differ3(%vd, %bd) : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> i64
  %n = arith.addi %n0, %n1 : i64
  return %n : i64
}

func.func @main() -> i64 {
  %linear = call @linear() : () -> i64
  %identities = call @identities() : () -> i64
  %softmax = call @softmax() : () -> i64
  %router = call @router() : () -> i64
  %delta = call @delta() : () -> i64
  %edit = call @edit() : () -> i64
  %t0 = arith.addi %linear, %identities : i64
  %t1 = arith.addi %softmax, %router : i64
  %t2 = arith.addi %delta, %edit : i64
  %t3 = arith.addi %t0, %t1 : i64
  %t4 = arith.addi %t3, %t2 : i64
  return %t4 : i64
}
