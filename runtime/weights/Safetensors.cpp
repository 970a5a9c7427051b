// Reads safetensors files: the header is checked whole, tensors are views of the mapped file.
#include "runtime/weights/Safetensors.h"
#include "runtime/abi/Json.h"
#include "runtime/weights/MappedFile.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace nnterp {

namespace {

/// The format's own limit.
constexpr uint64_t maxHeader = 100'000'000;
/// A file that is broken throughout need not be listed throughout.
constexpr int maxErrors = 20;

std::string bytesText(uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

class HeaderReader {
public:
  HeaderReader(std::string_view bytes, const std::string &file, Diagnostics &diags)
      : bytes(bytes), file(file), diags(diags) {}

  bool read(std::vector<SafetensorsEntry> &entries, std::map<std::string, std::string> &metadata, uint64_t &dataStart) {
    std::optional<Json> header = readJson();
    if (!header)
      return false;
    dataStart = 8 + headerSize;
    for (const Json::Member &member : header->object) {
      if (member.key == "__metadata__")
        readMetadata(member.value, metadata);
      else
        readEntry(member, entries);
      if (errors >= maxErrors)
        return false;
    }
    if (errors == 0)
      checkRanges(entries, bytes.size() - dataStart);
    return errors == 0;
  }

private:
  void fail(const char *code, std::string message) {
    ++errors;
    diags.error(code, {file, 0, 0}, std::move(message));
  }

  std::optional<Json> readJson() {
    if (bytes.size() < 8) {
      fail("NNT0301", "expected at least 8 bytes, the length of the header; the file has " + bytesText(bytes.size()));
      return std::nullopt;
    }
    for (int i = 7; i >= 0; --i)
      headerSize = headerSize << 8 | uint8_t(bytes[size_t(i)]);
    if (headerSize > bytes.size() - 8) {
      fail("NNT0301", "the header is said to be " + bytesText(headerSize) + " long, but the file ends after " +
                          bytesText(bytes.size() - 8) + " of it; is the file cut off, or no safetensors file?");
      return std::nullopt;
    }
    if (headerSize > maxHeader) {
      fail("NNT0301", "the header is said to be " + bytesText(headerSize) + " long; at most " + bytesText(maxHeader) +
                          " are allowed");
      return std::nullopt;
    }
    Diagnostics inner;
    std::optional<Json> header = parseJson(bytes.substr(8, headerSize), "header", inner);
    if (!header)
      for (const Diagnostic &d : inner.all())
        fail("NNT0301", "in the header, character " + std::to_string(d.loc.col) + ": " + d.message);
    if (header && !header->isObject()) {
      fail("NNT0301", "expected the header to be an object, found " + std::string(kindName(header->kind)));
      return std::nullopt;
    }
    return header;
  }

  void readMetadata(const Json &json, std::map<std::string, std::string> &metadata) {
    if (!json.isObject())
      return fail("NNT0301", "expected \"__metadata__\" to be an object, found " + std::string(kindName(json.kind)));
    for (const Json::Member &member : json.object) {
      if (!member.value.isString())
        return fail("NNT0301", "expected metadata \"" + member.key + "\" to be a string, found " +
                                   std::string(kindName(member.value.kind)));
      metadata[member.key] = member.value.string;
    }
  }

  void readEntry(const Json::Member &member, std::vector<SafetensorsEntry> &entries) {
    const std::string where = "tensor \"" + member.key + "\": ";
    const Json *dtype = member.value.find("dtype"), *shape = member.value.find("shape"),
               *offsets = member.value.find("data_offsets");
    if (!dtype || !dtype->isString() || !shape || !readCounts(*shape) || !offsets || !readCounts(*offsets) ||
        offsets->array.size() != 2)
      return fail("NNT0301", where +
                                 "expected {\"dtype\": a string, \"shape\": a list of sizes, \"data_offsets\": "
                                 "[begin, end]}, found " +
                                 abbreviated(member.value));
    std::optional<DType> type = fromSafetensorsName(dtype->string);
    if (!type)
      return fail("NNT0303", where + "unknown element type \"" + dtype->string +
                                 "\"; F64, F32, F16, BF16, F8_E4M3, I64, I32, I16, I8, U8 and BOOL are known");
    SafetensorsEntry entry{member.key, *type, {}, 0, 0};
    uint64_t size = byteSize(*type);
    bool overflow = false;
    for (const Json &extent : shape->array) {
      entry.shape.push_back(extent.integer);
      overflow |= __builtin_mul_overflow(size, uint64_t(extent.integer), &size);
    }
    entry.begin = uint64_t(offsets->array[0].integer);
    entry.end = uint64_t(offsets->array[1].integer);
    if (entry.end < entry.begin)
      return fail("NNT0302", where + "its bytes end at " + std::to_string(entry.end) + ", before they begin at " +
                                 std::to_string(entry.begin));
    if (overflow || size != entry.end - entry.begin)
      return fail("NNT0302", where + "shape " + toString(entry.shape) + " of " + dtype->string + " takes " +
                                 (overflow ? "more bytes than can be counted" : bytesText(size)) +
                                 ", but its data_offsets hold " + bytesText(entry.end - entry.begin));
    entries.push_back(std::move(entry));
  }

  /// A list of whole numbers, none negative.
  static bool readCounts(const Json &json) {
    return json.isArray() && std::all_of(json.array.begin(), json.array.end(),
                                         [](const Json &v) { return v.kind == Json::Kind::integer && v.integer >= 0; });
  }

  static std::string abbreviated(const Json &json) {
    std::string text = json.dump();
    return text.size() <= 120 ? text : text.substr(0, 117) + "...";
  }

  /// As the format demands, the tensors' bytes follow one another from the first byte of the data to the last.
  void checkRanges(const std::vector<SafetensorsEntry> &entries, uint64_t available) {
    std::vector<size_t> order(entries.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::tie(entries[a].begin, entries[a].end) < std::tie(entries[b].begin, entries[b].end);
    });
    uint64_t end = 0;
    const std::string *previous = nullptr;
    for (size_t i : order) {
      const SafetensorsEntry &entry = entries[i];
      const std::string where = "tensor \"" + entry.key + "\": ";
      if (entry.end > available)
        fail("NNT0302", where + "its bytes " + std::to_string(entry.begin) + " to " + std::to_string(entry.end) +
                            " leave the file, which holds " + bytesText(available) + " of data; is it cut off?");
      else if (entry.begin < end)
        fail("NNT0302", where + "its bytes from " + std::to_string(entry.begin) + " overlap those of \"" + *previous +
                            "\", which end at " + std::to_string(end));
      else if (entry.begin > end)
        fail("NNT0302", where + "its bytes begin at " + std::to_string(entry.begin) + ", but the ones before end at " +
                            std::to_string(end) + "; the data must have no gaps");
      if (errors >= maxErrors)
        return;
      end = std::max(end, entry.end);
      previous = &entry.key;
    }
    if (errors == 0 && end < available)
      fail("NNT0302", "the tensors take " + bytesText(end) + ", but the file holds " + bytesText(available) +
                          " of data; they must be equal");
  }

  std::string_view bytes;
  const std::string &file;
  Diagnostics &diags;
  uint64_t headerSize = 0;
  int errors = 0;
};

} // namespace

bool Safetensors::parseHeader(std::string_view bytes, const std::string &file, std::vector<SafetensorsEntry> &entries,
                              std::map<std::string, std::string> &metadata, uint64_t &dataStart, Diagnostics &diags) {
  return HeaderReader(bytes, file, diags).read(entries, metadata, dataStart);
}

std::optional<Safetensors> Safetensors::open(const std::string &path, Diagnostics &diags) {
  MappedFile mapped = mapFile(path, diags);
  Safetensors result;
  if (!mapped || !parseHeader(mapped.bytes, path, result.list, result.meta, result.dataStart, diags))
    return std::nullopt;
  result.file = path;
  // Every view shares the ownership of the mapping, and this pointer says where it starts.
  result.mapping = std::shared_ptr<void>(mapped.keep, const_cast<char *>(mapped.bytes.data()));
  for (size_t i = 0; i < result.list.size(); ++i)
    result.index.emplace(result.list[i].key, i);
  return result;
}

const SafetensorsEntry *Safetensors::find(std::string_view key) const {
  auto it = index.find(key);
  return it == index.end() ? nullptr : &list[it->second];
}

std::optional<Tensor> Safetensors::tensor(std::string_view key) const {
  const SafetensorsEntry *entry = find(key);
  if (!entry)
    return std::nullopt;
  return tensor(*entry);
}

Tensor Safetensors::tensor(const SafetensorsEntry &entry) const {
  Tensor view;
  view.dtype = entry.dtype;
  view.shape = entry.shape;
  view.data = static_cast<char *>(mapping.get()) + dataStart + entry.begin;
  view.keep = mapping;
  return inPlace(entry) ? view : view.to(view.dtype);
}

bool Safetensors::inPlace(const SafetensorsEntry &entry) const {
  return (reinterpret_cast<uintptr_t>(mapping.get()) + dataStart + entry.begin) % byteSize(entry.dtype) == 0;
}

} // namespace nnterp
