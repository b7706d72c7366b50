//===- RangeOverlap.h - Whether two operands share bytes --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_RANGEOVERLAP_H
#define AUTOPAR_RUNTIME_EMULATED_RANGEOVERLAP_H

#include "EmulatedDevice.h"

namespace autopar::runtime::emulated {

/// True if some byte belongs to both: matrices that are interleaved do not
/// overlap.
bool rangesOverlap(const Range &a, const Range &b);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_RANGEOVERLAP_H
