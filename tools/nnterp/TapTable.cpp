// Prints results of a run.
#include "tools/nnterp/TapTable.h"
#include "tools/nnterp/GeneratedText.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Units.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nnterp {

static constexpr int64_t shownValues = 4;

bool isMaskValue(double value, DType dtype) {
  switch (dtype) {
  case DType::f32:
    return value == double(std::numeric_limits<float>::lowest());
  case DType::bf16:
    return value == double(toFloat(0xff7f, DType::bf16));
  default:
    return false;
  }
}

TensorSummary summarize(const Tensor &tensor) {
  TensorSummary summary;
  double sum = 0;
  const int64_t count = elementCount(tensor.shape);
  for (int64_t i = 0; i < count; ++i) {
    const double value = tensor.at(i);
    if (isMaskValue(value, tensor.dtype)) {
      ++summary.masked;
      continue;
    }
    // A value that is not a number makes all three so: it must not hide behind the others.
    const bool first = summary.counted++ == 0;
    summary.min = first || value < summary.min || std::isnan(value) ? value : summary.min;
    summary.max = first || value > summary.max || std::isnan(value) ? value : summary.max;
    sum += value;
  }
  summary.mean = summary.counted ? sum / double(summary.counted) : 0;
  return summary;
}

static bool isInteger(DType dtype) {
  return dtype != DType::f64 && dtype != DType::f32 && dtype != DType::f16 && dtype != DType::bf16 &&
         dtype != DType::f8_e4m3;
}

static std::string number(double value, DType dtype) {
  if (isMaskValue(value, dtype))
    return "mask";
  char text[32];
  std::snprintf(text, sizeof text, isInteger(dtype) ? "%.0f" : "%.5g", value);
  return text;
}

static std::string firstValues(const Tensor &tensor) {
  const int64_t count = elementCount(tensor.shape);
  std::string text;
  for (int64_t i = 0; i < std::min(count, shownValues); ++i)
    text += (i ? " " : "") + number(tensor.at(i), tensor.dtype);
  return text + (count > shownValues ? " ..." : "");
}

/// Columns as wide as their widest cell; the first `left` ones are left-aligned, and so is the last.
static std::string columns(const std::vector<std::vector<std::string>> &rows, size_t left) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string> &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], displayWidth(row[c]));
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string fill(widths[c] - displayWidth(row[c]), ' ');
      const bool last = c + 1 == row.size();
      text += c < left || last ? row[c] + (last ? "" : fill) : fill + row[c];
      if (!last)
        text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string tapTable(const RunResult &result) {
  std::vector<std::vector<std::string>> rows = {{"value", "shape", "dtype", "min", "max", "mean", "first values"}};
  for (const auto &[key, tensor] : result.outputs) {
    const TensorSummary summary = summarize(tensor);
    auto shown = [&](double value, DType dtype) {
      return summary.counted ? number(value, dtype) : summary.masked ? std::string("mask") : std::string("-");
    };
    rows.push_back({key, toString(tensor.shape), std::string(name(tensor.dtype)), shown(summary.min, tensor.dtype),
                    shown(summary.max, tensor.dtype), shown(summary.mean, DType::f64), firstValues(tensor)});
  }
  return columns(rows, 3);
}

/// A token's text between quotes, with what would disturb a line written as JSON writes it.
static std::string quotedPiece(const Tokenizer &tokenizer, int64_t id) {
  return Json::of(tokenizer.decode({id})).dump();
}

std::string nextTokenTable(const std::vector<NextTokens> &rows, const Tokenizer *tokenizer) {
  std::string text;
  for (const NextTokens &row : rows) {
    const bool oneWorld = rows.front().world == rows.back().world;
    text += "\nnext token" + (oneWorld ? "" : ", " + row.world) +
            (rows.size() > 1 ? ", row " + std::to_string(row.row) : std::string()) + "\n";
    std::vector<std::vector<std::string>> cells;
    for (const NextToken &token : row.tokens) {
      char percent[32];
      std::snprintf(percent, sizeof percent, "%.2f %%", token.probability * 100);
      cells.push_back({"", percent, std::to_string(token.id), tokenizer ? quotedPiece(*tokenizer, token.id) : ""});
    }
    if (!cells.empty())
      text += columns(cells, 1);
  }
  return text;
}

static Json finite(double value) {
  return std::isfinite(value) ? Json::of(value) : Json::of(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static Json describe(const std::string &key, const Tensor &tensor) {
  const TensorSummary summary = summarize(tensor);
  std::vector<Json> shape, first;
  for (int64_t extent : tensor.shape)
    shape.push_back(Json::of(extent));
  auto value = [&](double v) { return isInteger(tensor.dtype) ? Json::of(int64_t(v)) : finite(v); };
  for (int64_t i = 0; i < std::min(elementCount(tensor.shape), shownValues); ++i)
    first.push_back(value(tensor.at(i)));
  Json json = Json::dict();
  json.add("key", Json::of(key))
      .add("shape", Json::list(std::move(shape)))
      .add("dtype", Json::of(std::string(name(tensor.dtype))))
      .add("min", summary.counted ? value(summary.min) : Json())
      .add("max", summary.counted ? value(summary.max) : Json())
      .add("mean", summary.counted ? finite(summary.mean) : Json())
      .add("masked", Json::of(summary.masked))
      .add("first", Json::list(std::move(first)));
  return json;
}

double tokensPerSecond(const RunResult &result) {
  size_t fed = 0;
  for (const GeneratedRow &row : result.generated)
    fed += row.tokens.empty() ? 0 : row.tokens.size() - 1; // the prompt's call gave the first one
  return fed > 0 && result.times.steps > 0 ? 1000 * double(fed) / result.times.steps : 0;
}

static Json integers(const std::vector<int64_t> &values) {
  std::vector<Json> list;
  for (int64_t value : values)
    list.push_back(Json::of(value));
  return Json::list(std::move(list));
}

/// Real tokens of each row: a list, or one per input when the plan has worlds.
static Json lengthsJson(const RunResult &result) {
  if (!result.prepared.resolved.declaresWorlds)
    return integers(result.inputs.begin()->second.rowLengths());
  Json json = Json::dict();
  for (const auto &[name, batch] : result.inputs)
    json.add(name, integers(batch.rowLengths()));
  return json;
}

static Json generatedJson(const RunResult &result, const Tokenizer *tokenizer) {
  std::vector<Json> rows;
  for (const GeneratedRow &row : result.generated) {
    Json json = Json::dict();
    json.add("world", Json::of(row.world)).add("row", Json::of(row.row)).add("tokens", integers(row.tokens));
    if (tokenizer)
      json.add("text", Json::of(textOf(row, tokenizer)));
    rows.push_back(std::move(json.add("ended", Json::of(row.ended))));
  }
  return Json::list(std::move(rows));
}

std::string runJson(const RunResult &result, const std::vector<NextTokens> &rows, const Tokenizer *tokenizer,
                    const std::string &file, const Diagnostics &diags) {
  std::vector<Json> outputs, next;
  for (const auto &[key, tensor] : result.outputs)
    outputs.push_back(describe(key, tensor));
  for (const NextTokens &row : rows) {
    std::vector<Json> tokens;
    for (const NextToken &token : row.tokens) {
      Json entry = Json::dict();
      entry.add("id", Json::of(token.id));
      if (tokenizer)
        entry.add("text", Json::of(tokenizer->decode({token.id})));
      tokens.push_back(entry.add("probability", Json::of(token.probability)));
    }
    Json entry = Json::dict();
    next.push_back(entry.add("world", Json::of(row.world))
                       .add("row", Json::of(row.row))
                       .add("tokens", Json::list(std::move(tokens))));
  }
  Json times = Json::dict();
  times.add("read", Json::of(result.times.read))
      .add("program", Json::of(result.times.program))
      .add("weights", Json::of(result.times.weights))
      .add("run", Json::of(result.times.run))
      .add("prompt", Json::of(result.times.prompt))
      .add("steps", Json::of(result.times.steps))
      .add("total", Json::of(result.times.total));
  Json json = Json::dict();
  json.add("dtype", Json::of(std::string(name(result.manifest.dtype))))
      .add("lengths", lengthsJson(result))
      .add("outputs", Json::list(std::move(outputs)))
      .add("next_tokens", Json::list(std::move(next)))
      .add("generated", generatedJson(result, tokenizer))
      .add("file", file.empty() ? Json() : Json::of(file))
      .add("device", result.device.empty() ? Json() : Json::of(result.device))
      .add("compiled", Json::of(result.compiled))
      .add("key", Json::of(result.manifest.key))
      .add("milliseconds", std::move(times))
      .add("tokens_per_second", Json::of(tokensPerSecond(result)))
      .add("arena_bytes", Json::of(int64_t(result.costs.arenaPeak)))
      .add("state_bytes", Json::of(int64_t(result.costs.stateBytes)))
      .add("copied_bytes", Json::of(int64_t(result.copiedBytes)))
      .add("estimated_bytes", Json::of(int64_t(result.estimate.total())))
      .add("step_allocations", Json::of(int64_t(result.costs.stepAllocations)))
      .add("steps_replayed", Json::of(result.costs.stepsReplayed))
      .add("cache_growths", Json::of(result.costs.growths))
      .add("remarks", toJson(diags));
  return json.dump(1) + "\n";
}

} // namespace nnterp
