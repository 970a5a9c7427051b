// RUN: not nnterp-opt %s -nnterp-verify-stage=stage=plan 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not nnterp-opt %s -nnterp-verify-stage=stage=simplified 2>&1 | FileCheck %s --check-prefix=SIMPLIFIED
// RUN: not nnterp-opt %s -nnterp-verify-stage=stage=kernels 2>&1 | FileCheck %s --check-prefix=SIMPLIFIED
// RUN: not nnterp-opt %s -nnterp-verify-stage=stage=bufferized 2>&1 | FileCheck %s --check-prefix=BUFFERIZED
// RUN: not nnterp-opt %s -nnterp-verify-stage=stage=llvm 2>&1 | FileCheck %s --check-prefix=BUFFERIZED
// RUN: not nnterp-opt %s -nnterp-verify-stage=stage=nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: nnterp-opt %s -nnterp-verify-stage=stage=import

// PLAN: error: stage plan: 'hybrid.block' must be dissolved
// SIMPLIFIED: error: stage {{simplified|kernels}}: 'nnterp.point' must be gone
// BUFFERIZED: error: stage {{bufferized|llvm}}: 'nnterp.point' must be gone
// UNKNOWN: error: unknown stage 'nothing'
func.func @main(%x: tensor<?x?x8xf32>) {
  %b = hybrid.block 0 -> tensor<?x?x8xf32> {
    %p = nnterp.point %x at "a" layout "Residual" : tensor<?x?x8xf32>
    hybrid.yield %p : tensor<?x?x8xf32>
  }
  return
}
