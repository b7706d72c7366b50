//===- FileIdentity.cpp - Whether a file is the one that was --------------===//

#include "FileIdentity.h"

#include <algorithm>

namespace autopar::runtime {

Status hashOutside(const FileReader &file, std::vector<ByteRange> data,
                   uint64_t &hash) {
  std::sort(
      data.begin(), data.end(),
      [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
  data.push_back({file.size(), file.size()});
  ContentHash sum;
  int64_t at = 0;
  for (const ByteRange &range : data) {
    int64_t begin = std::min(range.begin, file.size());
    if (begin > at)
      APRT_TRY(file.hash(at, begin - at, sum));
    at = std::max(at, range.end);
  }
  hash = sum.value();
  return Status::success();
}

Status hashAll(const FileReader &file, uint64_t &hash) {
  return hashOutside(file, {}, hash);
}

} // namespace autopar::runtime
