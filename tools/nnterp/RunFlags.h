// Options on the command line that several commands and tools have in common.
#pragma once

#include "tools/nnterp/Commands.h"

#include <CLI/CLI.hpp>

namespace nnterp {

/// One value for each time a flag is given; a value may hold commas and brackets.
void repeatedOption(CLI::App *command, const char *flag, const char *value, std::vector<std::string> &values, const char *what);
CLI::Option *checkpointOption(CLI::App *command, std::string &value);
void dtypeOption(CLI::App *command, std::string &value);
/// `--target`; whether it was given is left to the option.
CLI::Option *targetOption(CLI::App *command, Target &value);

/// What inputs consist of, as given.
class InputFlags {
public:
  void declare(CLI::App *command);
  std::vector<InputArgument> inputs() const;
  ChatOptions chat() const;

private:
  std::vector<std::string> prompts, ids, files, chats, chatPrompts, images;
  bool thinking = false, noThinking = false, noGenerationPrompt = false;
};

/// How a run generates, remembers, what it writes and where it runs; everything but plan and inputs.
void runFlags(CLI::App *command, RunArguments &arguments);

/// `--generate`.
void generateOption(CLI::App *command, int64_t &value);

/// Reads a command line, runs `dispatch` when it is right, else explains what is wrong or shows the help that was asked
/// for. Returns the exit status.
int runTool(CLI::App &app, const std::string &name, int argc, char **argv, const std::function<int()> &dispatch);

} // namespace nnterp
