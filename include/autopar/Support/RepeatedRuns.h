//===- RepeatedRuns.h - Repeated layers in a sequence ---------------------===//

#ifndef AUTOPAR_SUPPORT_REPEATEDRUNS_H
#define AUTOPAR_SUPPORT_REPEATEDRUNS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace autopar {

/// `length` items from `begin` on, `count` times one after the other.
struct RepeatedRun {
  size_t begin = 0, length = 0, count = 1;
};

/// Cuts a sequence into runs, such that long repeats are told once: the repeat
/// that leaves out most items first, then the same before and after it.
/// `a b c b c b c d` -> `a`, 3 x `b c`, `d`. Equal keys are equal items. A
/// repeat that leaves out less than `least` items is none.
std::vector<RepeatedRun> repeatedRuns(llvm::ArrayRef<unsigned> keys,
                                      size_t least);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_REPEATEDRUNS_H
