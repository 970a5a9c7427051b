// Builds the rows of a family's table of named values: the scope (who has the value) is set once for a run of rows.
#pragma once

#include "frontend/names/PointTable.h"

namespace nnterp {

class PointRows {
public:
  /// Rows added from here on are named `prefix` + name, exist where `presence` says, under `condition` ("" = always).
  void scope(Presence presence, std::string prefix, std::string condition);

  /// Adds a row and returns it for what is not usual about it. Aliases are written whole, without the block.
  PointInfo &add(std::string name, Layout layout, std::vector<Dim> shape, std::vector<std::string> aliases,
                 std::string where, std::string what);

  std::vector<PointInfo> take() { return std::move(rows); }

private:
  std::vector<PointInfo> rows;
  Presence presence = Presence::model;
  std::string prefix, condition;
};

inline void PointRows::scope(Presence p, std::string newPrefix, std::string newCondition) {
  presence = p;
  prefix = std::move(newPrefix);
  condition = std::move(newCondition);
}

inline PointInfo &PointRows::add(std::string name, Layout layout, std::vector<Dim> shape,
                                 std::vector<std::string> aliases, std::string where, std::string what) {
  PointInfo row;
  row.name = prefix + name;
  row.aliases = std::move(aliases);
  row.layout = layout;
  row.shape = std::move(shape);
  row.presence = presence;
  row.where = std::move(where);
  row.what = std::move(what);
  row.condition = condition;
  rows.push_back(std::move(row));
  return rows.back();
}

/// The extents of batch and tokens, and fixed ones.
inline Dim batchDim() { return {Dim::batch, 0}; }
inline Dim seqDim() { return {Dim::seq, 0}; }
inline Dim fixedDim(int64_t size) { return {Dim::fixed, size}; }

/// Which tokens are image tokens: derived from the inputs, before the embedding.
void addImageMaskRow(PointRows &rows);
/// Rows of the image encoder and its projector: behind the token embeddings, before the first block (spec 7.7).
void addVisionRows(PointRows &rows, const ModelConfig &config);

} // namespace nnterp
