// XXH3 with 128 bits, in canonical byte order.
#include "runtime/exec/Hash.h"

#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nnterp {

struct Hash::State {
  XXH3_state_t xxh;
};

Hash::Hash() : state(std::make_unique<State>()) { XXH3_128bits_reset(&state->xxh); }
Hash::~Hash() = default;

Hash &Hash::add(std::string_view field) {
  const uint64_t size = field.size();
  XXH3_128bits_update(&state->xxh, &size, sizeof size);
  XXH3_128bits_update(&state->xxh, field.data(), field.size());
  return *this;
}

std::string Hash::hex() const {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(&state->xxh));
  std::string text;
  for (unsigned char byte : bytes.digest)
    for (int nibble : {byte >> 4, byte & 15})
      text += "0123456789abcdef"[nibble];
  return text;
}

std::string hashOf(std::string_view text) { return Hash().add(text).hex(); }

} // namespace nnterp
