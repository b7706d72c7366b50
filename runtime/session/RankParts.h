//===- RankParts.h - Device and transport of a rank -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANKPARTS_H
#define AUTOPAR_RUNTIME_SESSION_RANKPARTS_H

#include "../core/RankContext.h"
#include "RankCommon.h"
#include "World.h"

namespace autopar::runtime {

/// Makes a rank with the device and the transport for the program's target.
/// Only this function knows the kinds. `common` is what the rank's entries
/// share; it is null if there is only one.
Status makeRank(World &world, int worldRank, RankCommon *common,
                std::unique_ptr<aprt_rank> &rank);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANKPARTS_H
