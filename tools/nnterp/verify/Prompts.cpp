// Makes, reads and writes rows of ids.
#include "tools/nnterp/verify/Prompts.h"

#include "runtime/weights/Safetensors.h"

#include <algorithm>

namespace nnterp::verify {

bool isPictureToken(const ModelConfig &config, int64_t id) {
  return config.multimodal && (id == config.imageTokenId || id == config.videoTokenId);
}

Rows defaultRows(const ModelConfig &config) {
  Rows rows;
  uint64_t state = 12345;
  for (int64_t length : {config.convKernel + 2, config.convKernel - 1, int64_t(1)}) {
    std::vector<int64_t> row;
    while (int64_t(row.size()) < std::max<int64_t>(length, 1)) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto id = int64_t((state >> 33) % uint64_t(config.vocabSize));
      if (!isPictureToken(config, id) || config.vocabSize <= 2)
        row.push_back(id);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Rows> rowsOf(const std::vector<InputArgument> &arguments, const ModelConfig &config,
                           const std::string &checkpoint, Diagnostics &diags) {
  Plan plan;
  plan.worlds.push_back({"main", "main", {}});
  auto batches = readInputs(arguments, plan, config, checkpoint, {}, diags);
  if (!batches)
    return std::nullopt;
  const Batch &batch = batches->at("main");
  const std::vector<int64_t> lengths = batch.rowLengths();
  Rows rows;
  for (int64_t b = 0; b < batch.rows(); ++b) {
    const int64_t *ids = batch.ids.as<int64_t>() + b * batch.seq();
    rows.emplace_back(ids, ids + lengths[size_t(b)]);
  }
  return rows;
}

std::vector<InputArgument> idArguments(const Rows &rows) {
  std::vector<InputArgument> arguments;
  for (const std::vector<int64_t> &row : rows) {
    std::string text;
    for (int64_t id : row)
      text += (text.empty() ? "" : ",") + std::to_string(id);
    arguments.push_back({InputKind::ids, text});
  }
  return arguments;
}

bool writePadded(const std::string &path, const Rows &rows, int64_t pads, Diagnostics &diags) {
  int64_t width = 0;
  for (const std::vector<int64_t> &row : rows)
    width = std::max(width, int64_t(row.size()) + pads);
  const Shape shape{int64_t(rows.size()), width};
  Tensor ids = Tensor::make(DType::i64, shape), mask = Tensor::make(DType::i64, shape);
  for (size_t b = 0; b < rows.size(); ++b) {
    const int64_t begin = int64_t(b + 1) * width - int64_t(rows[b].size());
    std::copy(rows[b].begin(), rows[b].end(), ids.as<int64_t>() + begin);
    std::fill_n(mask.as<int64_t>() + begin, rows[b].size(), 1);
  }
  return writeSafetensors(path, {{"input_ids", ids}, {"attention_mask", mask}}, {}, diags);
}

} // namespace nnterp::verify
