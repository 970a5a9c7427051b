// Greedy choice and sampling; the cuts mean what they mean in transformers' generation.
#include "runtime/exec/Sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace nnterp {

bool checkSampling(const SamplingSettings &settings, const SourceLoc &loc, Diagnostics &diags) {
  auto refuse = [&](const std::string &message) {
    diags.error("NNT1302", loc, message);
    return false;
  };
  auto text = [](double value) {
    std::string s = std::to_string(value);
    s.erase(s.find_last_not_of('0') + 1);
    return s.back() == '.' ? s.substr(0, s.size() - 1) : s;
  };
  if (!(settings.temperature > 0) || std::isinf(settings.temperature))
    return refuse("the temperature is " + text(settings.temperature) +
                  "; expected a number above 0 (the likeliest token always: --greedy)");
  if (settings.topK < 0)
    return refuse("top-k is " + std::to_string(settings.topK) + "; expected a number of tokens, 0 for all");
  if (!(settings.topP > 0 && settings.topP <= 1))
    return refuse("top-p is " + text(settings.topP) + "; expected a probability above 0, at most 1");
  return true;
}

/// The finalizer of splitmix64: every bit of the result depends on every bit of x.
static uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

void TokenHash::add(int64_t token) { state = mixed(state * 0xd1342543de82ef95u + uint64_t(token) + 1); }

double uniform(uint64_t seed, const TokenHash &before) {
  const uint64_t bits = mixed(mixed(seed + 0x9e3779b97f4a7c15u) ^ before.value());
  return double(bits >> 11) * 0x1p-53;
}

/// The common type without a detour.
static double valueAt(const Tensor &tensor, int64_t index) {
  return tensor.dtype == DType::f32 ? double(tensor.as<float>()[index]) : tensor.at(index);
}

int64_t largest(const Tensor &logits, int64_t row) {
  const int64_t V = logits.shape[1];
  int64_t best = 0;
  double top = valueAt(logits, row * V);
  for (int64_t id = 1; id < V; ++id) {
    const double value = valueAt(logits, row * V + id);
    if (value > top || (std::isnan(top) && !std::isnan(value))) {
      best = id;
      top = value;
    }
  }
  return best;
}

void Sampler::keepTopK() {
  const auto k = size_t(settings.topK);
  if (settings.topK <= 0 || k >= candidates.size())
    return;
  scratch.clear();
  for (const Candidate &c : candidates)
    scratch.push_back(c.weight);
  std::nth_element(scratch.begin(), scratch.begin() + long(k - 1), scratch.end(), std::greater<>());
  const double least = scratch[k - 1];
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(), [&](const Candidate &c) { return c.weight < least; }),
      candidates.end());
}

double Sampler::total() const {
  double sum = 0;
  for (const Candidate &c : candidates)
    sum += c.weight;
  return sum;
}

/// Goes through the candidates from the likeliest on and stops when they have the probability together: the one with
/// which they do is still in.
void Sampler::keepTopP() {
  if (settings.topP >= 1)
    return;
  const double sum = total();
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  });
  double reached = 0;
  size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || reached < settings.topP * sum))
    reached += candidates[kept++].weight;
  candidates.resize(kept);
}

int64_t Sampler::choose(const Tensor &logits, int64_t row, const TokenHash &before) {
  const int64_t best = largest(logits, row);
  if (!settings.sample)
    return best;
  const int64_t V = logits.shape[1];
  candidates.clear();
  candidates.reserve(size_t(V));
  scratch.reserve(size_t(V));
  for (int64_t id = 0; id < V; ++id)
    if (const double value = valueAt(logits, row * V + id); !std::isnan(value))
      candidates.push_back({id, value / settings.temperature});
  if (candidates.empty())
    return best;
  keepTopK();
  const double top = valueAt(logits, row * V + best) / settings.temperature;
  for (Candidate &c : candidates)
    c.weight = std::exp(c.weight - top);
  keepTopP();

  double left = uniform(settings.seed, before) * total();
  for (const Candidate &c : candidates)
    if ((left -= c.weight) < 0)
      return c.id;
  return best; // rounding used up the sum
}

} // namespace nnterp
