// Patterns of nnterp-expand-math, for passes that want them beside others.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace nnterp {

/// Replaces exp, log, log1p, tanh, erf, sin, cos and rsqrt on f32 and f64, scalars and vectors, by arith ops and sqrt.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

/// Replaces arith.extf from f16, scalars and vectors, by integer arithmetic and one exact product.
void populateWidenHalfPatterns(mlir::RewritePatternSet &patterns);

} // namespace nnterp
