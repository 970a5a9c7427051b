// Rows of ids that checks run on.
#pragma once

#include "tools/nnterp/RunModel.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp::verify {

using Rows = std::vector<std::vector<int64_t>>;

/// Rows of different lengths, below and above the window of the convolution, spread over the vocabulary; the same for the same
/// model.
Rows defaultRows(const ModelConfig &config);
/// Whether an id stands for a part of a picture or video, which a prompt of text cannot hold.
bool isPictureToken(const ModelConfig &config, int64_t id);

/// The rows that texts and ids on the command line stand for.
std::optional<Rows> rowsOf(const std::vector<InputArgument> &arguments, const ModelConfig &config, const std::string &checkpoint,
                           Diagnostics &diags);

/// `--ids` for each row.
std::vector<InputArgument> idArguments(const Rows &rows);
/// Writes an input file with `pads` pads before the longest row. Errors: NNT0102.
bool writePadded(const std::string &path, const Rows &rows, int64_t pads, Diagnostics &diags);

} // namespace nnterp::verify
