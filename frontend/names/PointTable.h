// The table of named values: one row per name, written once per family, read by everything that needs names.
#pragma once

#include "frontend/Config.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// Layouts of spec/plan.md 4; the axes of each are fixed.
enum class Layout : uint8_t {
  Tokens,
  Residual,
  Logits,
  LinearQK,
  LinearV,
  Gates,
  State,
  States,
  ConvState,
  Memory,
  Queries,
  Keys,
  Values,
  Pattern,
  HeadOutputs,
  Neurons,
  Channels,
  Scalar,
  RouterLogits,
  ExpertWeights,
  ExpertIndices,
  ExpertOutputs,
  NextTokenProbs,
  Sizes,
  Patches,
  PatchNeurons,
  PatchQKV,
  PatchHeads,
  PatchRows,
  ImageFeatures,
  SegmentPattern,
  ImageTokenMask
};
std::string_view name(Layout layout);
std::optional<Layout> layoutByName(std::string_view name);
/// Axis names in order, e.g. {"batch","seq","hidden"}.
const std::vector<std::string> &axes(Layout layout);
/// seq, query, key: axes that count real tokens per row.
bool isTokenAxis(std::string_view axis);
/// patches, image_tokens, query_patch, key_patch: axes as long as an input's images are large.
bool isImageAxis(std::string_view axis);
/// patches, image_tokens: axes on which a rectangle of one image can be selected.
bool isPictureAxis(std::string_view axis);
/// image, rows, cols: what selects such a rectangle instead.
bool isPictureKey(std::string_view key);
/// State, ConvState, Memory: no axis of tokens to select on but a place in the sequence (Memory still has `key`).
bool isPlaced(Layout layout);

enum class Access : uint8_t { readWrite, readOnly };
enum class Presence : uint8_t { model, everyBlock, linearBlock, fullBlock, image };
/// Element type of a value: the model dtype, or fixed (`boolean`: images only).
enum class ValueType : uint8_t { modelDtype, float32, int64, boolean };
/// Where a placed value stands in the sequence (spec/plan.md 4, Places).
enum class Place : uint8_t { none, promptStart, promptEnd };

/// An extent: a static number, or one of the dynamic dims.
struct Dim {
  enum Kind : uint8_t {
    fixed,
    batch,
    seq,
    patches,
    imageTokens,
    segment
  } kind = fixed; ///< the last three: images only
  int64_t size = 0;
};
/// "48", "B", "S", "P" (patches), "M" (merged image tokens), "n" (patches of one image).
std::string toString(const Dim &dim);

/// One row of the table. `name` is without the block prefix for block values: `self_attn.attention_premix` stands for
/// `layers[i].self_attn.attention_premix`. Rows of the image encoder are written whole, `vision.layers[j].layer_input`.
struct PointInfo {
  std::string name;                 ///< standard name: the key of outputs (spec/plan.md 7)
  std::vector<std::string> aliases; ///< other names of the same point, same convention, without the word aliases below
  Layout layout;
  std::vector<Dim> shape;
  ValueType type = ValueType::modelDtype;
  Access access = Access::readWrite;
  Presence presence = Presence::model;
  Place place = Place::none;
  std::string where;     ///< where in the computation it is read, our own words
  std::string what;      ///< what it is, our own words
  std::string condition; ///< when it exists, our own words ("" = always)
  bool inBlock() const {
    return presence == Presence::everyBlock || presence == Presence::linearBlock || presence == Presence::fullBlock;
  }
  /// Of the image encoder or its projector, computed before the text: values of images but the mask of their tokens.
  bool inEncoder() const { return presence == Presence::image && layout != Layout::ImageTokenMask; }
  /// Behind the last dot and without `#i`: `attention_scores`.
  std::string_view lastWord() const;
};

/// A point of one model: a row of the table at a block.
struct PointRef {
  const PointInfo *info = nullptr;
  int64_t layer = -1;       ///< -1 for model values; a block of the encoder for `vision.layers[j]` rows
  int64_t segment = -1;     ///< the image of rows that end in `#i`; -1: of all, or of others
  std::string name() const; ///< `layers[3].self_attn.attention_premix`
  bool operator==(const PointRef &other) const {
    return info == other.info && layer == other.layer && segment == other.segment;
  }
};

/// How a name failed, for messages.
struct NameError {
  std::string code, message;      ///< NNT06xx
  std::vector<std::string> notes; ///< nearest names; blocks that have the value
};

/// All named values of one model, in forward order.
class PointTable {
public:
  /// `towerLayers`: blocks of the image encoder, 0 without one.
  PointTable(std::vector<PointInfo> rows, std::vector<BlockKind> layers, std::string family, int64_t towerLayers = 0);

  const std::vector<PointInfo> &rows() const { return table; }
  const std::vector<BlockKind> &layers() const { return kinds; }
  const std::string &family() const { return familyName; }
  int64_t towerLayers() const { return towerDepth; }
  /// The row with this standard name (`layer_output`, `linear_attn.decays`, `logits`), or null.
  const PointInfo *row(std::string_view standardName) const;
  /// Blocks of the text model that have a row, in order; empty for values of the model and of images.
  std::vector<int64_t> blocksOf(Presence presence) const;
  /// Every point of the text model in forward order, block after block.
  std::vector<PointRef> points() const;
  /// The same of the image encoder and its projector; one for all images of a row that ends in `#i`.
  std::vector<PointRef> imagePoints() const;
  /// Expands a plan name with index forms `[3]`, `[-1]`, `[3,7]`, `[0:8]`, `[*]`, `[linear]`, `[full]` and all aliases
  /// of spec/plan.md 3 (word aliases such as `gate` = `router` included) into points in forward order; `#2` at the end is
  /// one image's. `matchedIndex`:
  /// replaces `[=]` when >= 0. Returns nothing and fills `error` when the name is wrong.
  std::optional<std::vector<PointRef>> expand(std::string_view pattern, NameError &error,
                                              int64_t matchedIndex = -1) const;
  /// The one spelling: word aliases replaced, standard name instead of alias, index form kept as written; a name of
  /// nothing is returned unchanged. For display: `layers[*].linear_attn.input` is on linear blocks only, which its
  /// canonical form `layers[*].attention_norm_output` does not say. Expand what was written.
  std::string canonical(std::string_view pattern) const;

private:
  friend class NameMatcher;
  /// A name as it can be written, with word aliases replaced, and the row and blocks it stands for.
  struct Spelling {
    size_t row;
    Presence presence;
  };

  std::vector<PointInfo> table;
  std::vector<BlockKind> kinds;
  std::string familyName;
  int64_t towerDepth;
  std::map<std::string, Spelling, std::less<>> spellings;
};

/// Where a spelling of a row exists: an alias below `linear_attn` or `self_attn` only on blocks of that kind.
Presence presenceOf(const PointInfo &row, std::string_view spelling);
/// The plan name that stands for a spelling wherever it exists: `layers[linear].linear_attn.decays`, `layers[*].input`.
std::string patternOf(const PointInfo &row, std::string_view spelling);
/// "linear" or "full-attention": for messages.
std::string_view kindWord(BlockKind kind);
/// "0-2, 4-6": ascending numbers with runs joined.
std::string indexList(const std::vector<int64_t> &numbers);

/// The table of family qwen3_5_moe for a configuration (frontend/families/Qwen35MoePoints.cpp).
PointTable qwen35MoePoints(const ModelConfig &config);

} // namespace nnterp
