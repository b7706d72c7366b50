//===- AbiTest.cpp - The runtime has all that its table declares ----------===//

#include "autopar/runtime.h"

#include <gtest/gtest.h>

#include <set>

namespace {

/// Of an entry without a definition the tests do not link.
TEST(Abi, EveryFunctionIsDefined) {
  const void *const functions[] = {
#define APRT_FUNCTION(result, name, parameters)                                \
  reinterpret_cast<const void *>(&name),
#include "autopar/runtime.def"
  };
  std::set<const void *> distinct(std::begin(functions), std::end(functions));
  EXPECT_EQ(distinct.size(), std::size(functions));
  EXPECT_EQ(distinct.count(nullptr), 0u);
}

/// Programs hold numbers, so an enum's may not change.
TEST(Abi, EnumeratorsCountFromZero) {
#define APRT_ENUM(type)                                                        \
  {                                                                            \
    int next = 0;
#define APRT_ENUMERATOR(name, number) EXPECT_EQ(int(name), next++);
#define APRT_ENUM_END(type) }
#include "autopar/runtime.def"
}

/// A descriptor is an array of words for who emits it.
TEST(Abi, DescriptorsAreWordsWithoutGaps) {
#define APRT_DESCRIPTOR(type)                                                  \
  {                                                                            \
    size_t size = sizeof(type), words = 0;
#define APRT_WORD(name) ++words;
#define APRT_WORDS(name, count) words += count;
#define APRT_ENUM_WORD(type, name) ++words;
#define APRT_DESCRIPTOR_END(type)                                              \
  EXPECT_EQ(size, words * sizeof(int64_t)) << #type;                           \
  }
#include "autopar/runtime.def"
}

} // namespace
