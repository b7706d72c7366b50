//===- PlanFacts.h - What a plan's parts do and cost, as data -------------===//
//
// The facts that `explain` prints as text, for other presentations such as the
// HTML page.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_PLANFACTS_H
#define AUTOPAR_REPORT_PLANFACTS_H

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Report/Explain.h"

namespace autopar {

/// A kernel class or communication, with its seconds of a step in all stages
/// together.
struct CostPart {
  std::string name;
  double seconds;
};

/// An alternative, and how many seconds of a step more it takes locally, with
/// all else unchanged.
struct OtherWay {
  std::string text;
  double seconds;
};

/// The number of rows of a list before "and N others".
inline constexpr size_t kShownRows = 12;

/// Rows that differ only in names, as repeated layers have them, merged into
/// one.
struct CostRow {
  std::string text;   // of the first
  double seconds = 0; // of each, in a step
  int64_t count = 0;
  unsigned index = 0; // of the first: an op, or the value that is resharded
  /// The alternatives for the first op or value, cheapest first. Only the
  /// dearest rows have them.
  std::vector<OtherWay> otherWays;
  double allSeconds() const { return seconds * double(count); }
};

/// The strategy of an op of @step, and its seconds of a step in each stage that
/// runs it.
struct ExplainedOp {
  unsigned op = 0;                      // of the graph
  llvm::SmallVector<int64_t, 1> stages; // that run it
  std::string strategy; // `data: split 0 (the batch), tensor: pass 1`
  /// The usual name of what each axis of several devices does: `the batch`,
  /// `heads`, `partial sums` (a partial value passes), or "" (nothing).
  std::vector<std::string> outcomes;
  double compute = 0, communication = 0;
  std::vector<std::string> reshards; // at the op, that communicate
};

/// The time of a step of the same plan on a changed cluster, by the same cost
/// model.
struct ChangedCluster {
  std::string text; // `links in a node of twice the rate`
  double stepSeconds = 0;
};

/// Tensors of one size on a device that differ only in names.
struct HeldTensor {
  std::string tensor, sharding;  // of the first
  int64_t bytes = 0;             // of each, on a device
  int64_t count = 0, atOnce = 0; // in a step; at most at one time
  std::string from, to; // the ops between which the first is held; "": always
};

/// The messages of a step from a device of one stage to its counterpart in
/// another.
struct StageTraffic {
  int64_t from = 0, to = 0;
  int64_t messages = 0, bytes = 0;
  double seconds = 0; // that both are busy with them
};

struct PlanFacts {
  std::vector<CostPart> parts; // dearest class first, communication last
  double setupSeconds = 0;     // once, at load
  std::vector<StageCost> stages;
  std::vector<std::string> axes;     // those of several devices, by name
  std::vector<ExplainedOp> ops;      // in the order of the graph
  std::vector<CostRow> dearest;      // ops, those that cost most together first
  std::vector<CostRow> origins;      // of collectives, the same
  std::vector<StageTraffic> traffic; // by stages
  std::vector<ChangedCluster> changes; // none first, then each alone
};

/// Returns the facts of a plan, which `verify` must accept for the graph.
PlanFacts factsOf(const Plan &plan, const ModelGraph &graph);

/// Returns the tensors that a device of each stage holds. They are sorted by
/// the bytes that are held at once, most first. The amounts agree with
/// predictMemory.
std::vector<std::vector<HeldTensor>> heldTensors(const Plan &plan,
                                                 const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_REPORT_PLANFACTS_H
