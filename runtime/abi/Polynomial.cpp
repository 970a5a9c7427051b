// Sums of products of extents.
#include "runtime/abi/Polynomial.h"

#include <algorithm>

namespace nnterp {

Polynomial Polynomial::extent(std::string name) {
  Polynomial result;
  result.terms[{std::move(name)}] = 1;
  return result;
}

Polynomial &Polynomial::operator+=(const Polynomial &other) {
  for (const auto &[monomial, coefficient] : other.terms)
    if ((terms[monomial] += coefficient) == 0)
      terms.erase(monomial);
  return *this;
}

Polynomial &Polynomial::operator-=(const Polynomial &other) {
  for (const auto &[monomial, coefficient] : other.terms)
    if ((terms[monomial] -= coefficient) == 0)
      terms.erase(monomial);
  return *this;
}

Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (const auto &[left, x] : a.terms)
    for (const auto &[right, y] : b.terms) {
      Polynomial::Monomial both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end());
      Polynomial term;
      term.terms[both] = x * y;
      result += term;
    }
  return result;
}

Polynomial Polynomial::dividedBy(int64_t divisor) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms)
    if (const int64_t quotient = coefficient / divisor + (coefficient % divisor > 0))
      result.terms[monomial] = quotient;
  return result;
}

bool Polynomial::covers(const Polynomial &other) const {
  auto coefficient = [](const Polynomial &of, const Monomial &monomial) {
    auto found = of.terms.find(monomial);
    return found == of.terms.end() ? int64_t(0) : found->second;
  };
  auto smaller = [&](const auto &term) { return term.second <= coefficient(*this, term.first); };
  auto kept = [&](const auto &term) { return term.second >= coefficient(other, term.first); };
  return std::all_of(other.terms.begin(), other.terms.end(), smaller) && std::all_of(terms.begin(), terms.end(), kept);
}

Polynomial Polynomial::cover(const Polynomial &a, const Polynomial &b) {
  Polynomial result = a;
  for (const auto &[monomial, coefficient] : b.terms)
    if (int64_t &own = result.terms[monomial]; own < coefficient)
      own = coefficient;
  return result;
}

double Polynomial::value(const std::function<int64_t(const std::string &)> &extent) const {
  double total = 0;
  for (const auto &[monomial, coefficient] : terms) {
    double term = double(coefficient);
    for (const std::string &name : monomial)
      term *= double(extent(name));
    total += term;
  }
  return total;
}

Json Polynomial::toJson() const {
  Json json = Json::dict();
  for (const auto &[monomial, coefficient] : terms) {
    std::string product;
    for (const std::string &name : monomial)
      product += (product.empty() ? "" : "*") + name;
    json.add(product, Json::of(coefficient));
  }
  return json;
}

std::optional<Polynomial> Polynomial::fromJson(const Json &json) {
  if (!json.isObject())
    return std::nullopt;
  Polynomial result;
  for (const Json::Member &member : json.object) {
    if (member.value.kind != Json::Kind::integer)
      return std::nullopt;
    Polynomial term(member.value.integer);
    for (size_t begin = 0; begin < member.key.size();) {
      size_t end = std::min(member.key.find('*', begin), member.key.size());
      term = term * extent(member.key.substr(begin, end - begin));
      begin = end + 1;
    }
    result += term;
  }
  return result;
}

} // namespace nnterp
