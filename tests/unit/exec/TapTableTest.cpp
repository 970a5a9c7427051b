// Tests of the table and the JSON of a run.
#include "tools/nnterp/TapTable.h"
#include "RunResults.h"

#include <cmath>
#include <limits>

using namespace nnterp;

static constexpr double lowest = std::numeric_limits<float>::lowest();

TEST_CASE("mask values count in no number", "[table]") {
  const TensorSummary s = summarize(tensorOf(DType::f32, {4}, {lowest, 1, 2, 6}));
  CHECK(s.min == 1);
  CHECK(s.max == 6);
  CHECK(s.mean == 3);
  CHECK(s.counted == 3);
  CHECK(s.masked == 1);
  CHECK(summarize(tensorOf(DType::f32, {1}, {lowest})).counted == 0);
  CHECK(isMaskValue(double(toFloat(0xff7f, DType::bf16)), DType::bf16));
  CHECK_FALSE(isMaskValue(lowest, DType::i64));
}

TEST_CASE("a value that is no number shows", "[table]") {
  const TensorSummary s = summarize(tensorOf(DType::f32, {3}, {1, NAN, 2}));
  CHECK(std::isnan(s.min));
  CHECK(std::isnan(s.max));
  CHECK(std::isnan(s.mean));
}

TEST_CASE("the table is aligned", "[table]") {
  RunResult result = toyResult({"layers[0].layer_output", "layers[3].self_attn.attention_scores"}, {{1}});
  Tensor &stream = result.outputs[0].second;
  for (int i = 0; i < 128; ++i)
    stream.as<float>()[i] = float(i % 2);
  Tensor &scores = result.outputs[1].second;
  for (int64_t i = 0; i < elementCount(scores.shape); ++i)
    scores.as<float>()[i] = float(lowest);
  CHECK(tapTable(result) ==
        "value                                 shape         dtype     min   max  mean  first values\n"
        "layers[0].layer_output                [1, 1, 128]   float32     0     1   0.5  0 1 0 1 ...\n"
        "layers[3].self_attn.attention_scores  [1, 4, 1, 1]  float32  mask  mask  mask  mask mask mask mask\n");
}

TEST_CASE("next tokens have text where there is a tokenizer", "[table]") {
  Diagnostics diags;
  std::optional<Tokenizer> tokenizer = Tokenizer::load(NNTERP_TEST_DATA "/checkpoints/toy", diags);
  REQUIRE(tokenizer);
  const std::vector<NextTokens> one = {{"main", 0, {{273, 0.75}, {366, 0.0525}}}};
  CHECK(nextTokenTable(one, &*tokenizer) == "\nnext token\n"
                                            "  75.00 %  273  \"The\"\n"
                                            "   5.25 %  366  \" capital\"\n");
  CHECK(nextTokenTable({{"main", 0, {{1, 1}}}, {"main", 1, {{2, 1}}}}, nullptr) ==
        "\nnext token, row 0\n  100.00 %  1\n"
        "\nnext token, row 1\n  100.00 %  2\n");
  CHECK(nextTokenTable({{"a", 0, {{1, 1}}}, {"b", 0, {{2, 1}}}}, nullptr) == "\nnext token, a, row 0\n  100.00 %  1\n"
                                                                             "\nnext token, b, row 0\n  100.00 %  2\n");
  CHECK(nextTokenTable({}, nullptr) == "");
}

TEST_CASE("the JSON of a run is JSON, whatever the numbers", "[table]") {
  RunResult result = toyResult({"layers[0].layer_output"}, {{1}});
  result.outputs[0].second.as<float>()[0] = NAN;
  Diagnostics diags;
  std::optional<Json> json =
      parseJson(runJson(result, {{"main", 0, {{3, 0.5}}}}, nullptr, "o.safetensors", diags), "j", diags);
  INFO(text(diags));
  REQUIRE(json);
  const Json &output = json->find("outputs")->array.at(0);
  CHECK(output.find("key")->string == "layers[0].layer_output");
  CHECK(output.find("shape")->dump() == "[1,1,128]");
  CHECK(output.find("min")->string == "nan");
  CHECK(json->find("file")->string == "o.safetensors");
  CHECK(json->find("lengths")->dump() == "[1]");
  CHECK(json->find("next_tokens")->array.at(0).find("tokens")->array.at(0).find("id")->integer == 3);
}
