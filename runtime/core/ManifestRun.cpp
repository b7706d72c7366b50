//===- ManifestRun.cpp - What readers of logs want to know of a program ---===//

#include "ManifestParts.h"

namespace autopar::runtime {

void parseRun(const JsonReader &root, Manifest &manifest) {
  parseHashes(root.member("hashes", /*optional=*/true), manifest.hashes);
  JsonReader work = root.member("work", /*optional=*/true);
  if (work.isNull())
    return;
  for (auto [key, to] : {std::pair("flops", &manifest.stepFlops),
                         std::pair("peak_flops", &manifest.peakFlops)}) {
    JsonReader number = work.member(key, /*optional=*/true);
    if (number.isNull())
      continue;
    *to = number.number();
    if (*to < 0)
      number.fail("is negative");
  }
}

} // namespace autopar::runtime
