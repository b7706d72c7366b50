//===- RankRecords.h - What a rank notes about its steps --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANKRECORDS_H
#define AUTOPAR_RUNTIME_SESSION_RANKRECORDS_H

#include "../core/RankContext.h"

namespace autopar::runtime {

/// Records the device's counts in `taken` measured steps.
void recordCounters(aprt_rank &rank, int64_t taken,
                    const DeviceCounters &before);

/// Records the parts of `taken` measured steps, which took `total` seconds
/// without `barrierWait` seconds before them.
void recordTimes(aprt_rank &rank, int64_t taken, double total,
                 double barrierWait);

/// Records memory by its purpose. `portBytes` is that of inputs and outputs,
/// which others hold.
void recordMemory(aprt_rank &rank, int64_t portBytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANKRECORDS_H
