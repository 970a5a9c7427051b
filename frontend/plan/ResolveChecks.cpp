// What the plan's text and the model alone decide: axes, indices on static axes, places, and where an operation may
// stand.
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Conflicts.h"
#include "frontend/plan/Selection.h"
#include "frontend/plan/Sources.h"

#include <algorithm>
#include <cmath>

namespace nnterp {

/// "batch, seq, hidden"
static std::string listed(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

static std::string quoted(Op op) { return "\"" + std::string(name(op)) + "\""; }

// -- selections --

bool Resolver::checkSelect(const Select *select, const PointRef &point, bool mustHold) {
  bool sound = true;
  if (select) {
    for (const auto &[axis, selection] : select->axes)
      sound &= checkAxis(axis, selection, point, mustHold);
    sound = sound && checkPicture(*select, point);
  }
  return sound && checkPlace(select, point);
}

bool Resolver::checkAxis(const std::string &axis, const AxisSelection &selection, const PointRef &point,
                         bool mustHold) {
  const std::vector<std::string> &known = axes(point.info->layout);
  bool isPlace = axis == "seq" && isPlaced(point.info->layout);
  if (isPictureKey(axis) && std::any_of(known.begin(), known.end(), isPictureAxis))
    return true; // checkPicture sees them together
  auto found = std::find(known.begin(), known.end(), axis);
  if (found == known.end() && !isPlace) {
    diags.error("NNT0701", selection.loc,
                point.name() + " (" + std::string(name(point.info->layout)) + ") has no axis \"" + axis +
                    "\"; its axes are " + listed(known));
    return false;
  }
  if (!selection.rowValue.empty())
    return checkRowValue(selection);
  if (isPlace || selection.all || point.info->shape[size_t(found - known.begin())].kind != Dim::fixed)
    return true;
  int64_t size = point.info->shape[size_t(found - known.begin())].size;
  Picked picked = pick(selection, size);
  if (picked.outside) {
    diags.error("NNT0702", selection.loc,
                "index " + std::to_string(*picked.outside) + " is outside \"" + axis + "\" of " + point.name() +
                    ", which has " + count(size, "entry"));
    return false;
  }
  if (mustHold && picked.indices.empty()) {
    diags.error("NNT0703", selection.loc,
                "this selects nothing of \"" + axis + "\" of " + point.name() + ", which has " + count(size, "entry"));
    return false;
  }
  return true;
}

/// Rows and columns belong to one image, and stand in place of entries on the axis.
bool Resolver::checkPicture(const Select &select, const PointRef &point) {
  Picture picture = pictureOf(&select);
  if (!picture)
    return true;
  if (!picture.image) {
    const AxisSelection &lines = picture.any();
    diags.error("NNT0722", lines.loc,
                std::string(&lines == picture.rows ? "\"rows\" are" : "\"cols\" are") + " of one image of " +
                    point.name() + ": select it with \"image\"");
    return false;
  }
  for (const std::string &axis : axes(point.info->layout))
    if (isPictureAxis(axis) && chosen(&select, axis)) {
      diags.error("NNT0722", chosen(&select, axis)->loc,
                  "\"image\" selects on \"" + axis + "\" of " + point.name() + ", so it takes no \"" + axis +
                      "\" beside it");
      return false;
    }
  return true;
}

bool Resolver::checkRowValue(const AxisSelection &selection) {
  const Tensor &indices = rowIndices(selection, plan);
  bool fits = indices.dtype == DType::i64 && (indices.shape.size() == 1 || indices.shape.size() == 2);
  if (!fits)
    diags
        .error("NNT0706", selection.loc,
               "indices per row are an int64 tensor [B] or [B, k]; value \"" + selection.rowValue + "\" is " +
                   std::string(name(indices.dtype)) + " " + toString(indices.shape))
        .notes.push_back({value(selection.rowValue).loc, "the value"});
  return fits;
}

/// A placed value is in the selection: at generated tokens, or where it stands in the prompt.
bool Resolver::checkPlace(const Select *select, const PointRef &point) {
  if (!isPlaced(point.info->layout))
    return true;
  const AxisSelection *selection = chosen(select, "seq");
  bool atStart = point.info->place == Place::promptStart;
  if (!selection || (phasesOf(select, *point.info).gen && phasesOf(selection).gen) ||
      (atStart ? holdsFirst(*selection) : holdsLast(*selection)) != Answer::no)
    return true;
  diags.error("NNT0704", selection->loc,
              point.name() + " stands at " + placeName(*point.info) + ", which this selection lacks");
  return false;
}

/// What selects generated tokens alone needs a run that feeds some back.
bool Resolver::checkFed(const Select *select, const PointInfo &info, const SourceLoc &loc) {
  Phases phases = phasesOf(select, info);
  if (phases.images || phases.prompt || result.shape.steps)
    return true;
  diags.error("NNT0718", select ? select->loc : loc,
              "this selects generated tokens, and this run feeds none back: --generate N with N of at least 2");
  return false;
}

bool Resolver::checkOneToken(const std::string &written, const Select *select, const SourceLoc &loc) {
  constexpr std::string_view alias = ".state";
  if (written.size() < alias.size() || written.compare(written.size() - alias.size(), alias.size(), alias) != 0)
    return true;
  const AxisSelection *selection = chosen(select, "seq");
  if (selection && isOneIndex(*selection, plan))
    return true;
  diags.error("NNT0705", selection ? selection->loc : loc,
              "\"state\" is the state after one token: select exactly one index of \"seq\" (\"states\" has all)");
  return false;
}

Resolver::Extents Resolver::extentsOf(const Select *select, const PointInfo &info) {
  Extents extents;
  const std::vector<std::string> &names = axes(info.layout);
  for (size_t i = 0; i < names.size(); ++i) {
    const AxisSelection *selection = chosen(select, names[i]);
    if (info.shape[i].kind != Dim::fixed || (selection && !selection->rowValue.empty()))
      extents.push_back(std::nullopt);
    else
      extents.push_back(selection ? int64_t(pick(*selection, info.shape[i].size).indices.size()) : info.shape[i].size);
  }
  return extents;
}

// -- operations --

/// The value an operation is made for, or "" for those that stand anywhere.
static std::string homeOf(Op op) {
  switch (op) {
  case Op::mask:
    return "attention_scores";
  case Op::drop:
  case Op::drop_renorm:
    return "expert_weights";
  case Op::reroute:
  case Op::force:
    return "router_logits";
  default:
    return "";
  }
}

bool Resolver::checkOperation(const PlanEdit &edit, const PointRef &point) {
  const PointInfo &info = *point.info;
  if (info.access == Access::readOnly) {
    Diagnostic &error = diags.error("NNT0710", edit.atLoc, point.name() + " can be tapped but not edited");
    if (info.lastWord() == "tower_output")
      error.notes.push_back(
          {SourceLoc(), "nothing reads it: edit the last vision.layers[j].layer_output or projector.input instead"});
    return false;
  }
  std::string home = homeOf(edit.op);
  if (!home.empty() && info.lastWord() != home) {
    diags.error("NNT0711", edit.doLoc, quoted(edit.op) + " belongs at " + home + ", not at " + point.name());
    return false;
  }
  if (info.layout == Layout::ExpertIndices)
    return checkExpertIndices(edit, point);
  return home.empty() || edit.op == Op::mask || checkExperts(edit);
}

bool Resolver::checkExperts(const PlanEdit &edit) {
  size_t before = diags.all().size();
  int64_t total = config.numExperts, slots = config.expertsPerToken;
  for (int64_t expert : edit.experts)
    if (expert < 0 || expert >= total)
      diags.error("NNT0712", edit.doLoc,
                  quoted(edit.op) + ": there is no expert " + std::to_string(expert) +
                      "; this model has experts 0 to " + std::to_string(total - 1));
  int64_t limit = edit.op == Op::force ? slots : total - slots;
  if (isRouting(edit.op) && int64_t(edit.experts.size()) > limit)
    diags.error("NNT0713", edit.doLoc,
                quoted(edit.op) + " lists " + count(int64_t(edit.experts.size()), "expert") + ", at most " +
                    std::to_string(limit) + " are possible: of " + std::to_string(total) +
                    " experts each token takes " + std::to_string(slots));
  for (const char *axis : {"experts", "slots"})
    if (edit.select && edit.select->axes.count(axis))
      diags.error("NNT0714", edit.select->axes.at(axis).loc,
                  quoted(edit.op) + " lists its experts itself; it takes no \"" + axis + "\" in \"select\"");
  return diags.all().size() == before;
}

bool Resolver::checkExpertIndices(const PlanEdit &edit, const PointRef &point) {
  if (edit.op != Op::replace && edit.op != Op::fill && edit.op != Op::zero) {
    diags.error("NNT0711", edit.doLoc,
                point.name() + " holds expert numbers and takes \"replace\", \"fill\" or \"zero\", not " +
                    quoted(edit.op));
    return false;
  }
  auto check = [&](double number, const SourceLoc &loc) {
    if (number == std::floor(number) && number >= 0 && number < double(config.numExperts))
      return true;
    diags.error("NNT0715", loc,
                point.name() + " holds expert numbers, integers from 0 to " + std::to_string(config.numExperts - 1) +
                    ", found " + Json::of(number).dump());
    return false;
  };
  if (edit.op == Op::fill)
    return check(edit.numbers[0], edit.doLoc);
  if (!edit.source || edit.source->kind == Source::Kind::place)
    return true; // which places fit is checked once the source's point is known
  if (edit.source->kind == Source::Kind::number)
    return check(edit.source->number, edit.source->loc);
  Tensor scaled = scaledValue(plan, *edit.source);
  for (int64_t i = 0, n = elementCount(scaled.shape); i < n; ++i)
    if (!check(double(scaled.as<float>()[i]), edit.source->loc))
      return false;
  return true;
}

} // namespace nnterp
