// Verifiers and type inference of the hybrid dialect.
#include "dialect/Hybrid/Hybrid.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace nnterp::hybrid;

#include "dialect/Hybrid/HybridDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/Hybrid/HybridOps.cpp.inc"

void HybridDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/Hybrid/HybridOps.cpp.inc"
      >();
}

namespace {

constexpr int64_t dyn = ShapedType::kDynamic;

RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

/// The type with another shape, or with another element type.
RankedTensorType reshaped(RankedTensorType t, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, t.getElementType());
}

/// Fails with what was expected when `v` has another rank.
LogicalResult expectRank(Operation *op, StringRef what, Value v, int64_t rank) {
  if (typeOf(v).getRank() != rank)
    return op->emitOpError() << "expects " << what << " of rank " << rank << ", found " << v.getType();
  return success();
}

/// Fails when a static extent differs from what it must be; dynamic extents pass.
LogicalResult expectDim(Operation *op, StringRef what, Value v, int64_t axis, int64_t size) {
  int64_t found = typeOf(v).getDimSize(axis);
  if (found != dyn && size != dyn && found != size)
    return op->emitOpError() << "expects axis " << axis << " of " << what << " to be " << size << ", found " << found;
  return success();
}

int64_t lastDim(Value v) { return typeOf(v).getShape().back(); }

} // namespace

#define INFER(OP)                                                                                                      \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor a,                \
                                     SmallVectorImpl<Type> &types)

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// (C1) the region gives the op's results.
LogicalResult BlockOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("expects its region to yield values of its result types");
  return success();
}

/// (C1) one argument per input, (C2) the region gives the op's results.
LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("expects its region's arguments to have the types of its inputs");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("expects its region to yield values of its result types");
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

INFER(TokenMaskOp) {
  types.push_back(a.getIds().getType());
  return success();
}

INFER(InputSizeOp) {
  types.push_back(RankedTensorType::get({2}, IntegerType::get(context, 64)));
  return success();
}

INFER(EmbeddingOp) {
  SmallVector<int64_t> shape(typeOf(a.getIds()).getShape());
  shape.push_back(lastDim(a.getTable()));
  types.push_back(RankedTensorType::get(shape, a.getElement()));
  return success();
}

/// (C1) a [V,C] table.
LogicalResult EmbeddingOp::verify() { return expectRank(*this, "a table", getTable(), 2); }

INFER(RopeTableOp) {
  auto positions = typeOf(a.getPositions());
  SmallVector<int64_t> shape(positions.getShape().drop_front());
  shape.push_back(int64_t(a.getInvFreq().size()));
  types.assign(2, RankedTensorType::get(shape, a.getElement()));
  return success();
}

/// (C1) [3,B,S] positions, (C2) three sections.
LogicalResult RopeTableOp::verify() {
  if (failed(expectRank(*this, "positions", getPositions(), 3)) ||
      failed(expectDim(*this, "positions", getPositions(), 0, 3)))
    return failure();
  if (getSections().size() != 3)
    return emitOpError() << "expects three sections, found " << getSections().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Norms and projections
//===----------------------------------------------------------------------===//

/// A gain or bias of a norm (C1) has rank 1 and (C2) the extent of the last axis.
static LogicalResult verifyGain(Operation *op, Value input, Value weight) {
  if (failed(expectRank(op, "a gain", weight, 1)))
    return failure();
  return expectDim(op, "the gain", weight, 0, lastDim(input));
}

LogicalResult RmsNormOp::verify() { return verifyGain(*this, getInput(), getWeight()); }
LogicalResult GatedRmsNormOp::verify() { return verifyGain(*this, getInput(), getWeight()); }

INFER(L2NormOp) {
  types.push_back(RankedTensorType::get(typeOf(a.getInput()).getShape(), Float32Type::get(context)));
  return success();
}

INFER(LinearOp) {
  auto input = typeOf(a.getInput());
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = typeOf(a.getWeight()).getDimSize(0);
  types.push_back(reshaped(input, shape));
  return success();
}

/// (C1) an [out,in] matrix, (C2) whose `in` is the input's last axis, (C3) a bias per output.
LogicalResult LinearOp::verify() {
  if (failed(expectRank(*this, "a matrix", getWeight(), 2)))
    return failure();
  if (getBias() && (failed(expectRank(*this, "a bias", getBias(), 1)) ||
                    failed(expectDim(*this, "the bias", getBias(), 0, typeOf(getWeight()).getDimSize(0)))))
    return failure();
  return expectDim(*this, "the matrix", getWeight(), 1, lastDim(getInput()));
}

//===----------------------------------------------------------------------===//
// Elementwise and layout
//===----------------------------------------------------------------------===//

/// (C1) the gate has the input's rank, (C2) its last axis is the input's or 1.
LogicalResult GateOp::verify() {
  if (failed(expectRank(*this, "a gate", getGate(), typeOf(getInput()).getRank())))
    return failure();
  if (lastDim(getGate()) != 1 && lastDim(getGate()) != lastDim(getInput()))
    return emitOpError() << "expects a gate whose last axis is 1 or " << lastDim(getInput()) << ", found "
                         << lastDim(getGate());
  return success();
}

INFER(DecayOp) {
  types.push_back(RankedTensorType::get(typeOf(a.getInput()).getShape(), Float32Type::get(context)));
  return success();
}

/// (C1) one decay rate and (C2) one bias per head.
LogicalResult DecayOp::verify() {
  if (failed(verifyGain(*this, getInput(), getALog())))
    return failure();
  return verifyGain(*this, getInput(), getDtBias());
}

INFER(HeadsOp) {
  auto input = typeOf(a.getInput());
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = a.getHeads();
  shape.push_back(a.getSize());
  types.push_back(reshaped(input, shape));
  return success();
}

/// (C1) sizes are positive, (C2) the repeat divides the heads, (C3) every head lies within the last axis.
LogicalResult HeadsOp::verify() {
  int64_t heads = getHeads(), repeat = getRepeat(), size = getSize(), offset = getOffset(), stride = getStride();
  if (heads <= 0 || repeat <= 0 || size <= 0 || offset < 0 || stride < 0)
    return emitOpError("expects positive sizes");
  if (heads % repeat)
    return emitOpError() << "expects the repeat " << repeat << " to divide the " << heads << " heads";
  int64_t end = offset + (heads / repeat - 1) * stride + size;
  if (end > lastDim(getInput()))
    return emitOpError() << "reads up to " << end << " of a last axis of " << lastDim(getInput());
  return success();
}

INFER(MergeHeadsOp) {
  auto input = typeOf(a.getInput());
  if (input.getRank() < 2)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  SmallVector<int64_t> shape(input.getShape().drop_back());
  shape.back() *= input.getShape().back();
  types.push_back(reshaped(input, shape));
  return success();
}

/// (C1) the merged axes are static.
LogicalResult MergeHeadsOp::verify() {
  auto shape = typeOf(getInput()).getShape();
  if (shape.size() < 2 || ShapedType::isDynamic(shape.back()) || ShapedType::isDynamic(shape[shape.size() - 2]))
    return emitOpError() << "expects static heads and head size, found " << getInput().getType();
  return success();
}

INFER(SwapHeadsOp) {
  auto input = typeOf(a.getInput());
  if (input.getRank() != 4)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  SmallVector<int64_t> shape(input.getShape());
  std::swap(shape[1], shape[2]);
  types.push_back(reshaped(input, shape));
  return success();
}

/// (C1) a value of rank 4.
LogicalResult SwapHeadsOp::verify() { return expectRank(*this, "a value", getInput(), 4); }

//===----------------------------------------------------------------------===//
// Memory of a sequence
//===----------------------------------------------------------------------===//

/// (C1) a cache [B,NK,capacity,D] and (C2) keys or values [B,NK,S,D] of the same heads.
LogicalResult KvAppendOp::verify() {
  for (Value v : {getCache(), getAdded()})
    if (failed(expectRank(*this, "a cache and what is added", v, 4)))
      return failure();
  if (failed(expectDim(*this, "what is added", getAdded(), 1, typeOf(getCache()).getDimSize(1))))
    return failure();
  return expectDim(*this, "what is added", getAdded(), 3, lastDim(getCache()));
}

/// (C1) a cache whose capacity only a run knows.
LogicalResult KvViewOp::verify() {
  if (failed(expectRank(*this, "a cache", getCache(), 4)) || failed(expectRank(*this, "a total", getTotal(), 1)))
    return failure();
  return typeOf(getCache()).isDynamicDim(2) ? success() : emitOpError("expects a cache of dynamic capacity");
}

OpFoldResult KvStoreOp::fold(FoldAdaptor) {
  auto view = getView().getDefiningOp<KvViewOp>();
  return view && view.getCache() == getCache() ? getCache() : Value();
}

//===----------------------------------------------------------------------===//
// Gated DeltaNet
//===----------------------------------------------------------------------===//

INFER(InitialStateOp) {
  SmallVector<int64_t> shape{typeOf(a.getLengths()).getDimSize(0)};
  llvm::append_range(shape, a.getDims());
  types.push_back(RankedTensorType::get(shape, a.getElement()));
  return success();
}

/// (C1) a state [B,HV,DK,DV], (C2) one decay rate and (C3) one bias per head.
LogicalResult PadDecayOp::verify() {
  if (failed(expectRank(*this, "a state", getState(), 4)))
    return failure();
  int64_t heads = typeOf(getState()).getDimSize(1);
  for (Value v : {getALog(), getDtBias()})
    if (failed(expectRank(*this, "rates and biases", v, 1)) ||
        failed(expectDim(*this, "rates and biases", v, 0, heads)))
      return failure();
  return success();
}

OpFoldResult PadDecayOp::fold(FoldAdaptor) {
  return isa_and_nonnull<InitialStateOp, MemoryOp>(getState().getDefiningOp()) ? getState() : Value();
}

INFER(ShortConvOp) {
  types.push_back(a.getInput().getType());
  types.push_back(a.getState().getType());
  return success();
}

/// (C1) [B,S,CD] input, (C2) [CD,1,KW] weight, (C3) [B,CD,KW] state.
LogicalResult ShortConvOp::verify() {
  if (failed(expectRank(*this, "an input", getInput(), 3)) || failed(expectRank(*this, "a weight", getWeight(), 3)) ||
      failed(expectRank(*this, "a state", getState(), 3)))
    return failure();
  int64_t channels = lastDim(getInput()), window = lastDim(getWeight());
  if (failed(expectDim(*this, "the weight", getWeight(), 0, channels)) ||
      failed(expectDim(*this, "the weight", getWeight(), 1, 1)) ||
      failed(expectDim(*this, "the state", getState(), 1, channels)))
    return failure();
  return expectDim(*this, "the state", getState(), 2, window);
}

/// (C1) queries and keys are [B,S,HV,DK], (C2) values [B,S,HV,DV], (C3) decays and betas [B,S,HV], (C4) the state
/// [B,HV,DK,DV], (C5) the region maps a state of one token to another one.
LogicalResult DeltaRuleOp::verify() {
  for (Value v : {getQueries(), getKeys(), getValues(), getState()})
    if (failed(expectRank(*this, "queries, keys, values and state", v, 4)))
      return failure();
  for (Value v : {getDecays(), getBetas()})
    if (failed(expectRank(*this, "decays and betas", v, 3)))
      return failure();
  int64_t heads = typeOf(getValues()).getDimSize(2), dk = lastDim(getKeys()), dv = lastDim(getValues());
  for (Value v : {getQueries(), getKeys(), getDecays(), getBetas()})
    if (failed(expectDim(*this, "every argument", v, 2, heads)))
      return failure();
  if (failed(expectDim(*this, "the queries", getQueries(), 3, dk)) ||
      failed(expectDim(*this, "the state", getState(), 1, heads)) ||
      failed(expectDim(*this, "the state", getState(), 2, dk)) ||
      failed(expectDim(*this, "the state", getState(), 3, dv)))
    return failure();
  if (getOnState().empty())
    return success();
  Block &body = getOnState().front();
  if (body.getNumArguments() != 2 || typeOf(body.getArgument(0)).getRank() != 5 ||
      !body.getArgument(1).getType().isIndex())
    return emitOpError("expects a region over a state [B,1,HV,DK,DV] and a position");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getNumOperands() != 1 || yield.getOperand(0).getType() != body.getArgument(0).getType())
    return emitOpError("expects its region to yield the edited state");
  return success();
}

// %y, %z[, %states[, %before]] = hybrid.delta_rule operands attr-dict : functional-type [region]
void DeltaRuleOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printOperands(getOperands());
  if (getStates())
    p << " states";
  if (getStatesBefore())
    p << " before";
  p.printOptionalAttrDict((*this)->getAttrs(), {"resultSegmentSizes"});
  p << " : ";
  p.printFunctionalType(*this);
  if (!getOnState().empty()) {
    p << ' ';
    p.printRegion(getOnState());
  }
}

ParseResult DeltaRuleOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands))
    return failure();
  bool states = succeeded(parser.parseOptionalKeyword("states"));
  bool before = succeeded(parser.parseOptionalKeyword("before"));
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  if (type.getNumResults() != 2u + states + before)
    return parser.emitError(loc) << "expected " << 2 + states + before << " results, found " << type.getNumResults();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().resultSegmentSizes = {1, 1, states ? 1 : 0, before ? 1 : 0};
  Region *region = result.addRegion();
  OptionalParseResult parsed = parser.parseOptionalRegion(*region);
  return parsed.has_value() ? *parsed : success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// (C1) [B,S,H,D] input, (C2) [B,S,R/2] tables that agree, (C3) R <= D.
LogicalResult RopeOp::verify() {
  if (failed(expectRank(*this, "an input", getInput(), 4)) || failed(expectRank(*this, "cosines", getCosines(), 3)))
    return failure();
  if (getCosines().getType() != getSines().getType())
    return emitOpError("expects cosines and sines of one type");
  if (2 * lastDim(getCosines()) > lastDim(getInput()))
    return emitOpError() << "rotates " << 2 * lastDim(getCosines()) << " dims of heads of " << lastDim(getInput());
  return success();
}

/// (C1) the key heads divide the query heads.
static LogicalResult verifyGroups(Operation *op, Value queries, Value keys) {
  int64_t n = typeOf(queries).getDimSize(1), nk = typeOf(keys).getDimSize(1);
  if (n == dyn || nk == dyn || nk == 0 || n % nk)
    return op->emitOpError() << "expects key heads that divide the " << n << " query heads, found " << nk;
  return success();
}

INFER(AttentionScoresOp) {
  auto q = typeOf(a.getQueries()), k = typeOf(a.getKeys());
  if (q.getRank() != 4 || k.getRank() != 4)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  types.push_back(reshaped(q, {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), k.getDimSize(2)}));
  return success();
}

LogicalResult AttentionScoresOp::verify() {
  if (failed(verifyGroups(*this, getQueries(), getKeys())))
    return failure();
  return expectDim(*this, "the keys", getKeys(), 3, lastDim(getQueries()));
}

INFER(SoftmaxOp) {
  types.push_back(RankedTensorType::get(typeOf(a.getInput()).getShape(), a.getElement()));
  return success();
}

/// (C1) a causal softmax needs a pattern.
LogicalResult SoftmaxOp::verify() { return getCausal() ? expectRank(*this, "a pattern", getInput(), 4) : success(); }

INFER(AttentionMixOp) {
  auto p = typeOf(a.getProbabilities()), v = typeOf(a.getValues());
  if (p.getRank() != 4 || v.getRank() != 4)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  types.push_back(reshaped(v, {p.getDimSize(0), p.getDimSize(2), p.getDimSize(1), v.getDimSize(3)}));
  return success();
}

LogicalResult AttentionMixOp::verify() { return verifyGroups(*this, getProbabilities(), getValues()); }

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

INFER(PatchEmbedOp) {
  types.push_back(RankedTensorType::get({1, typeOf(a.getPixels()).getDimSize(0), typeOf(a.getWeight()).getDimSize(0)},
                                        a.getElement()));
  return success();
}

/// (C1) pixels [P,N], (C2) a weight [G,channels,frames,y,x] of N entries per output, (C3) a bias per output.
LogicalResult PatchEmbedOp::verify() {
  if (failed(expectRank(*this, "pixels", getPixels(), 2)) || failed(expectRank(*this, "a weight", getWeight(), 5)) ||
      failed(expectRank(*this, "a bias", getBias(), 1)))
    return failure();
  ArrayRef<int64_t> shape = typeOf(getWeight()).getShape();
  int64_t entries = 1;
  for (int64_t extent : shape.drop_front())
    entries *= extent;
  if (failed(expectDim(*this, "the pixels", getPixels(), 1, entries)))
    return failure();
  return expectDim(*this, "the bias", getBias(), 0, shape[0]);
}

INFER(PosEmbedOp) {
  types.push_back(
      RankedTensorType::get({1, typeOf(a.getPatches()).getDimSize(1), lastDim(a.getTable())}, a.getElement()));
  return success();
}

/// (C1) a square table [side*side,G], (C2) places [6,P].
LogicalResult PosEmbedOp::verify() {
  if (failed(expectRank(*this, "a table", getTable(), 2)) || failed(expectRank(*this, "places", getPatches(), 2)) ||
      failed(expectDim(*this, "the places", getPatches(), 0, 6)))
    return failure();
  int64_t entries = typeOf(getTable()).getDimSize(0), side = 0;
  while (side * side < entries)
    ++side;
  return side * side == entries ? success()
                                : emitOpError() << "expects a square table, found " << entries << " entries";
}

INFER(PatchRopeTableOp) {
  auto type = RankedTensorType::get({1, typeOf(a.getPatches()).getDimSize(1), 2 * int64_t(a.getInvFreq().size())},
                                    Float32Type::get(context));
  types.assign(2, type);
  return success();
}

/// (C1) a gain and (C2) a bias per channel.
LogicalResult LayerNormOp::verify() {
  if (failed(verifyGain(*this, getInput(), getWeight())))
    return failure();
  return verifyGain(*this, getInput(), getBias());
}

INFER(SegmentAttentionOp) {
  auto q = typeOf(a.getQueries());
  if (q.getRank() != 4)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  types.push_back(reshaped(q, {q.getDimSize(0), q.getDimSize(2), q.getDimSize(1), q.getDimSize(3)}));
  return success();
}

/// (C1) one packed row, (C2) places [6,P].
LogicalResult SegmentAttentionOp::verify() {
  if (failed(expectDim(*this, "the queries", getQueries(), 0, 1)) ||
      failed(expectRank(*this, "places", getPatches(), 2)))
    return failure();
  return expectDim(*this, "the places", getPatches(), 0, 6);
}

INFER(SegmentScoresOp) {
  auto q = typeOf(a.getQueries());
  if (q.getRank() != 4)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  types.push_back(reshaped(q, {q.getDimSize(0), q.getDimSize(1), dyn, dyn}));
  return success();
}

INFER(PatchRowsOp) {
  auto x = typeOf(a.getInput());
  types.push_back(reshaped(x, x.getShape().drop_front()));
  return success();
}

/// (C1) one packed row [1,P,C].
LogicalResult PatchRowsOp::verify() {
  if (failed(expectRank(*this, "an input", getInput(), 3)))
    return failure();
  return expectDim(*this, "the input", getInput(), 0, 1);
}

INFER(MergePatchesOp) {
  auto x = typeOf(a.getInput());
  int64_t patches = x.getDimSize(0), n = a.getN();
  types.push_back(reshaped(x, {patches == dyn || n <= 0 ? dyn : patches / n, x.getShape().back() * n}));
  return success();
}

/// (C1) patches [P,C], (C2) joined by a positive number.
LogicalResult MergePatchesOp::verify() {
  if (int64_t(getN()) < 1)
    return emitOpError() << "expects to join at least one patch, found " << int64_t(getN());
  return expectRank(*this, "an input", getInput(), 2);
}

/// (C1) rows [R,C] as wide as the input, (C2) a place per token.
LogicalResult ScatterRowsOp::verify() {
  if (failed(expectRank(*this, "rows", getRows(), 2)) || failed(expectRank(*this, "places", getPlaces(), 2)))
    return failure();
  return expectDim(*this, "the rows", getRows(), 1, lastDim(getInput()));
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

INFER(RouterOp) {
  auto logits = typeOf(a.getLogits());
  SmallVector<int64_t> shape(logits.getShape());
  shape.back() = a.getK();
  types.push_back(reshaped(logits, shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

/// (C1) between 1 and all experts are chosen.
LogicalResult RouterOp::verify() {
  if (int64_t(getK()) < 1 || int64_t(getK()) > lastDim(getLogits()))
    return emitOpError() << "chooses " << getK() << " of " << lastDim(getLogits()) << " experts";
  return success();
}

INFER(ExpertsOp) {
  auto x = typeOf(a.getInput()), i = typeOf(a.getIndices());
  SmallVector<int64_t> shape(i.getShape());
  shape.push_back(x.getShape().back());
  types.push_back(reshaped(x, shape));
  return success();
}

/// (C1) gate_up is [E,2I,C], (C2) down is [E,C,I], (C3) weights and indices agree.
LogicalResult ExpertsOp::verify() {
  if (failed(expectRank(*this, "gate_up", getGateUp(), 3)) || failed(expectRank(*this, "down", getDown(), 3)))
    return failure();
  int64_t c = lastDim(getInput());
  if (failed(expectDim(*this, "gate_up", getGateUp(), 2, c)) || failed(expectDim(*this, "down", getDown(), 1, c)) ||
      failed(expectDim(*this, "gate_up", getGateUp(), 1, 2 * lastDim(getDown()))) ||
      failed(expectDim(*this, "down", getDown(), 0, typeOf(getGateUp()).getDimSize(0))))
    return failure();
  return expectDim(*this, "the weights", getWeights(), 2, lastDim(getIndices()));
}

INFER(CombineOp) {
  auto x = typeOf(a.getInput());
  if (x.getRank() != 4)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  types.push_back(reshaped(x, {x.getDimSize(0), x.getDimSize(1), x.getDimSize(3)}));
  return success();
}

/// (C1) [B,S,K,C].
LogicalResult CombineOp::verify() { return expectRank(*this, "slots", getInput(), 4); }

INFER(LastTokenOp) {
  auto x = typeOf(a.getInput());
  if (x.getRank() != 3)
    return emitOptionalError(location, "expects inputs of the ranks in its description");
  types.push_back(reshaped(x, {x.getDimSize(0), x.getDimSize(2)}));
  return success();
}

/// (C1) [B,S,V].
LogicalResult LastTokenOp::verify() { return expectRank(*this, "an input", getInput(), 3); }
