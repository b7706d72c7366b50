//===- RankParts.h - Device and transport of a rank -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANKPARTS_H
#define AUTOPAR_RUNTIME_SESSION_RANKPARTS_H

#include "../core/RankContext.h"
#include "RankCommon.h"
#include "World.h"

namespace autopar::runtime {

/// Makes a rank with the device and the transport that the program's target
/// asks for: the one place that knows which kinds there are. `common` is what
/// the rank's other entries have; null: there are none.
Status makeRank(World &world, int worldRank, RankCommon *common,
                std::unique_ptr<aprt_rank> &rank);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANKPARTS_H
