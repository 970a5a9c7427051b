// Finds and opens the weight files of a checkpoint.
#include "runtime/weights/CheckpointFiles.h"
#include "runtime/abi/Json.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace nnterp {

namespace {

using Sources = std::vector<std::shared_ptr<TensorSource>>;

bool isFile(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// Files of the trainer that end like weights and are none.
bool isTrainerFile(const std::string &name) {
  static const std::set<std::string> names = {"training_args.bin", "optimizer.pt", "optimizer.bin", "scheduler.pt",
                                              "scheduler.bin",     "scaler.pt",    "rng_state.pth"};
  return names.count(name) > 0;
}

/// The only file in `directory` that looks like weights, for checkpoints with a name of their own; else all that do.
std::vector<std::string> filesOfWeights(const std::string &directory) {
  std::vector<std::string> safetensors, torch;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!isFile(it->path().string()) || isTrainerFile(name))
      continue;
    if (it->path().extension() == ".safetensors")
      safetensors.push_back(name);
    else if (isTorchName(name))
      torch.push_back(name);
  }
  std::vector<std::string> &names = safetensors.empty() ? torch : safetensors;
  std::sort(names.begin(), names.end());
  return names;
}

/// The shards that an index names, each with the members that name it, in the order of the index.
struct Shard {
  std::string name;
  std::vector<const Json::Member *> members;
};

bool readShards(const Json &index, std::vector<Shard> &shards, Diagnostics &diags) {
  const Json *map = index.find("weight_map");
  if (!map || !map->isObject()) {
    diags.error("NNT0305", map ? map->loc : index.loc,
                "expected \"weight_map\", an object of tensor names and file names, found " +
                    (map                ? std::string(kindName(map->kind))
                     : index.isObject() ? "no such member"
                                        : "no object"));
    return false;
  }
  std::map<std::string, size_t> seen;
  bool ok = true;
  for (const Json::Member &member : map->object) {
    if (!member.value.isString()) {
      diags.error("NNT0305", member.value.loc,
                  "expected a file name for \"" + member.key + "\", found " + std::string(kindName(member.value.kind)));
      ok = false;
      continue;
    }
    auto [it, isNew] = seen.emplace(member.value.string, shards.size());
    if (isNew)
      shards.push_back({member.value.string, {}});
    shards[it->second].members.push_back(&member);
  }
  return ok;
}

/// Reports the tensors that the index expects in a shard and that are not there.
bool checkShard(const Shard &shard, const TensorSource &source, Diagnostics &diags) {
  std::set<std::string_view> keys;
  for (const SafetensorsEntry &entry : source.entries())
    keys.insert(entry.key);
  bool ok = true;
  for (const Json::Member *member : shard.members)
    if (!keys.count(member->key)) {
      diags.error("NNT0305", member->keyLoc,
                  "the index says that \"" + member->key + "\" is in \"" + shard.name +
                      "\", but that file has no such tensor");
      ok = false;
    }
  return ok;
}

Sources openShards(const std::string &directory, const std::string &indexPath, Diagnostics &diags) {
  std::optional<Json> index = readJsonFile(indexPath, diags);
  std::vector<Shard> shards;
  if (!index || !readShards(*index, shards, diags))
    return {};
  Sources sources;
  bool ok = true;
  for (const Shard &shard : shards) {
    std::string path = directory + "/" + shard.name;
    if (!isFile(path)) {
      diags.error("NNT0305", shard.members[0]->value.loc,
                  "the index names \"" + shard.name + "\" (for " + std::to_string(shard.members.size()) +
                      (shard.members.size() == 1 ? " tensor" : " tensors") + "), but there is no such file in \"" +
                      directory + "\"");
      ok = false;
      continue;
    }
    sources.push_back(openTensorSource(path, diags));
    ok = sources.back() && checkShard(shard, *sources.back(), diags) && ok;
  }
  if (sources.empty() && ok)
    diags.error("NNT0305", index->loc, "the index names no file");
  return ok ? sources : Sources();
}

} // namespace

Sources openCheckpointFiles(const std::string &directory, Diagnostics &diags) {
  auto openOne = [&](const std::string &name) {
    std::shared_ptr<TensorSource> source = openTensorSource(directory + "/" + name, diags);
    return source ? Sources{source} : Sources{};
  };
  for (const char *name : {"model.safetensors", "pytorch_model.bin"}) {
    if (isFile(directory + "/" + name))
      return openOne(name);
    std::string index = directory + "/" + name + ".index.json";
    if (isFile(index))
      return openShards(directory, index, diags);
  }
  std::vector<std::string> names = filesOfWeights(directory);
  if (names.size() == 1)
    return openOne(names[0]);
  std::error_code error;
  std::string found = !std::filesystem::is_directory(directory, error) ? "there is no such folder"
                      : names.empty()                                  ? "found no file of weights"
                                      : "found several files of weights and no index: " + joinOr(names);
  diags.error("NNT0304", {directory, 0, 0},
              "expected \"model.safetensors\" or \"model.safetensors.index.json\" (or \"pytorch_model.bin\" alike); " +
                  found);
  return {};
}

} // namespace nnterp
