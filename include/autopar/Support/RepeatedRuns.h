//===- RepeatedRuns.h - Repeated layers in a sequence ---------------------===//

#ifndef AUTOPAR_SUPPORT_REPEATEDRUNS_H
#define AUTOPAR_SUPPORT_REPEATEDRUNS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace autopar {

/// A run of `length` items from `begin` on that is repeated `count` times, one
/// after the other.
struct RepeatedRun {
  size_t begin = 0, length = 0, count = 1;
};

/// Cuts a sequence into runs so that each long repeat is listed once. It takes
/// the repeat that saves most items first, then does the same before and after
/// it. `a b c b c b c d` -> `a`, 3 x `b c`, `d`. Items are equal if their keys
/// are. A repeat that saves fewer than `least` items does not count.
std::vector<RepeatedRun> repeatedRuns(llvm::ArrayRef<unsigned> keys,
                                      size_t least);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_REPEATEDRUNS_H
