// Regions of a value are written by the kernel that computes it; with many entries in the tables another kernel gathers them.
// RUN: nnterp-opt %s --nnterp-fuse-gathers --split-input-file | FileCheck %s

// CHECK-LABEL: func @kernel
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>, %[[SEQ:.*]]: tensor<?x?xi64>, %[[CHANNELS:.*]]: tensor<?xi64>
// CHECK: %[[ENTRIES:.*]] = tensor.dim %[[SEQ]], %{{.*}}
// CHECK: %[[WIDTH:.*]] = tensor.dim %[[CHANNELS]], %{{.*}}
// CHECK: %[[REGION:.*]] = tensor.empty(%{{.*}}, %[[ENTRIES]], %[[WIDTH]]) : tensor<?x?x?xf32>
// CHECK: %[[Y:.*]]:2 = device.kernel "linear" {} ins(%[[X]] : {{.*}}) outs(%{{.*}}, %[[REGION]] : {{.*}}) scattered 1 states()
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %[[S:.*]]: index, %[[N:.*]]: index, %[[ACC:.*]]: f32):
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: tensor.extract %[[SEQ]][%[[B]], %[[I]]]
// CHECK: arith.cmpi eq, %{{.*}}, %[[S]]
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: tensor.extract %[[CHANNELS]][%[[J]]]
// CHECK: arith.cmpi eq, %{{.*}}, %[[N]]
// CHECK: %[[V:.*]] = arith.select %{{.*}}, %[[ACC]], %{{.*}} : f32
// CHECK: device.scatter %[[V]] to 0[%[[B]], %[[I]], %[[J]]] : f32
// CHECK: device.yield %[[ACC]] : f32
// CHECK: %[[G:.*]] = device.kernel "gather" {table_axes = array<i64: 1, 2>} ins(%[[Y]]#0, %[[SEQ]], %[[CHANNELS]] : {{.*}}) outs() states(%[[Y]]#1 : {{.*}})
// CHECK: return %[[Y]]#0, %[[G]]
func.func @kernel(%x: tensor<?x?x8xf32>, %seq: tensor<?x?xi64>, %channels: tensor<?xi64>, %b: index, %s: index) -> (tensor<?x?x8xf32>, tensor<?x?x?xf32>) {
  %e = tensor.empty(%b, %s) : tensor<?x?x8xf32>
  %y = device.kernel "linear" {} ins(%x : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) states() {
  ^bb0(%i: index, %j: index, %k: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<?x?x8xf32>
  %g = nnterp.gather %y tables [1, 2] (%seq, %channels : tensor<?x?xi64>, tensor<?xi64>) : tensor<?x?x8xf32>
  return %y, %g : tensor<?x?x8xf32>, tensor<?x?x?xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Loops over elements become a kernel for it.
// CHECK-LABEL: func @loops
// CHECK: device.kernel "elements" {} ins() outs(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x?xf32>) scattered 1 states()
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK: %[[V:.*]] = tensor.extract %arg0[%[[I]], %[[J]]]
// CHECK: device.scatter
// CHECK-NOT: linalg.generic
func.func @loops(%x: tensor<?x8xf32>, %t: tensor<?xi64>, %b: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%b) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<?x8xf32>
    %n = arith.addf %v, %v : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  %g = nnterp.gather %y tables [1] (%t : tensor<?xi64>) : tensor<?x8xf32>
  return %g : tensor<?x?xf32>
}

// -----

// What no kernel of the function computes is read by loops.
// CHECK-LABEL: func @given
// CHECK-NOT: device.kernel
// CHECK: linalg.generic
func.func @given(%x: tensor<?x8xf32>, %t: tensor<?xi64>) -> tensor<?x?xf32> {
  %g = nnterp.gather %x tables [1] (%t : tensor<?xi64>) : tensor<?x8xf32>
  return %g : tensor<?x?xf32>
}
