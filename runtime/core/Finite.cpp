//===- Finite.cpp - Numbers that are not finite ---------------------------===//

#include "Finite.h"

#include "autopar/runtime.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime {

namespace {

/// The elements of a type, as bits.
struct Format {
  int bits;          // of an element
  uint64_t infinity; // the magnitude of infinity; those above are NaN

  uint64_t sign() const { return uint64_t(1) << (bits - 1); }
  /// The same bits in each element of a word.
  uint64_t inAll(uint64_t element) const {
    uint64_t word = 0;
    for (int at = 0; at < 64; at += bits)
      word |= element << at;
    return word;
  }
  /// A magnitude of infinity or NaN becomes the sign bit, or more, if what lies
  /// between both is added.
  WordTest test() const {
    return {inAll(sign() - 1), inAll(sign() - infinity)};
  }
  bool isDoubtful(const WordTest &test) const {
    return (test.found & inAll(sign())) != 0;
  }
};

} // namespace

/// Returns the format of floating-point types; null for others.
static const Format *formatOf(int64_t dtype) {
  static constexpr Format f16{16, 0x7c00}, bf16{16, 0x7f80},
      f32{32, 0x7f800000}, f64{64, 0x7ff0000000000000};
  switch (dtype) {
  case APRT_F16:
    return &f16;
  case APRT_BF16:
    return &bf16;
  case APRT_F32:
    return &f32;
  case APRT_F64:
    return &f64;
  }
  return nullptr;
}

/// Tests elements one by one.
static bool hasNotFinite(const Format &format, const char *data,
                         int64_t bytes) {
  int64_t size = format.bits / 8;
  for (; bytes > 0; data += size, bytes -= size) {
    uint64_t element = 0; // the lowest bytes come first
    std::memcpy(&element, data, size_t(size));
    if (element == format.infinity ||
        (element & (format.sign() - 1)) > format.infinity)
      return true;
  }
  return false;
}

/// Tests a block of words at a time, so that the inner loop has no branch.
bool hasNotFinite(int64_t dtype, const void *data, int64_t bytes) {
  constexpr int64_t word = sizeof(uint64_t), block = 2048 * word;
  const Format *format = formatOf(dtype);
  if (!format)
    return false;
  const auto *at = static_cast<const char *>(data), *last = at + bytes;
  for (const char *end = at; at != last; at = end) {
    end = at + std::min(block, last - at);
    WordTest test = format->test();
    const char *words = at;
    for (; end - words >= word; words += word) {
      uint64_t bits;
      std::memcpy(&bits, words, word);
      test.add(bits);
    }
    if (hasNotFinite(*format, words, end - words) ||
        (format->isDoubtful(test) && hasNotFinite(*format, at, words - at)))
      return true;
  }
  return false;
}

/// The test has not seen the bytes that wait in `hash` for their stripe. Those
/// of the call before begin at `data - waited`.
bool addAndFindNotFinite(ContentHash &hash, int64_t dtype, const char *data,
                         int64_t begin, int64_t end, int64_t size) {
  constexpr auto stripe = int64_t(ContentHash::stripeBytes);
  const Format *format = formatOf(dtype);
  WordTest test = format ? format->test() : WordTest();
  hash.add(data, size_t(end - begin), test);
  if (!format)
    return false;
  int64_t waited = begin % stripe, waiting = end % stripe;
  if (format->isDoubtful(test) &&
      hasNotFinite(*format, data - waited, waited + end - begin))
    return true;
  return end == size &&
         hasNotFinite(*format, data + (end - begin) - waiting, waiting);
}

} // namespace autopar::runtime
