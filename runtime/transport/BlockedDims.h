//===- BlockedDims.h - Which elements a member holds ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_BLOCKEDDIMS_H
#define AUTOPAR_RUNTIME_TRANSPORT_BLOCKEDDIMS_H

#include "Transport.h"

#include <algorithm>

namespace autopar::runtime {

/// Elements of the block that member j owns, possibly none.
inline int64_t validBlock(const BlockedDim &dim, int64_t j) {
  return std::clamp<int64_t>(dim.size - j * dim.block, 0, dim.block);
}

/// The part of member `from`'s block that member `to`'s interval covers.
struct HaloOverlap {
  int64_t begin = 0; // position in the dimension
  int64_t length = 0;
  HaloOverlap(const BlockedDim &dim, const HaloWindow &window, int64_t from,
              int64_t to) {
    int64_t start = to * window.step + window.offset;
    begin = std::max(from * dim.block, start);
    int64_t end = std::min(from * dim.block + validBlock(dim, from),
                           start + window.length);
    length = std::max<int64_t>(0, end - begin);
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_BLOCKEDDIMS_H
