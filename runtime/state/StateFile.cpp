// Reads and writes saved states.
#include "runtime/state/StateFile.h"
#include "runtime/weights/Safetensors.h"

#include <algorithm>
#include <set>

namespace nnterp {

namespace {

constexpr const char *formatKey = "nnterp_state", *formatVersion = "1", *configKey = "nnterp_config_hash",
                     *dtypeKey = "nnterp_dtype", *toolKey = "nnterp_version";

/// Tensors that every sequence has beside the parts of its memory.
constexpr const char *lengthsKey = "lengths", *tokensKey = "tokens", *positionsKey = "positions";

int64_t longest(const std::vector<int64_t> &lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

Tensor lengthsTensor(const SavedSequence &saved) {
  Tensor tensor = Tensor::make(DType::i64, {saved.rows()});
  std::copy(saved.lengths.begin(), saved.lengths.end(), tensor.as<int64_t>());
  return tensor;
}

Tensor tokensTensor(const SavedSequence &saved) {
  const int64_t width = longest(saved.lengths) + (saved.pending ? 1 : 0);
  Tensor tensor = Tensor::make(DType::i64, {saved.rows(), width});
  for (size_t b = 0; b < saved.tokens.size(); ++b)
    std::copy(saved.tokens[b].begin(), saved.tokens[b].end(), tensor.as<int64_t>() + int64_t(b) * width);
  return tensor;
}

Tensor positionsTensor(const SavedSequence &saved) {
  const int64_t B = saved.rows();
  Tensor tensor = Tensor::make(DType::i64, {3, B});
  for (int64_t axis = 0; axis < 3; ++axis)
    for (int64_t b = 0; b < B; ++b)
      tensor.as<int64_t>()[axis * B + b] = saved.next[size_t(b)][size_t(axis)];
  return tensor;
}

/// `a, b and c`
std::string listed(const std::set<std::string> &names) {
  std::string text;
  size_t left = names.size();
  for (const std::string &name : names)
    text += (text.empty() ? "\"" : --left > 1 ? ", \"" : " and \"") + name + "\"";
  return text;
}

class StateReader {
public:
  StateReader(const Safetensors &file, const StateIdentity &identity, Diagnostics &diags)
      : file(file), identity(identity), diags(diags) {}

  bool checkIdentity();
  /// The worlds that keys name; empty when they name none.
  std::set<std::string> worldsOfKeys() const;
  std::optional<SavedSequence> read(const std::string &prefix);

  void error(const char *code, const std::string &message) {
    diags.error(code, {file.path(), 0, 0}, message);
    good = false;
  }

private:
  bool checkKeys(const std::string &prefix);
  std::optional<Tensor> integers(const std::string &key, Shape shape, const std::string &expected);
  bool readRows(const std::string &prefix, SavedSequence &saved);
  void readParts(const std::string &prefix, SavedSequence &saved);
  std::string meta(const char *key) const {
    auto found = file.metadata().find(key);
    return found == file.metadata().end() ? "" : found->second;
  }

  const Safetensors &file;
  const StateIdentity &identity;
  Diagnostics &diags;
  bool good = true;
};

bool StateReader::checkIdentity() {
  const std::string version = meta(formatKey);
  if (version != formatVersion) {
    error("NNT1201", version.empty()
                         ? std::string("the file is no saved state: its metadata has no \"nnterp_state\"")
                         : "the saved state has format " + version + "; this version reads format " + formatVersion);
    return false;
  }
  if (meta(configKey) != identity.config)
    error("NNT1202", "the saved state is of another model: its configuration has the hash " + meta(configKey) +
                         ", this model's has " + identity.config);
  if (meta(dtypeKey) != name(identity.dtype))
    error("NNT1203", "the saved state is of a run in " + meta(dtypeKey) + ", this run is in " +
                         std::string(name(identity.dtype)) + "; --dtype chooses");
  return good;
}

std::set<std::string> StateReader::worldsOfKeys() const {
  std::set<std::string> worlds;
  for (const SafetensorsEntry &entry : file.entries())
    if (const size_t slash = entry.key.find('/'); slash != std::string::npos)
      worlds.insert(entry.key.substr(0, slash));
  return worlds;
}

/// Every part and nothing else, as far as this world's keys go.
bool StateReader::checkKeys(const std::string &prefix) {
  std::vector<std::string> known = {lengthsKey, tokensKey, positionsKey};
  for (const SlotSpec &part : identity.parts)
    known.push_back(part.name);
  for (const std::string &key : known)
    if (!file.find(prefix + key))
      error("NNT1204", "the saved state lacks \"" + prefix + key + "\"");
  for (const SafetensorsEntry &entry : file.entries()) {
    if (entry.key.compare(0, prefix.size(), prefix) != 0)
      continue;
    const std::string key = entry.key.substr(prefix.size());
    if (std::find(known.begin(), known.end(), key) == known.end())
      error("NNT1205", "the memory of this model has no \"" + key + "\"; nearest: " + joinOr(nearest(key, known)));
  }
  return good;
}

/// An int64 tensor; -1 in `shape` is any extent.
std::optional<Tensor> StateReader::integers(const std::string &key, Shape shape, const std::string &expected) {
  std::optional<Tensor> tensor = file.tensor(key);
  bool fits = tensor->dtype == DType::i64 && tensor->shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 || shape[i] == tensor->shape[i];
  if (fits)
    return tensor;
  error("NNT1206", "\"" + key + "\" is " + std::string(name(tensor->dtype)) + " " + toString(tensor->shape) +
                       "; expected int64 " + expected);
  return std::nullopt;
}

bool StateReader::readRows(const std::string &prefix, SavedSequence &saved) {
  const std::optional<Tensor> lengths = integers(prefix + lengthsKey, {-1}, "[rows]");
  if (!lengths)
    return false;
  const int64_t B = lengths->shape[0];
  const std::string rows = std::to_string(B);
  const std::optional<Tensor> tokens = integers(prefix + tokensKey, {B, -1}, "[" + rows + ", tokens]"),
                              positions = integers(prefix + positionsKey, {3, B}, "[3, " + rows + "]");
  if (!tokens || !positions)
    return false;
  saved.lengths.assign(lengths->as<int64_t>(), lengths->as<int64_t>() + B);
  const int64_t T = longest(saved.lengths), width = tokens->shape[1];
  if (B == 0 || *std::min_element(saved.lengths.begin(), saved.lengths.end()) < 1 || T > maxPosition) {
    error("NNT1207", "\"" + prefix + lengthsKey + "\" must hold, for each row, how many tokens were read: 1 or more");
    return false;
  }
  if (width != T && width != T + 1) {
    error("NNT1207", "\"" + prefix + tokensKey + "\" has " + std::to_string(width) +
                         " columns; expected as many as the longest row has tokens, " + std::to_string(T) +
                         ", and one more when the last generated token was not read yet");
    return false;
  }
  saved.pending = width == T + 1;
  for (int64_t b = 0; b < B; ++b) {
    const int64_t *row = tokens->as<int64_t>() + b * width, *end = row + saved.lengths[size_t(b)] + saved.pending;
    const int64_t *odd = std::find_if(row, end, [&](int64_t id) { return id < 0 || id >= identity.vocabSize; });
    if (odd != end)
      error("NNT1207", "\"" + prefix + tokensKey + "\", row " + std::to_string(b) + ", token " +
                           std::to_string(odd - row) + ": id " + std::to_string(*odd) + " is outside the vocabulary");
    saved.tokens.emplace_back(row, end);
    Position &next = saved.next.emplace_back();
    for (int64_t axis = 0; axis < 3; ++axis) {
      next[size_t(axis)] = positions->as<int64_t>()[axis * B + b];
      if (next[size_t(axis)] < 0 || next[size_t(axis)] > maxPosition)
        error("NNT1207", "\"" + prefix + positionsKey + "\", row " + std::to_string(b) + ": position " +
                             std::to_string(next[size_t(axis)]) + " is outside 0 to " + std::to_string(maxPosition));
    }
  }
  return good;
}

void StateReader::readParts(const std::string &prefix, SavedSequence &saved) {
  for (const SlotSpec &part : identity.parts) {
    Tensor tensor = *file.tensor(prefix + part.name);
    Shape expected = part.dims;
    expected[0] = saved.rows();
    if (isCache(part.name))
      expected[2] = longest(saved.lengths);
    if (tensor.dtype != part.dtype || tensor.shape != expected)
      error("NNT1206", "\"" + prefix + part.name + "\" is " + std::string(name(tensor.dtype)) + " " +
                           toString(tensor.shape) + "; expected " + std::string(name(part.dtype)) + " " +
                           toString(expected));
    saved.parts[part.name] = std::move(tensor);
  }
}

std::optional<SavedSequence> StateReader::read(const std::string &prefix) {
  SavedSequence saved;
  good = true;
  if (checkKeys(prefix) && readRows(prefix, saved))
    readParts(prefix, saved);
  return good ? std::optional(std::move(saved)) : std::nullopt;
}

} // namespace

bool saveStates(const std::string &path, const SavedStates &states, bool prefixed, const StateIdentity &identity,
                Diagnostics &diags) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto &[world, saved] : states) {
    const std::string prefix = prefixed ? world + "/" : "";
    for (const SlotSpec &part : identity.parts)
      tensors.emplace_back(prefix + part.name, saved.parts.at(part.name));
    tensors.emplace_back(prefix + lengthsKey, lengthsTensor(saved));
    tensors.emplace_back(prefix + tokensKey, tokensTensor(saved));
    tensors.emplace_back(prefix + positionsKey, positionsTensor(saved));
  }
  const std::map<std::string, std::string> metadata = {{formatKey, formatVersion},
                                                       {configKey, identity.config},
                                                       {dtypeKey, std::string(name(identity.dtype))},
                                                       {toolKey, identity.tool}};
  return writeSafetensors(path, tensors, metadata, diags);
}

std::optional<SavedStates> loadStates(const std::string &path, const std::vector<std::string> &worlds,
                                      const StateIdentity &identity, Diagnostics &diags) {
  std::optional<Safetensors> file = Safetensors::open(path, diags);
  if (!file)
    return std::nullopt;
  StateReader reader(*file, identity, diags);
  if (!reader.checkIdentity())
    return std::nullopt;
  const std::set<std::string> found = reader.worldsOfKeys();
  SavedStates states;
  if (found.empty()) { // one state serves every world
    if (std::optional<SavedSequence> saved = reader.read(""))
      for (const std::string &world : worlds)
        states[world] = *saved;
    return states.empty() ? std::nullopt : std::optional(std::move(states));
  }
  for (const std::string &world : worlds) {
    if (!found.count(world))
      reader.error("NNT1208", "the saved state has no world \"" + world + "\"; it has " + listed(found));
    else if (std::optional<SavedSequence> saved = reader.read(world + "/"))
      states[world] = std::move(*saved);
  }
  return states.size() == worlds.size() ? std::optional(std::move(states)) : std::nullopt;
}

} // namespace nnterp
