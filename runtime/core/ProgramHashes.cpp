//===- ProgramHashes.cpp - What a training is made of ---------------------===//

#include "ProgramHashes.h"

#include "../files/ContentHash.h"
#include "JsonReader.h"

namespace autopar::runtime {

void parseHashes(const JsonReader &json, ProgramHashes &hashes) {
  if (json.isNull())
    return;
  for (auto [key, to] : {std::pair("model", &hashes.model),
                         std::pair("recipe", &hashes.recipe)}) {
    JsonReader hash = json.member(key, /*optional=*/true);
    if (hash.isNull())
      continue;
    *to = hash.string();
    if (uint64_t value = 0; !parseHash(*to, value))
      hash.fail("is no hash of 16 digits");
  }
}

} // namespace autopar::runtime
