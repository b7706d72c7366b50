//===- ExportUnits.h - What axes are to other systems -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_EXPORTUNITS_H
#define AUTOPAR_LIB_REPORT_EXPORTUNITS_H

#include "ExportSizes.h"
#include "SplitNames.h"

namespace autopar {

/// What an axis is in the systems' terms, outermost first as they number
/// devices.
enum class Role { Data, Context, Tensor, None };

/// Sub-axes of one axis that are the same to a system.
struct ExportUnit {
  unsigned axis = 0;
  llvm::SmallVector<unsigned, 2> subAxes;
  int64_t size = 1;
  Role role = Role::None;
  bool experts = false; // splits them too
};

/// The mesh of a plan as units, and what they do in ops.
class ExportUnits {
public:
  ExportUnits(const Plan &plan, const ModelGraph &graph,
              const ExportSystem &system);
  llvm::ArrayRef<ExportUnit> list() const { return units; }

  /// A contraction or convolution: what the systems' schemes are about. Other
  /// ops follow.
  bool isWork(unsigned op) const;
  /// Of the first sub-axis that does not fit the unit's role, else of the first
  /// one; nullopt where it splits nothing.
  std::optional<SplitName> outcomeOf(unsigned op, const ExportUnit &unit) const;
  /// Whether a unit of that role does so in the system too. What tensor axes
  /// do between contractions is `sequenceParallel`.
  bool fits(unsigned op, SplitName outcome, const ExportUnit &unit) const;
  std::optional<unsigned> factorOf(unsigned op, SplitName outcome) const {
    return names.factorOf(op, outcome);
  }
  /// `axis 'x'`
  std::string nameOf(const ExportUnit &unit) const;
  /// `splits weights by rows in 3 ops, the batch in 1 op`: all that it does.
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
