// RUN: nnterp-opt %s --split-input-file --verify-diagnostics
// One case per constraint of the nnterp dialect.

func.func @point_without_a_name(%x: tensor<?x8xf32>) {
  // expected-error @below {{has an empty name}}
  %y = nnterp.point %x at "" layout "Residual" : tensor<?x8xf32>
  return
}

// -----

func.func @tables_t1(%x: tensor<?x8xf32>, %t: tensor<?xi64>) {
  // expected-error @below {{names 2 table axes but has 1 tables}}
  %y = nnterp.gather %x tables [0, 1] (%t : tensor<?xi64>) : tensor<?x8xf32>
  return
}

// -----

func.func @tables_t2_outside(%x: tensor<?x8xf32>, %t: tensor<?xi64>) {
  // expected-error @below {{has a table for axis 2 of a value of rank 2}}
  %y = nnterp.gather %x tables [2] (%t : tensor<?xi64>) : tensor<?x8xf32>
  return
}

// -----

func.func @tables_t2_twice(%x: tensor<?x8xf32>, %t: tensor<?xi64>) {
  // expected-error @below {{has two tables for axis 1}}
  %y = nnterp.gather %x tables [1, 1] (%t, %t : tensor<?xi64>, tensor<?xi64>) : tensor<?x8xf32>
  return
}

// -----

func.func @tables_t3(%x: tensor<?x8xf32>, %t: tensor<?x?x?xi64>) {
  // expected-error @below {{expects tables of rank 1 or 2, found rank 3}}
  %y = nnterp.gather %x tables [1] (%t : tensor<?x?x?xi64>) : tensor<?x8xf32>
  return
}

// -----

func.func @mean_axis(%x: tensor<?x8xf32>) {
  // expected-error @below {{averages over axis 2 of a value of rank 2}}
  %y = nnterp.mean %x over [2] tables [] : tensor<?x8xf32>
  return
}

// -----

func.func @edit_source_axes(%x: tensor<?x8xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{expects one entry of source_axes per axis of a source of rank 1}}
  %y = nnterp.edit %x tables [] sources [array<i64>] (%s : tensor<8xf32>) entry 0 : tensor<?x8xf32> {
  ^bb0(%v: f32, %c: f32):
    nnterp.yield %c : f32
  }
  return
}

// -----

func.func @edit_source_table(%x: tensor<?x8xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{refers to source table 0 of 0}}
  %y = nnterp.edit %x tables [] sources [array<i64: 0>] (%s : tensor<8xf32>) entry 0 : tensor<?x8xf32> {
  ^bb0(%v: f32, %c: f32):
    nnterp.yield %c : f32
  }
  return
}

// -----

func.func @edit_arguments(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects a function of 1 scalars, found 2}}
  %y = nnterp.edit %x tables [] sources [] entry 0 : tensor<?x8xf32> {
  ^bb0(%v: f32, %c: f32):
    nnterp.yield %c : f32
  }
  return
}

// -----

func.func @edit_type(%x: tensor<?x8xbf16>) {
  // expected-error @below {{expects a function from 'f32' to 'f32'}}
  %y = nnterp.edit %x tables [] sources [] entry 0 : tensor<?x8xbf16> {
  ^bb0(%v: bf16):
    nnterp.yield %v : bf16
  }
  return
}

// -----

nnterp.plan {
  // expected-error @below {{has a source without a kind}}
  nnterp.plan_edit "add" at "logits" entry 0 tables ["", "", ""] {source = {}}
}
