//===- FailureReport.h - How a program failed, for its driver ---*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_FAILUREREPORT_H
#define AUTOPAR_RUNTIME_STUB_FAILUREREPORT_H

#include "Run.h"

namespace autopar::runtime {

/// The phase of a program in which it failed.
enum class RunPhase { Preparing, Stepping, Telling };

/// Reports to `autopar run`, if it has started this program, how it failed. The
/// environment variable AUTOPAR_FAILURE names a file, which gets `{"message":
/// "rank 2 was killed ...", "target": "cpu", "ranks": 4, "rank": 2, "steps":
/// 17, "has_ended": false}`. `rank` is the rank that failed first, or -1 if
/// there is none; `steps` is the number of steps that this run took;
/// `has_ended` says whether these were all.
void reportFailure(const Run &run, RunPhase phase, const std::string &message);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_FAILUREREPORT_H
