//===- ExportUnits.h - What axes are to other systems -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_EXPORTUNITS_H
#define AUTOPAR_LIB_REPORT_EXPORTUNITS_H

#include "ExportSizes.h"
#include "SplitNames.h"

namespace autopar {

/// The role of an axis in the systems' terms. The roles are ordered from
/// outermost to innermost, as the systems number devices.
enum class Role { Data, Context, Tensor, None };

/// Sub-axes of one axis that a system treats as one.
struct ExportUnit {
  unsigned axis = 0;
  llvm::SmallVector<unsigned, 2> subAxes;
  int64_t size = 1;
  Role role = Role::None;
  bool experts = false; // splits them too
};

/// Divides the mesh of a plan into units and returns what they do in ops.
class ExportUnits {
public:
  ExportUnits(const Plan &plan, const ModelGraph &graph,
              const ExportSystem &system);
  llvm::ArrayRef<ExportUnit> list() const { return units; }

  /// Returns whether the op is a contraction or convolution. The systems'
  /// schemes are about these; other ops follow.
  bool isWork(unsigned op) const;
  /// Returns the outcome of the first sub-axis that does not fit the unit's
  /// role, or else of the first sub-axis. It is nullopt if that one splits
  /// nothing.
  std::optional<SplitName> outcomeOf(unsigned op, const ExportUnit &unit) const;
  /// Returns whether a unit of that role has this outcome in the system too.
  /// Between contractions a tensor axis may split the batch, and also the
  /// sequence if the system has `sequenceParallel`.
  bool fits(unsigned op, SplitName outcome, const ExportUnit &unit) const;
  std::optional<unsigned> factorOf(unsigned op, SplitName outcome) const {
    return names.factorOf(op, outcome);
  }
  /// Returns the name of the unit for messages, such as `axis 'x'`.
  std::string nameOf(const ExportUnit &unit) const;
  /// Returns everything that the unit splits, such as `splits weights by rows
  /// in 3 ops, the batch in 1 op`.
  std::string outcomesOf(const ExportUnit &unit) const;

private:
  std::optional<SplitName> outcomeOf(unsigned op, unsigned subAxis) const;
  bool splitsExpertsOf(unsigned op, unsigned factor) const;
  Role roleOf(unsigned op, SplitName outcome) const;
  Role roleOf(unsigned subAxis) const;
  bool splitsExperts(unsigned subAxis) const;

  const Plan &plan;
  const ModelGraph &graph;
  const ExportSystem &system;
  SplitNames names;
  std::vector<ExportUnit> units;
};

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_EXPORTUNITS_H
