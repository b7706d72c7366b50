//===- NcclFaults.cpp - Faults that a test asks for -----------------------===//

#include "NcclFaults.h"

#include <cstdlib>
#include <sstream>

namespace autopar::runtime::emulated {

namespace {
struct Plan {
  int rank = -1;
  int64_t operation = 0;
  std::string kind;
  int64_t seen = 0; // operations of this process so far
  Status bad;       // the environment's text
};
} // namespace

static Status parse(const std::string &text, Plan &plan) {
  plan = Plan();
  if (text.empty())
    return Status::success();
  std::istringstream in(text);
  char colon = 0, second = 0;
  in >> plan.rank >> colon >> plan.operation >> second >> plan.kind;
  bool known = plan.kind == "error" || plan.kind == "death" ||
               plan.kind == "hang" || plan.kind == "skip";
  if (in && colon == ':' && second == ':' && known)
    return Status::success();
  plan = Plan();
  return Status::error("AUTOPAR_EMULATED_NCCL_FAULT is '" + text +
                       "', not RANK:N:error, death, hang or skip");
}

static Plan &plan() {
  static Plan plan = [] {
    Plan read;
    const char *text = std::getenv("AUTOPAR_EMULATED_NCCL_FAULT");
    Status status = parse(text ? text : "", read);
    read.bad = status;
    return read;
  }();
  return plan;
}

Status setPlannedFault(const std::string &text) { return parse(text, plan()); }

PlannedFault planFault(ncclComm &comm) {
  Plan &asked = plan();
  if (asked.bad.failed())
    comm.raise(ncclSystemError, asked.bad.message());
  if (asked.rank != comm.root->rank || ++asked.seen != asked.operation)
    return PlannedFault::none;
  if (asked.kind == "death")
    return PlannedFault::death;
  if (asked.kind == "hang")
    return PlannedFault::hang;
  if (asked.kind == "skip")
    return PlannedFault::skip;
  comm.raise(ncclSystemError, "an error that a test asked for");
  return PlannedFault::error;
}

} // namespace autopar::runtime::emulated
