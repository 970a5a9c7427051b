// Reads a plan's `values`: inline data or a file's tensor, indexed, as float32 or int64 (spec/plan.md 5, Values).
#include "frontend/plan/PlanReader.h"
#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <cmath>

namespace nnterp {

void PlanReader::readValues(const Json &values) {
  if (!is(values, Json::Kind::object, "\"values\""))
    return;
  for (const Json::Member &member : values.object)
    valueNames.push_back(member.key);
  for (const Json::Member &member : values.object) {
    bool named = checkName(member.key, member.keyLoc, "the value");
    std::optional<Tensor> tensor = readValue(member.value);
    if (named && tensor)
      plan.values[member.key] = PlanValue{member.value.loc, std::move(*tensor)};
  }
}

std::optional<Tensor> PlanReader::readValue(const Json &json) {
  if (!is(json, Json::Kind::object, "a value"))
    return std::nullopt;
  checkKeys(json, "a value", {"data", "file", "key", "index"});
  const Json *data = json.find("data"), *file = json.find("file");
  if (!data == !file || (data && json.find("key"))) {
    error("NNT0513", json.loc,
          std::string("a value has either \"data\" or \"file\" with \"key\", found ") +
              (!data && !file ? "neither"
               : file         ? "both"
                              : "\"key\" beside \"data\""));
    return std::nullopt;
  }
  std::optional<Tensor> tensor = data ? readData(*data) : readFile(json);
  const Json *index = json.find("index");
  return tensor && index ? readIndex(*index, *tensor) : tensor;
}

// -- data --

namespace {

/// Nested lists flattened. Stops at the first entry that is not as it should be: `culprit` and `problem` say why.
struct Flattened {
  static constexpr size_t maxRank = 8;

  Shape shape;
  std::vector<const Json *> numbers;
  const Json *culprit = nullptr;
  std::string problem;

  explicit Flattened(const Json &data) {
    if (measure(data))
      add(data, 0);
  }

private:
  void fail(const Json &json, std::string why) {
    culprit = &json;
    problem = std::move(why);
  }

  /// The shape, from the first entry of each list.
  bool measure(const Json &data) {
    for (const Json *level = &data; level->isArray(); level = &level->array[0]) {
      if (level->array.empty())
        fail(*level, "an empty list holds no numbers");
      else if (shape.size() == maxRank)
        fail(*level, "lists are nested deeper than " + std::to_string(maxRank) + " levels");
      if (culprit)
        return false;
      shape.push_back(int64_t(level->array.size()));
    }
    return true;
  }

  void add(const Json &json, size_t depth) {
    if (depth == shape.size()) {
      numbers.push_back(&json);
      if (json.isArray())
        fail(json, "ragged nesting: expected a number here as before, found a list");
      return;
    }
    if (!json.isArray())
      return fail(json, "ragged nesting: expected a list of " + std::to_string(shape[depth]) +
                            " here as before, found " + shown(json));
    if (int64_t(json.array.size()) != shape[depth])
      return fail(json, "ragged nesting: expected a list of " + std::to_string(shape[depth]) +
                            " here as before, found one of " + std::to_string(json.array.size()));
    for (const Json &entry : json.array) {
      add(entry, depth + 1);
      if (culprit)
        return;
    }
  }
};

} // namespace

std::optional<Tensor> PlanReader::readData(const Json &data) {
  Flattened flat(data);
  if (flat.culprit) {
    error("NNT0513", flat.culprit->loc, flat.problem);
    return std::nullopt;
  }
  bool whole = std::all_of(flat.numbers.begin(), flat.numbers.end(),
                           [](const Json *n) { return n->kind == Json::Kind::integer; });
  Tensor tensor = Tensor::make(whole ? DType::i64 : DType::f32, flat.shape);
  for (size_t i = 0; i < flat.numbers.size(); ++i) {
    std::optional<double> rounded = number(*flat.numbers[i], "an entry of \"data\"");
    if (!rounded)
      return std::nullopt;
    if (whole)
      tensor.as<int64_t>()[i] = flat.numbers[i]->integer;
    else
      tensor.as<float>()[i] = float(*rounded);
  }
  return tensor;
}

// -- files --

std::optional<Tensor> PlanReader::readFile(const Json &json) {
  std::optional<std::string> file = text(*json.find("file"), "\"file\""), key;
  if (const Json *given = need(json, "key", "a value with \"file\""))
    key = text(*given, "\"key\"");
  if (!file || !key)
    return std::nullopt;
  std::optional<Tensor> tensor = readTensorFile(resolvePath(*file), *key, json.find("file")->loc, diags);
  if (!tensor)
    return std::nullopt;
  switch (tensor->dtype) {
  case DType::boolean:
    error("NNT0513", json.find("key")->loc,
          "the tensor \"" + *key + "\" holds booleans; a value is made of integers or floating numbers");
    return std::nullopt;
  case DType::i64:
  case DType::f32:
    return tensor;
  case DType::i32:
  case DType::i16:
  case DType::i8:
  case DType::u8:
    return tensor->to(DType::i64);
  case DType::f64:
    for (int64_t i = 0; i < elementCount(tensor->shape); ++i)
      if (double x = tensor->at(i); std::isfinite(x) && std::fabs(x) >= 0x1.ffffffp127) {
        error("NNT0509", json.find("key")->loc,
              "the tensor \"" + *key + "\" holds " + Json::of(x).dump() +
                  ", which does not fit float32 (at most 3.4028235e+38)");
        return std::nullopt;
      }
    return tensor->to(DType::f32);
  default:
    return tensor->to(DType::f32);
  }
}

// -- index --

namespace {

/// What one entry of `index` takes from an axis.
struct Slice {
  int64_t begin = 0, count = 1;
  bool keep = true; ///< an integer drops its axis
};

/// A range's place on an axis, as Python clips it.
Slice clip(const Range &range, int64_t size) {
  auto place = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? std::max<int64_t>(i, -size) + size : i, 0, size); };
  int64_t begin = place(range.begin.value_or(0)), end = place(range.end.value_or(size));
  return {begin, std::max<int64_t>(end - begin, 0), true};
}

/// A copy of what the slices (one per axis) take.
Tensor take(const Tensor &tensor, const std::vector<Slice> &slices) {
  Shape shape, counts;
  for (const Slice &slice : slices) {
    counts.push_back(slice.count);
    if (slice.keep)
      shape.push_back(slice.count);
  }
  Tensor result = Tensor::make(tensor.dtype, shape);
  size_t width = byteSize(tensor.dtype);
  int64_t total = elementCount(counts);
  for (int64_t flat = 0; flat < total; ++flat) {
    // From the last axis: the entry's place in the result split into indices, put together again in the whole.
    int64_t rest = flat, offset = 0, stride = 1;
    for (size_t axis = slices.size(); axis-- > 0;) {
      offset += (slices[axis].begin + rest % counts[axis]) * stride;
      rest /= counts[axis];
      stride *= tensor.shape[axis];
    }
    std::memcpy(static_cast<char *>(result.data) + size_t(flat) * width,
                static_cast<const char *>(tensor.data) + size_t(offset) * width, width);
  }
  return result;
}

} // namespace

std::optional<Tensor> PlanReader::readIndex(const Json &index, const Tensor &tensor) {
  if (!is(index, Json::Kind::array, "\"index\""))
    return std::nullopt;
  if (index.array.size() > tensor.shape.size()) {
    error("NNT0514", index.loc,
          "\"index\" has " + std::to_string(index.array.size()) + " entries, but the value's shape is " +
              toString(tensor.shape));
    return std::nullopt;
  }
  std::vector<Slice> slices;
  for (int64_t size : tensor.shape)
    slices.push_back({0, size, true});
  bool sound = true;
  auto wrong = [&](const Json &entry, std::string message) {
    error("NNT0514", entry.loc, std::move(message));
    sound = false;
  };
  for (size_t axis = 0; axis < index.array.size(); ++axis) {
    const Json &entry = index.array[axis];
    int64_t size = tensor.shape[axis];
    std::optional<Range> range = entry.isString() ? toRange(entry.string) : std::nullopt;
    if (entry.isString() && mentionsSweep(entry.string, entry.loc)) {
      sound = false;
    } else if (entry.kind == Json::Kind::integer) {
      if (entry.integer < -size || entry.integer >= size)
        wrong(entry, "index " + shown(entry) + " is outside axis " + std::to_string(axis) + " of the value's shape " +
                         toString(tensor.shape));
      else
        slices[axis] = {entry.integer < 0 ? entry.integer + size : entry.integer, 1, false};
    } else if (!range) {
      wrong(entry, "an entry of \"index\" must be an integer or a range \"a:b\", found " + shown(entry));
    } else if (slices[axis] = clip(*range, size); slices[axis].count == 0) {
      wrong(entry, "the range " + shown(entry) + " takes nothing of axis " + std::to_string(axis) +
                       " of the value's shape " + toString(tensor.shape));
    }
  }
  if (!sound)
    return std::nullopt;
  return take(tensor, slices);
}

} // namespace nnterp
