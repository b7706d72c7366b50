//===- SplitNames.h - What axes split in ops ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_SPLITNAMES_H
#define AUTOPAR_LIB_REPORT_SPLITNAMES_H

#include "DimensionNames.h"
#include "autopar/Planning/Constraints/Demands.h"

namespace autopar {

/// Calls what the axes of a mesh do in a graph's ops by the words that people
/// use.
class SplitNames {
public:
  /// `mesh` must outlive this.
  SplitNames(const ModelGraph &graph, const Mesh &mesh);

  /// Of a choice that splits `op` over a sub-axis of `axis`: the first word
  /// that fits.
  SplitName of(unsigned op, unsigned axis, const Choice &choice) const;
  /// `data: split 0 (the batch), tensor: pass 1`; an axis whose primes do
  /// different things is told prime by prime.
  std::string strategyText(unsigned op, const Assignment &assignment) const;
  /// The factor of `op` that is called so by where it comes from (the batch,
  /// the sequence, heads, experts, rows of tables); nullopt where none is.
  std::optional<unsigned> factorOf(unsigned op, SplitName outcome) const;

private:
  const Mesh &mesh;
  /// Per axis, per strategy with a word of its own, per op.
  std::vector<std::vector<std::vector<AxisDemand>>> demands;
  std::vector<NamedDimension> dimensions;
};

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_SPLITNAMES_H
