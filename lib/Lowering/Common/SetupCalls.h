//===- SetupCalls.h - What a rank does before its first step ----*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_SETUPCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_SETUPCALLS_H

#include "HostProgram.h"

namespace autopar {

/// The calls of @setup, in order, and of what packs weights, as one list in
/// which each persistent tensor lives as briefly as it can:
///   - a weight is packed as soon as it is there, and weights that @setup does
///     not touch come last, the largest first;
///   - aprt_load before the first call that names a tensor;
///   - aprt_release after the last one, unless steps read the tensor itself.
/// Parameters that no call names are the runtime's to load.
/// `bytes`: of persistent tensors of the stage, by index.
std::vector<HostCall> setupCalls(const HostProgram &program, int64_t stage,
                                 std::vector<HostCall> setup,
                                 std::vector<HostCall> packs,
                                 llvm::ArrayRef<int64_t> bytes);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_SETUPCALLS_H
