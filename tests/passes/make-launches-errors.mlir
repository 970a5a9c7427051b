// What cannot become launches.
// RUN: nnterp-opt %s --nnterp-make-launches --nnterp-verify-stage=stage=launches --split-input-file --verify-diagnostics

func.func @no_builder(%x: memref<4xf32>) {
  // expected-error @below {{has no builder named 'nothing'}}
  device.kernel "nothing" {} ins() outs() states(%x : memref<4xf32>) {
  }
  return
}

// -----

// How much memory is needed must not depend on what a kernel has computed.
func.func @host_reads(%x: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{stage launches: 'memref.load' stands on the host, which cannot read the device's memory}}
  %n = memref.load %x[%c0] : memref<1xindex>
  %m = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %m : memref<?xf32>
  return
}
