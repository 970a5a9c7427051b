// NFC by segments: text is cut before characters that combine with nothing before them, each segment is normalised
// alone, and only changed segments are remembered.
#include "runtime/text/Normalize.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <iterator>
#include <utf8proc.h>

namespace nnterp {

/// Marks (and one letter) that the NFC of the `tokenizers` library takes for plain characters, because its tables are
/// older than they are: up to Unicode 14, in ranges. Ids have to be the library's, so these are not moved or composed.
static constexpr struct {
  char32_t first, last;
} unknownToLibrary[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
    {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},
    {0xA82C, 0xA82C},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10F46, 0x10F50}, {0x10F82, 0x10F85},
    {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11930, 0x11930},
    {0x11938, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34},
    {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97},
    {0x16FF0, 0x16FF1}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}};

static bool isUnknownToLibrary(char32_t c) {
  auto range = std::lower_bound(std::begin(unknownToLibrary), std::end(unknownToLibrary), c,
                                [](const auto &range, char32_t value) { return range.last < value; });
  return range != std::end(unknownToLibrary) && range->first <= c;
}

/// Whether a character has nothing to do with its neighbours whatever utf8proc thinks. It takes U+11A7 for a Hangul
/// final and drops it, while that is only where the finals are counted from.
static bool standsAlone(char32_t c) { return c == 0x11A7 || isUnknownToLibrary(c); }

/// Whether a character may reorder or compose with the one before it. Some that do not are included: a segment longer
/// than necessary is normalised all the same.
static bool joinsPrevious(char32_t c) {
  if (c < 0x300 || standsAlone(c))
    return false;
  const bool hangulVowelOrFinal = c >= 0x1160 && c <= 0x11FF;
  const bool kiratRaiVowel = c >= 0x16D63 && c <= 0x16D6A; // compose since Unicode 16, though they are no marks
  if (hangulVowelOrFinal || kiratRaiVowel)
    return true;
  const utf8proc_property_t *property = utf8proc_get_property(utf8proc_int32_t(c));
  return property->combining_class != 0 || property->category == UTF8PROC_CATEGORY_MN ||
         property->category == UTF8PROC_CATEGORY_MC || property->category == UTF8PROC_CATEGORY_ME;
}

/// NFC of one segment. utf8proc's own reordering takes quadratic time on many marks, so marks are sorted here.
static std::string composeSegment(std::string_view segment) {
  std::vector<utf8proc_int32_t> points;
  for (size_t at = 0; at < segment.size();) {
    Utf8Char c = readUtf8(segment, at);
    at += c.length;
    utf8proc_int32_t parts[8]; // no character has a longer canonical decomposition (the longest has 4)
    int boundClass = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char(
        utf8proc_int32_t(c.value), parts, 8, utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), &boundClass);
    if (count < 1 || count > 8)
      points.push_back(utf8proc_int32_t(c.value));
    else
      points.insert(points.end(), parts, parts + count);
  }
  auto combiningClass = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
  for (auto it = points.begin(); it != points.end();) {
    if (combiningClass(*it) == 0) {
      ++it;
      continue;
    }
    auto end = std::find_if(it, points.end(), [&](utf8proc_int32_t c) { return combiningClass(c) == 0; });
    std::stable_sort(it, end,
                     [&](utf8proc_int32_t a, utf8proc_int32_t b) { return combiningClass(a) < combiningClass(b); });
    it = end;
  }
  utf8proc_ssize_t length = utf8proc_normalize_utf32(points.data(), utf8proc_ssize_t(points.size()),
                                                     utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string out;
  for (utf8proc_ssize_t i = 0; i < length; ++i)
    appendUtf8(out, char32_t(points[size_t(i)]));
  return out;
}

NormalizedText::NormalizedText(std::string_view source) {
  normalized.reserve(source.size());
  for (size_t begin = 0; begin < source.size();) {
    Utf8Char first = readUtf8(source, begin);
    size_t end = begin + first.length;
    const bool alone = standsAlone(first.value);
    for (Utf8Char next; !alone && end < source.size() && (next = readUtf8(source, end), joinsPrevious(next.value));)
      end += next.length;
    if (alone || (first.value < 0x300 && end == begin + first.length))
      normalized.append(source, begin, end - begin);
    else
      addSegment(source, begin, end);
    begin = end;
  }
}

void NormalizedText::addSegment(std::string_view source, size_t begin, size_t end) {
  std::string_view before = source.substr(begin, end - begin);
  std::string after = composeSegment(before);
  if (after != before)
    changes.push_back({normalized.size(), normalized.size() + after.size(), begin, end});
  normalized += after;
}

const NormalizedText::Change *NormalizedText::changeAt(size_t at) const {
  auto next = std::upper_bound(changes.begin(), changes.end(), at,
                               [](size_t value, const Change &change) { return value < change.begin; });
  return next == changes.begin() ? nullptr : &*(next - 1);
}

NormalizedText::Range NormalizedText::source(size_t begin, size_t end) const {
  const Change *first = changeAt(begin), *last = changeAt(end - 1);
  Range range{begin, end};
  if (first)
    range.begin = begin < first->end ? first->sourceBegin : first->sourceEnd + (begin - first->end);
  if (last)
    range.end = end - 1 < last->end ? last->sourceEnd : last->sourceEnd + (end - last->end);
  return range;
}

} // namespace nnterp
