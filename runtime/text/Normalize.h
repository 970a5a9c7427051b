// Unicode NFC that remembers where every byte came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// A text in NFC, and the way back to the bytes it was made from.
class NormalizedText {
public:
  /// `source` is UTF-8; it need not outlive the result.
  explicit NormalizedText(std::string_view source);

  std::string_view text() const { return normalized; }

  struct Range {
    size_t begin, end;
  };
  /// The source bytes of the non-empty normalised bytes [begin, end). A byte of a changed segment stands for all of it.
  Range source(size_t begin, size_t end) const;

private:
  /// A piece that normalising changed; between pieces bytes correspond one to one.
  struct Change {
    size_t begin, end;             ///< in the normalised text
    size_t sourceBegin, sourceEnd; ///< in the source
  };
  void addSegment(std::string_view source, size_t begin, size_t end);
  /// The last change that begins at or before a normalised byte, or null.
  const Change *changeAt(size_t at) const;

  std::string normalized;
  std::vector<Change> changes;
};

} // namespace nnterp
