// Graphs of one gated delta rule, and data for them.
#include "tests/exec/DeltaGraphs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nnterp::test {

std::string filled(std::string text, const std::map<std::string, std::string> &names) {
  for (const auto &[name, value] : names)
    for (size_t at; (at = text.find("$" + name + "$")) != std::string::npos;)
      text.replace(at, name.size() + 2, value);
  return text;
}

std::map<std::string, std::string> types(DType model, Dims dims) {
  std::map<std::string, std::string> names{{"m", model == DType::bf16 ? "bf16" : "f32"}, {"h", std::to_string(heads)},
                                           {"dk", std::to_string(dims.depth)},           {"dv", std::to_string(dims.width)}};
  auto add = [&](const char *name, const char *text) { names[name] = filled(text, names); };
  add("keys", "tensor<?x?x$h$x$dk$xf32>");
  add("values", "tensor<?x?x$h$x$dv$x$m$>");
  add("rates", "tensor<?x?x$h$xf32>");
  add("betas", "tensor<?x?x$h$x$m$>");
  add("state", "tensor<?x$h$x$dk$x$dv$xf32>");
  add("one", "tensor<?x1x$h$x$dk$x$dv$xf32>");
  add("all", "tensor<?x?x$h$x$dk$x$dv$xf32>");
  add("table", "tensor<?x?xi64>");
  return names;
}

Graph rule(DType model, Dims dims, bool states, const Region &region) {
  std::map<std::string, std::string> names = types(model, dims);
  bool before = states && !region.body.empty();
  auto either = [&](const char *name, bool first, const char *one, const char *other = "") {
    names[name] = filled(first ? one : other, names);
  };
  either("given", region.inPlace, "", R"(%s: $state$ {nnterp.input = "s"},)");
  either("memory", region.inPlace, R"(%s = hybrid.memory "s" {nnterp.block = 0 : i64} : $state$)");
  either("moved", region.inPlace, R"($state$ {nnterp.key = "s", nnterp.kind = "state"})", R"($state$ {nnterp.key = "z"})");
  either("keyed", states, R"(, $all$ {nnterp.key = "t"})");
  either("keyed0", before, R"(, $all$ {nnterp.key = "t0"})");
  either("seen", states, ", $all$");
  either("seen0", before, ", $all$");
  either("results", states, ", %t");
  either("results0", before, ", %t0");
  either("asked", states, "states");
  either("asked0", before, "before");
  names["inputs"] = filled(region.inputs, names);
  names["body"] = filled(region.body, names);
  return Graph(filled(R"(
func.func @main(%q: $keys$ {nnterp.input = "q"}, %k: $keys$ {nnterp.input = "k"}, %v: $values$ {nnterp.input = "v"},
                %g: $rates$ {nnterp.input = "g"}, %b: $betas$ {nnterp.input = "b"}, $given$
                %n: tensor<?xi64> {nnterp.input = "n"} $inputs$) -> ($values$ {nnterp.key = "y"}, $moved$ $keyed$ $keyed0$) {
  $memory$
  %y, %z $results$ $results0$ = hybrid.delta_rule %q, %k, %v, %g, %b, %s, %n $asked$ $asked0$ {nnterp.block = 0 : i64} :
    ($keys$, $keys$, $values$, $rates$, $betas$, $state$, tensor<?xi64>) -> ($values$, $state$ $seen$ $seen0$) $body$
  return %y, %z $results$ $results0$ : $values$, $state$ $seen$ $seen0$
})", names));
}

bool has(const Graph &graph, const std::vector<std::string> &kinds) {
  std::vector<std::string> kernels = graph.kernels();
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](const std::string &kind) { return std::find(kernels.begin(), kernels.end(), kind) != kernels.end(); });
}

static Tensor mapped(Tensor t, double (*f)(double)) {
  Tensor wide = t.dtype == DType::f32 ? t : t.to(DType::f32);
  for (int64_t i = 0; i < elementCount(wide.shape); ++i)
    wide.as<float>()[i] = float(f(wide.at(i)));
  return t.dtype == DType::f32 ? wide : wide.to(t.dtype);
}

Values given(DType model, Dims dims, int64_t rows, int64_t tokens, const std::vector<int64_t> &lengths) {
  double scale = 1 / std::sqrt(double(dims.depth));
  return {{"q", random(DType::f32, {rows, tokens, heads, dims.depth}, 1, scale)},
          {"k", random(DType::f32, {rows, tokens, heads, dims.depth}, 2, scale)},
          {"v", random(model, {rows, tokens, heads, dims.width}, 3)},
          {"g", mapped(random(DType::f32, {rows, tokens, heads}, 4), [](double x) { return -x * x; })},
          {"b", mapped(random(model, {rows, tokens, heads}, 5), [](double x) { return 1 / (1 + std::exp(-x)); })},
          {"s", random(DType::f32, {rows, heads, dims.depth, dims.width}, 6)},
          {"n", integers({rows}, lengths)}};
}

Shapes shapes(const Values &in, bool states) {
  Shape values = in.at("v").shape, state = in.at("s").shape;
  Shapes result{{"y", values}, {"z", state}};
  if (states)
    result["t"] = result["t0"] = {values[0], values[1], heads, state[2], state[3]};
  return result;
}

Tensor tokens(const Tensor &t, int64_t from, int64_t to) {
  Shape shape = t.shape;
  size_t each = t.bytes() / size_t(shape[1]);
  shape[1] = to - from;
  Tensor result = Tensor::make(t.dtype, shape);
  std::memcpy(result.data, t.as<char>() + each * size_t(from), result.bytes());
  return result;
}

Values cut(Values in, const std::vector<std::string> &names, int64_t from, int64_t to) {
  for (const std::string &name : names)
    in[name] = tokens(in.at(name), from, to);
  in["n"] = integers({1}, {to - from});
  return in;
}

} // namespace nnterp::test
