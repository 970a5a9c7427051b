// The tensors that the graph needs, against checkpoints that have exactly these.
#include "ConfigHelp.h"

#include "frontend/families/Qwen35MoeTensors.h"
#include "runtime/weights/Safetensors.h"

using namespace nnterp;
using namespace nnterp::test;

TEST_CASE("the wanted tensors are those of the text-only checkpoints") {
  for (const char *name : {"tiny-text", "toy", "tiny-heads"}) {
    INFO(name);
    std::string folder = std::string("checkpoints/") + name;
    Diagnostics diags;
    auto file = Safetensors::open(NNTERP_TEST_DATA "/" + folder + "/model.safetensors", diags);
    REQUIRE(file);
    auto wanted = wantedTensors(checkpointConfig(folder));
    CHECK(wanted.size() == file->entries().size());
    for (const WantedTensor &tensor : wanted) {
      INFO(tensor.key);
      const SafetensorsEntry *entry = file->find(tensor.key);
      REQUIRE(entry);
      CHECK(entry->shape == tensor.shape);
    }
  }
}

TEST_CASE("fused expert tensors say how they are stored per expert") {
  std::map<std::string, std::vector<std::string>> parts;
  for (const WantedTensor &tensor : wantedTensors(goodConfig(textConfig("\"num_hidden_layers\": 1"))))
    if (!tensor.expertParts.empty())
      parts[tensor.key] = tensor.expertParts;
  CHECK(parts == std::map<std::string, std::vector<std::string>>{
                     {"model.layers.0.mlp.experts.gate_up_proj", {"gate_proj", "up_proj"}},
                     {"model.layers.0.mlp.experts.down_proj", {"down_proj"}}});
}

TEST_CASE("the convolution keeps its stored shape") {
  for (const WantedTensor &tensor : wantedTensors(goodConfig(textConfig("\"num_hidden_layers\": 1"))))
    if (tensor.key == "model.layers.0.linear_attn.conv1d.weight")
      CHECK(tensor.shape == Shape{8192, 1, 4});
}
