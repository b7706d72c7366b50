//===- FailureReport.h - How a program failed, for its driver ---*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_FAILUREREPORT_H
#define AUTOPAR_RUNTIME_STUB_FAILUREREPORT_H

#include "Run.h"

namespace autopar::runtime {

/// The phase in which a program was when it failed.
enum class RunPhase { Preparing, Stepping, Telling };

/// Tells `autopar run`, if it has started this program, how it failed. It names
/// a file by the environment's AUTOPAR_FAILURE, which gets
/// `{"message": "rank 2 was killed ...", "target": "cpu", "ranks": 4, "rank":
/// 2, "steps": 17, "has_ended": false}`: the rank that failed first, -1 for
/// none; the steps that this run took; whether they were all.
void reportFailure(const Run &run, RunPhase phase, const std::string &message);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_FAILUREREPORT_H
