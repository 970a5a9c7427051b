// A plan as written: JSON file and flags in one tree, with the place of every entry. Meaning: spec/plan.md.
#pragma once

#include "frontend/names/PointTable.h"
#include "runtime/abi/Json.h"
#include "runtime/abi/Tensor.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace nnterp {

/// An inclusive-exclusive range with Python meaning; absent ends are open.
struct Range {
  std::optional<int64_t> begin, end;
};
/// What stands for one axis in a `select`, as written.
struct AxisSelection {
  enum class Phase { both, prompt, gen };
  struct Part {
    Phase phase = Phase::both;                ///< on non-token axes always `both`
    std::variant<std::vector<int64_t>, Range> indices; ///< `*` is an open Range
  };
  std::vector<Part> parts;
  std::string rowValue;                       ///< per-row indices: name of a value ("" = none); then parts is empty
  bool all = false;                           ///< `"*"` alone
  SourceLoc loc;
};
struct Select {
  std::map<std::string, AxisSelection> axes;  ///< by axis name
  SourceLoc loc;
};

enum class When { before, after };

/// SRC of spec/plan.md 5.
struct Source {
  enum class Kind { number, value, place } kind = Kind::number;
  double number = 0;
  std::string value;                          ///< Kind::value
  std::optional<std::string> world, at;       ///< Kind::place
  std::optional<Select> select;
  double scale = 1;
  When when = When::after;
  std::vector<std::string> mean;              ///< axis names
  SourceLoc loc;
};

enum class Op { replace, fill, zero, scale, affine, clamp, lerp, project_out, mask, add, drop, drop_renorm, reroute, force };
std::string_view name(Op op);

struct PlanEdit {
  std::string id;                             ///< "" when not given
  size_t position = 0;                        ///< place among the plan's edits: file first, then flags
  std::string at;
  SourceLoc atLoc, loc, doLoc;
  std::optional<Select> select;
  Op op = Op::zero;
  std::optional<Source> source;               ///< replace, scale, lerp (`to`), project_out, add
  std::vector<double> numbers;                ///< fill c · affine scale, shift · lerp t · add's own scale (1 when absent) ·
                                              ///< clamp min, max (those present); all rounded to float32
  bool hasMin = false, hasMax = false;        ///< clamp
  std::vector<int64_t> experts;               ///< drop, drop_renorm, reroute, force
  bool forceMax = false;                      ///< force with "logit": "max"
  std::vector<std::string> worlds;            ///< those it stands in, in the plan's order; `main` in a plan without worlds
};

struct PlanTap {
  std::string at;
  SourceLoc atLoc, loc;
  std::optional<Select> select;
  When when = When::after;
  std::string as;
  std::vector<std::string> worlds;            ///< as of an edit; all of them when the plan names none
};

/// A value of the plan: inline data or a file's tensor, used as float32 (int64 when used as row indices).
struct PlanValue {
  SourceLoc loc;
  Tensor tensor;                              ///< read; float32, or int64 when stored as integers
};

/// A prompt given by the plan (`inputs`).
struct PlanInput {
  std::vector<std::string> prompts;
  std::vector<std::vector<int64_t>> ids;
  std::string file;                           ///< absolute
  std::string chat;                           ///< a conversation's file, absolute
  SourceLoc loc;
};

/// An independent run of the model (spec/plan.md 2).
struct PlanWorld {
  std::string name, input;
  SourceLoc loc;
};

struct Plan {
  Json json;                                  ///< the whole plan after flags were added: `--print-plan`
  std::string directory;                      ///< what relative paths start from
  std::vector<PlanEdit> edits;
  std::vector<PlanTap> taps;
  std::map<std::string, PlanValue> values;
  std::map<std::string, PlanInput> inputs;
  bool declaresWorlds = false;                ///< output keys begin with the world's name
  std::vector<PlanWorld> worlds;              ///< as declared, else `main` on input `main`

  /// Names of the inputs that worlds read, each once, in order of first use.
  std::vector<std::string> inputNames() const;
};

/// Flags of spec/plan.md 9 as given, in order.
struct PlanFlags {
  std::vector<std::string> taps, edits, values;
};

/// Adds flags to a plan's JSON (or to an empty plan): --tap, --edit, --value become the JSON they stand for; locations
/// name the flag (`--edit`, with the column within its text). Errors: NNT05xx.
std::optional<Json> expandFlags(std::optional<Json> plan, const PlanFlags &flags, Diagnostics &diags);

/// Reads a plan's JSON: keys, types, operations, values (files are opened). What the format knows and this version does
/// not do is refused with one code per feature (NNT09xx). All errors in one go. Errors: NNT05xx, NNT07xx, NNT09xx.
std::optional<Plan> readPlan(const Json &json, const std::string &directory, Diagnostics &diags);

} // namespace nnterp
