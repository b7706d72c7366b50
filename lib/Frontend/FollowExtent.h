//===- FollowExtent.h - A step that is in use up to an extent -----*- C++
//-*-===//
//-*-===//

#ifndef AUTOPAR_LIB_FRONTEND_FOLLOWEXTENT_H
#define AUTOPAR_LIB_FRONTEND_FOLLOWEXTENT_H

#include "SizedSteps.h"

namespace autopar {

/// Makes the first step one that computes what the model does at the size that
/// the state `SYMBOL/extent` says: sizes, constants and positions that differ
/// between the steps follow it, and what is past it is kept out of reductions.
/// Fails, having said why, where an op cannot do that.
llvm::LogicalResult followExtent(SizedSteps &sized);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_FOLLOWEXTENT_H
