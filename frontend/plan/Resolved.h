// A plan against one model: names expanded to points, selections to tables, everything checked that needs no graph.
// Its structure (what is compiled) and its buffers (what a run fills in) are kept apart here: design.md section 4.
//
// A run is a sequence of calls: one or several on the prompt, then one per generated token that is fed back; where inputs have
// images, one on those comes first. A program per phase serves them; each edit and tap appears in the program of every phase in which its selection means something.
//
// How a compiled program uses it (left-aligned rows: the real token number i of a call's row stands at index i):
//   edit:  y[i] = all(ord_a[i_a] >= 0) ? f(x[i], source[tab_a[i_a]]) : x[i]     for every axis a
//   tap and place source:  y[k] = all(idx_a[k_a] >= 0) ? x[idx_a[k_a]] : 0      for every axis a
// A table is int64. A table of an axis is 1-D [extent], or 2-D [rows, extent] where each batch row has its own (token axes
// always, others with per-row indices). -1 = outside the region, not in this call, or no such entry.
#pragma once

#include "frontend/plan/Plan.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// The images of inputs, once before everything else; the prompt; generated tokens fed back one at a time.
enum class Phase : uint8_t { images, prompt, gen };

/// What of a run is structure: which programs there are and what they keep.
struct RunShape {
  bool next = false;   ///< tokens are generated: the prompt's last logits are wanted
  bool steps = false;  ///< at least two are: generated tokens are fed back, there is a program of phase gen
  bool memory = false; ///< the sequence's memory is kept (steps, chunks, a saved or loaded state)
  bool resume = false; ///< calls on the prompt start from memory (chunks, a loaded state)
  bool save = false;   ///< memory is an output of the run
  bool images = false; ///< inputs have images: there is a program of phase images
};

/// A buffer that a run fills in. `dims`: static extents, or the symbols below for what a run decides.
struct BufferSpec {
  static constexpr int64_t dynamic = -1; ///< decided per run
  std::string name;                      ///< e.g. `e0.seq`, `e0.src`, `t2.heads`, `t0.patches`; of phase gen `e0.seq@gen`
  DType dtype;                           ///< i64 tables, f32 numbers and values, i64 expert lists; kept: as the point
  Shape dims;
  Phase phase = Phase::prompt;           ///< the program that reads it
  bool kept = false;                     ///< what an earlier phase's program left for this one (KeepSpec); a run fills nothing in
};

/// A table for one axis, or none: identity.
struct AxisTable {
  std::string buffer;   ///< "" = identity (no table)
  bool perRow = false;  ///< 2-D [rows, extent]
};

/// Reads part of a value: a tap's result, or an edit's source from a place. Result axes as in the value's layout; axes with
/// a table are dynamic, others keep their static size. A mean over several axes is one mean over all their real entries.
struct GatherSpec {
  std::string world;                ///< whose value; `main` without worlds
  std::string point;                ///< canonical name with its block index, without the world
  Phase phase = Phase::prompt;      ///< the program that has the value
  Layout layout = Layout::Residual;
  When when = When::after;
  std::vector<AxisTable> tables;    ///< one per axis of the layout; token axes always have one, the batch of placed layouts too
  std::vector<int64_t> meanAxes;    ///< axes to average over real entries (kept with size 1); sources only
};

/// A source operand of an edit.
struct SourceSpec {
  enum class Kind { number, value, place, kept } kind = Kind::number;
  std::string buffer;               ///< number: f32 rank 0. value: f32, static shape. kept: what an earlier phase's program left
  Shape shape;                      ///< value only
  GatherSpec place;                 ///< place; kept: as its KeepSpec has it, for messages
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

/// One edit at one point of one world in one phase. On a Pattern the program adds what every edit there obeys: key <= query.
struct EditSpec {
  size_t entry = 0;                 ///< index in Plan::edits
  Phase phase = Phase::prompt;
  std::string world;                ///< `main` without worlds
  std::string point;                ///< canonical name with its block index, without the world
  int64_t layer = -1;
  Layout layout = Layout::Residual;
  std::vector<AxisTable> ordinals;  ///< one per axis of the layout; token axes and named axes have one, the batch of placed layouts too
  Op op = Op::zero;
  std::vector<SourceSpec> sources;  ///< at most one
  std::vector<std::string> numbers; ///< f32 rank-0 buffers, in the order of PlanEdit::numbers (clamp: those present)
  bool hasMin = false, hasMax = false;
  std::string experts;              ///< i64 buffer: [E] 0/1 membership (drop, drop_renorm, reroute); [K] listed experts, -1 behind (force)
  bool forceMax = false;
};

/// One tensor of the output file, as far as one phase writes it.
struct TapSpec {
  size_t entry = 0;                 ///< index in Plan::taps
  Phase phase = Phase::prompt;
  std::string key;                  ///< key in the file: world and `@gen` included
  GatherSpec gather;                ///< point, tables
};

/// A value that edits of a later phase read: the program of an earlier one writes it, theirs reads it.
struct KeepSpec {
  std::string name;                 ///< of the buffer
  Phase phase = Phase::prompt;      ///< the one that writes it
  size_t entry = 0;                 ///< the edit's, for messages
  GatherSpec gather;
};

/// A world of the run.
struct WorldSpec {
  std::string name, input;
};

/// A plan against a model.
struct ResolvedPlan {
  std::shared_ptr<const Plan> plan;
  RunShape shape;
  std::vector<WorldSpec> worlds;    ///< in the plan's order; one, `main`, when the plan declares none
  bool declaresWorlds = false;
  std::vector<EditSpec> edits;      ///< by phase, by world, by point in forward order, then in the order of application (spec/plan.md 5)
  std::vector<TapSpec> taps;        ///< without those of `tokens`
  std::vector<KeepSpec> keeps;
  std::vector<BufferSpec> buffers;  ///< every buffer the programs read, each once
  /// Output keys of `tokens` by world, in the plan's order: the run writes them itself. Worlds of a run that generates always
  /// have one.
  std::map<std::string, std::string> tokenKeys;

  /// Canonical text of the structure: equal text, equal program. No number, index, vector, expert list or input in it.
  std::string structure() const;
  /// `patched/` before what belongs to a world in outputs, memory and the graph; "" when the plan declares none.
  std::string prefix(const std::string &world) const { return declaresWorlds ? world + "/" : ""; }
};

/// Expands names, checks selections, shapes, access, conflicts that the text decides, duplicate output keys, worlds. All errors
/// in one go, with places. Errors: NNT06xx, NNT07xx, NNT08xx.
std::optional<ResolvedPlan> resolvePlan(std::shared_ptr<const Plan> plan, const PointTable &points, const ModelConfig &config,
                                        const RunShape &shape, Diagnostics &diags);
} // namespace nnterp
