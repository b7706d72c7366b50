//===- SplitNames.h - What axes split in ops ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_SPLITNAMES_H
#define AUTOPAR_LIB_REPORT_SPLITNAMES_H

#include "DimensionNames.h"
#include "autopar/Planning/Constraints/Demands.h"

namespace autopar {

/// Names what the axes of a mesh do in the ops of a graph, in common terms such
/// as `heads`.
class SplitNames {
public:
  /// `mesh` must outlive this.
  SplitNames(const ModelGraph &graph, const Mesh &mesh);

  /// Returns the first name that fits a choice which splits `op` over a
  /// sub-axis of `axis`.
  SplitName of(unsigned op, unsigned axis, const Choice &choice) const;
  /// Returns a strategy as text, such as `data: split 0 (the batch), tensor:
  /// pass 1`. If the sub-axes of an axis have different choices, each sub-axis
  /// is listed.
  std::string strategyText(unsigned op, const Assignment &assignment) const;
  /// Returns the factor of `op` whose origin in the model has this name (the
  /// batch, the sequence, heads, experts, rows of tables), or nullopt if there
  /// is none.
  std::optional<unsigned> factorOf(unsigned op, SplitName outcome) const;

private:
  const Mesh &mesh;
  /// The choices that each strategy with a name demands, by axis, strategy and
  /// op.
  std::vector<std::vector<std::vector<AxisDemand>>> demands;
  std::vector<NamedDimension> dimensions;
};

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_SPLITNAMES_H
