// The reader of a plan, one method per part of the format; its files divide by subject.
#pragma once

#include "frontend/plan/PlanChecks.h"

namespace nnterp {

class PlanReader : PlanChecks {
public:
  PlanReader(std::string directory, Diagnostics &diags) : PlanChecks(diags) { plan.directory = std::move(directory); }

  /// The plan, or nothing when something was reported.
  std::optional<Plan> read(const Json &json);

private:
  // PlanReader.cpp
  void readVersion(const Json &json);
  void readInputs(const Json &inputs);
  std::optional<PlanInput> readInput(const Json &input);
  void readEdits(const Json &edits);
  void readEdit(const Json &edit);
  void readTaps(const Json &taps);
  std::optional<PlanTap> readTap(const Json &tap);
  std::optional<std::string> readAt(const Json &at, std::string_view what);
  std::optional<When> readWhen(const Json &when);
  void checkId(const Json &id, std::string &result);
  std::string resolvePath(const std::string &file) const;
  std::string readPath(const Json &path, std::string_view what);

  // PlanOps.cpp
  void readDo(const Json &action, PlanEdit &edit);
  void readOperation(const Json &argument, const Json &action, PlanEdit &edit);
  void readNumbers(const Json &argument, std::string_view what, const std::vector<std::string> &keys, PlanEdit &edit);
  void readClamp(const Json &argument, PlanEdit &edit);
  void readLerp(const Json &argument, PlanEdit &edit);
  void readExperts(const Json &argument, PlanEdit &edit);
  std::optional<Source> readSource(const Json &json);
  void readPlaceSource(const Json &json, Source &source);

  // PlanSelect.cpp
  std::optional<Select> readSelect(const Json &json);
  std::optional<AxisSelection> readAxis(const std::string &axis, const Json &json);
  std::optional<AxisSelection::Part> readPart(const std::string &axis, const Json &json);
  std::optional<AxisSelection::Part> readText(const std::string &axis, const Json &json);
  void malformed(const std::string &axis, const Json &json);

  // PlanValues.cpp
  void readValues(const Json &values);
  std::optional<Tensor> readValue(const Json &json);
  std::optional<Tensor> readData(const Json &data);
  std::optional<Tensor> readFile(const Json &json);
  std::optional<Tensor> readIndex(const Json &index, const Tensor &tensor);

  // PlanWorlds.cpp
  void readWorlds(const Json *worlds);
  std::optional<std::string> readWorldName(const Json &world);
  std::vector<std::string> readWorldNames(const Json *worlds); ///< in the plan's order; all of them where none are given
  std::vector<std::string> readEditWorlds(const Json &edit);   ///< which must name them in a plan that declares worlds

  // PlanLater.cpp: checked as the format says, then refused
  void readSweep(const Json &sweep);
  void readEdge(const Json &edge);
  void readCall(const Json &argument, const Json &action);

  Plan plan;
  std::map<std::string, SourceLoc> ids;
};

} // namespace nnterp
