// RUN: nnterp-opt %s -nnterp-dissolve-blocks | FileCheck %s
// Blocks are inlined; their index stays on the ops, -1 before the first block and one more than the last one behind it.

// CHECK-LABEL: func @main
// CHECK-NOT: hybrid.block
// CHECK: hybrid.silu {{.*}} {nnterp.block = -1 : i64}
// CHECK: hybrid.silu {{.*}} {nnterp.block = 0 : i64}
// CHECK: hybrid.silu {{.*}} {nnterp.block = 1 : i64}
// CHECK: %[[LAST:.*]] = hybrid.silu {{.*}} {nnterp.block = 2 : i64}
// CHECK: return %[[LAST]]
func.func @main(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %a = hybrid.silu %x : tensor<?x?x8xf32>
  %b = hybrid.block 0 -> tensor<?x?x8xf32> {
    %s = hybrid.silu %a : tensor<?x?x8xf32>
    hybrid.yield %s : tensor<?x?x8xf32>
  }
  %c = hybrid.block 1 -> tensor<?x?x8xf32> {
    %s = hybrid.silu %b : tensor<?x?x8xf32>
    hybrid.yield %s : tensor<?x?x8xf32>
  }
  %d = hybrid.silu %c : tensor<?x?x8xf32>
  return %d : tensor<?x?x8xf32>
}
