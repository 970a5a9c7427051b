// The commands of nnterp. Each takes what the command line said and returns the exit status.
#pragma once

#include "frontend/plan/Plan.h"
#include "runtime/gpu/OpenDevice.h"
#include "tools/nnterp/Generation.h"
#include "tools/nnterp/InputArguments.h"

#include <string>
#include <vector>

namespace nnterp {

/// What commands about plans have in common.
struct PlanArguments {
  std::string checkpoint;
  std::string plan; ///< a plan file, or ""
  PlanFlags flags;
  std::string dtype = "auto";
  std::string printPlan; ///< "", "json" or "ir": print the plan instead of doing anything
  int64_t generate = 0;
  bool json = false, quiet = false;
  bool textOnly = false; ///< leave the image encoder out
  Target target = Target::cpu;
};

struct RunArguments : PlanArguments {
  std::vector<InputArgument> inputs;
  GenerationOptions generation; ///< `tokens` as `generate` above
  ChatOptions chat;
  int64_t chunk = 0;
  std::string saveState, loadState, maxMemory, eos;
  bool noEos = false;
  std::string out;
  bool noCache = false;
  DeviceOptions device;
};

struct CompileArguments : PlanArguments {
  std::string emit = "object";
  std::vector<std::string> purposes; ///< chunk, load-state, save-state, image
  std::string out; ///< for a program "" is the cache
};

struct ExplainArguments : PlanArguments {
  std::vector<InputArgument> inputs;
  ChatOptions chat;
  int64_t rows = 1, tokens = 128; ///< of inputs that are not given
  std::string gpu = "H200";       ///< whose limits times are from; a name of tools/nnterp/explain/Gpus.h
  int64_t chunk = 0;
};

struct PointsArguments {
  std::string checkpoint, filter;
  bool json = false, tree = false, textOnly = false;
};

struct VerifyArguments {
  std::string checkpoint;
  std::vector<InputArgument> inputs;
  std::string dtype = "auto";
  int64_t generate = 3, chunk = 2;
  std::vector<std::string> only; ///< names of checks
  Target target = Target::cpu;
  bool allBlocks = false, list = false, json = false, quiet = false, noCache = false;
};

int runCommand(const RunArguments &arguments);
int checkCommand(const PlanArguments &arguments);
int compileCommand(const CompileArguments &arguments);
int importCommand(const std::string &checkpoint, const std::string &dtype, const std::string &out, bool textOnly);
int infoCommand(const std::string &checkpoint, bool json);
int pointsCommand(const PointsArguments &arguments);
int explainCommand(const ExplainArguments &arguments);
int verifyCommand(const VerifyArguments &arguments);
/// Text, or ids separated by blanks or commas, on standard input.
int tokenizeCommand(const std::string &checkpoint, bool json);
int detokenizeCommand(const std::string &checkpoint, bool skipSpecial);
/// Explains one code, or lists all for "".
int errorsCommand(const std::string &code);

} // namespace nnterp
