// A plan against one model: names expanded to points, selections to tables, everything checked that needs no graph.
// Its structure (what is compiled) and its buffers (what a run fills in) are kept apart here: design.md section 4.
//
// How the compiled program uses it (left-aligned rows: real token p of row b stands at index p):
//   edit:  y[i] = all(ord_a[i_a] >= 0) ? f(x[i], source[tab_a[i_a]]) : x[i]     for every axis a
//   tap and place source:  y[k] = all(idx_a[k_a] >= 0) ? x[idx_a[k_a]] : 0      for every axis a
// A table is int64. A table of an axis is 1-D [extent], or 2-D [rows, extent] where each batch row has its own (token axes
// always, others with per-row indices). -1 = outside the region, or no such entry.
#pragma once

#include "frontend/plan/Plan.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A buffer that a run fills in. `dims`: static extents, or the symbols below for what a run decides.
struct BufferSpec {
  static constexpr int64_t dynamic = -1; ///< decided per run
  std::string name;                      ///< e.g. `e0.seq`, `e0.source.value`, `t2.heads`
  DType dtype;                           ///< i64 tables, f32 numbers and values, i64 expert lists
  Shape dims;
};

/// A table for one axis, or none: identity.
struct AxisTable {
  std::string buffer;   ///< "" = identity (no table)
  bool perRow = false;  ///< 2-D [rows, extent]
};

/// Reads part of a value: a tap's result, or an edit's source from a place. Result axes as in the value's layout; axes with
/// a table are dynamic, others keep their static size. A mean over several axes is one mean over all their real entries.
struct GatherSpec {
  std::string point;                ///< canonical name with its block index
  Layout layout = Layout::Residual;
  When when = When::after;
  std::vector<AxisTable> tables;    ///< one per axis of the layout; token axes always have one
  std::vector<int64_t> meanAxes;    ///< axes to average over real entries (kept with size 1); sources only
};

/// A source operand of an edit.
struct SourceSpec {
  enum class Kind { number, value, place } kind = Kind::number;
  std::string buffer;               ///< number: f32 rank 0. value: f32, static shape
  Shape shape;                      ///< value only
  GatherSpec place;                 ///< place only
  std::string scale;                ///< f32 rank-0 buffer to multiply by, "" = none (a value's scale is in its buffer)
  /// How region positions find source entries: for the source's axes counted from the last, one entry each, aligned with the
  /// edited value's axes from the last (so `axes.back()` is the last axis of both). Buffer of an int64 table over the edited
  /// value's axis (1-D [extent] or 2-D [batch, extent]); "" with `broadcast` false = identity; `broadcast`: index 0.
  struct Axis {
    AxisTable table;
    bool broadcast = false;
  };
  std::vector<Axis> axes;
  bool squeezeSeq = false;          ///< States used for a State: axis 1 of the source is dropped (its entry 0 is taken);
                                    ///< `axes` does not count it
};

/// One edit at one point. On a Pattern the program adds what every edit there obeys: key <= query.
struct EditSpec {
  size_t entry = 0;                 ///< index in Plan::edits
  std::string point;                ///< canonical name with its block index
  int64_t layer = -1;
  Layout layout = Layout::Residual;
  std::vector<AxisTable> ordinals;  ///< one per axis of the layout; token axes and named axes have one
  Op op = Op::zero;
  std::vector<SourceSpec> sources;  ///< at most one
  std::vector<std::string> numbers; ///< f32 rank-0 buffers, in the order of PlanEdit::numbers (clamp: those present)
  bool hasMin = false, hasMax = false;
  std::string experts;              ///< i64 buffer: [E] 0/1 membership (drop, drop_renorm, reroute); [K] listed experts, -1 behind (force)
  bool forceMax = false;
};

/// One tensor of the output file.
struct TapSpec {
  size_t entry = 0;                 ///< index in Plan::taps
  std::string key;                  ///< key in the file
  GatherSpec gather;                ///< point, tables
};

/// What a run knows about its input, per row of the batch.
struct BatchInfo {
  int64_t seq = 0;                  ///< S, the padded length
  std::vector<int64_t> lengths;     ///< real tokens per row
};

/// A plan against a model.
struct ResolvedPlan {
  std::shared_ptr<const Plan> plan;
  std::vector<EditSpec> edits;      ///< by point in forward order, then in the order of application (spec/plan.md 5)
  std::vector<TapSpec> taps;
  std::vector<BufferSpec> buffers;  ///< every buffer the program reads, each once

  /// Canonical text of the structure: equal text, equal program. No number, index, vector, expert list or input in it.
  std::string structure() const;
};

/// Expands names, checks selections, shapes, access, conflicts that the text decides, duplicate output keys. All errors in
/// one go, with places. Errors: NNT06xx, NNT07xx, NNT08xx.
std::optional<ResolvedPlan> resolvePlan(std::shared_ptr<const Plan> plan, const PointTable &points, const ModelConfig &config,
                                        Diagnostics &diags);

/// Fills every buffer for one run and checks what depends on lengths (indices too large, extents that do not fit, empty
/// selections, conflicts undecided before): errors with the plan's place, before the first kernel. Also reports, as notes,
/// how many tokens each routing edit touches. Errors: NNT07xx, NNT08xx.
std::optional<std::map<std::string, Tensor>> fillBuffers(const ResolvedPlan &plan, const PointTable &points,
                                                         const ModelConfig &config, const BatchInfo &batch,
                                                         Diagnostics &diags);

/// Shape of a tap's result in this run, from the filled tables. With an extent of 0 no row selects anything and the tensor is
/// not written (spec/plan.md 4); fillBuffers has noted it.
Shape tapShape(const TapSpec &tap, const PointTable &points, const std::map<std::string, Tensor> &buffers,
               const BatchInfo &batch);

} // namespace nnterp
