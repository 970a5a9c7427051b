// One name of a plan against the table: expands its index form, or says what is wrong with it.
#pragma once

#include "frontend/names/IndexForm.h"
#include "frontend/names/NameParts.h"
#include "frontend/names/PointTable.h"

namespace nnterp {

class NameMatcher {
public:
  NameMatcher(const PointTable &table, std::string_view pattern, int64_t matchedIndex, NameError &error)
      : table(table), pattern(pattern), matchedIndex(matchedIndex), error(error), parts(splitName(pattern)) {}

  std::optional<std::vector<PointRef>> run();

private:
  /// Blocks that the index form selects, ascending, each once. `explicitly`: each of them was named by its number.
  std::optional<std::vector<int64_t>> selectBlocks(int64_t count, bool &explicitly);
  /// The image that the name ends in.
  std::optional<int64_t> segmentNumber() const;
  bool hasRow(int64_t block, Presence presence) const;
  std::vector<std::string> suggestions() const;
  /// Every way to write a value in this name's scope, with its prefix.
  std::vector<std::string> candidates() const;

  std::nullopt_t fail(const char *code, std::string message, std::vector<std::string> notes = {});
  std::nullopt_t malformedIndex();
  std::nullopt_t unknown();
  std::nullopt_t absentOnBlock(int64_t block, Presence presence);

  const PointTable &table;
  std::string pattern;
  int64_t matchedIndex;
  NameError &error;
  NameParts parts;
};

} // namespace nnterp
