// Readers of a cache see all its places; an edited one is stored whole.
// RUN: nnterp-opt %s --nnterp-whole-caches -allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: @f
// CHECK-SAME: (%[[CACHE:.*]]: tensor<?x2x?x8xf32>
// CHECK-NOT: hybrid.kv_view
// CHECK: %[[EDITED:.*]] = "test.edit"(%[[CACHE]])
// CHECK-NOT: hybrid.kv_store
// CHECK: return %[[EDITED]]
func.func @f(%cache: tensor<?x2x?x8xf32>, %total: tensor<1xi64>) -> tensor<?x2x?x8xf32> {
  %view = hybrid.kv_view %cache, %total : tensor<?x2x?x8xf32>, tensor<1xi64>
  %edited = "test.edit"(%view) : (tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  %stored = hybrid.kv_store %cache, %edited : tensor<?x2x?x8xf32>
  return %stored : tensor<?x2x?x8xf32>
}
