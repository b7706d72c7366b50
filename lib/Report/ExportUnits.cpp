//===- ExportUnits.cpp - What axes are to other systems -------------------===//

#include "ExportUnits.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>

using namespace llvm;

namespace autopar {

std::optional<SplitName> ExportUnits::outcomeOf(unsigned op,
                                                unsigned subAxis) const {
  const Choice &choice = plan.ops[op].assignment[subAxis];
  if (graph.ops[op].setup || choice.kind != Choice::Split)
    return std::nullopt;
  return names.of(op, plan.mesh.subAxes()[subAxis].axis, choice);
}

/// Prefers the first sub-axis that does something else than the unit's role, so
/// that the difference is reported.
std::optional<SplitName> ExportUnits::outcomeOf(unsigned op,
                                                const ExportUnit &unit) const {
  for (unsigned subAxis : unit.subAxes)
    if (auto outcome = outcomeOf(op, subAxis))
      if (!fits(op, *outcome, unit))
        return outcome;
  return outcomeOf(op, unit.subAxes.front());
}

/// Only these ops are subject to the system's scheme; other ops follow them.
bool ExportUnits::isWork(unsigned op) const {
  return graph.ops[op].facts->kernel == KernelClass::Contraction ||
         graph.ops[op].facts->kernel == KernelClass::Convolution;
}

Role ExportUnits::roleOf(unsigned op, SplitName outcome) const {
  switch (outcome) {
  case SplitName::Batch:
    return Role::Data;
  case SplitName::Sequence:
    return system.context ? Role::Context : Role::None;
  case SplitName::Columns:
  case SplitName::Rows:
    return graph.ops[op].facts->kernel == KernelClass::Contraction
               ? Role::Tensor
               : Role::None;
  case SplitName::Heads:
  case SplitName::TableRows:
    return Role::Tensor;
  case SplitName::Channels:
  case SplitName::Spatial:
  case SplitName::Experts:
  case SplitName::Other:
    break;
  }
  return Role::None;
}

/// Returns the role that the sub-axis has in most contractions and
/// convolutions, or in most ops if it splits none of these.
Role ExportUnits::roleOf(unsigned subAxis) const {
  for (bool all : {false, true}) {
    std::array<int64_t, 4> votes = {};
    for (unsigned op = 0; op < graph.ops.size(); ++op)
      if (all || isWork(op))
        if (std::optional<SplitName> outcome = outcomeOf(op, subAxis))
          if (*outcome != SplitName::Experts)
            ++votes[unsigned(roleOf(op, *outcome))];
    auto *most = llvm::max_element(votes);
    if (*most > 0)
      return Role(most - votes.begin());
  }
  return Role::None;
}

/// Returns whether `factor` separates experts that each have weights of their
/// own, so that every operand has it as a dimension.
bool ExportUnits::splitsExpertsOf(unsigned op, unsigned factor) const {
  return all_of(graph.ops[op].facts->rule.operands,
                [&](const TensorFactors &tensor) {
                  return any_of(tensor, [&](const DimFactors &dim) {
                    return is_contained(dim.factors, factor);
                  });
                });
}

bool ExportUnits::splitsExperts(unsigned subAxis) const {
  int64_t split = 0, whole = 0;
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    std::optional<unsigned> factor = names.factorOf(op, SplitName::Experts);
    if (graph.ops[op].setup || !isWork(op) || !factor ||
        !splitsExpertsOf(op, *factor))
      continue;
    const Choice &choice = plan.ops[op].assignment[subAxis];
    ++(choice == Choice{Choice::Split, *factor} ? split : whole);
  }
  return split > whole;
}

ExportUnits::ExportUnits(const Plan &plan, const ModelGraph &graph,
                         const ExportSystem &system)
    : plan(plan), graph(graph), system(system), names(graph, plan.mesh) {
  for (const auto &[index, subAxis] : enumerate(plan.mesh.subAxes())) {
    if (subAxis.time)
      continue;
    ExportUnit unit{subAxis.axis,
                    {unsigned(index)},
                    subAxis.size,
                    roleOf(index),
                    splitsExperts(index)};
    if (!units.empty() && units.back().axis == unit.axis &&
        units.back().role == unit.role &&
        units.back().experts == unit.experts) {
      units.back().subAxes.push_back(index);
      units.back().size *= subAxis.size;
      continue;
    }
    units.push_back(std::move(unit));
  }
}

std::string ExportUnits::nameOf(const ExportUnit &unit) const {
  return "axis '" + join(plan.mesh.spell(unit.subAxes), "', '") + "'";
}

/// Compares the outcome with the unit's role; outcomes outside contractions and
/// convolutions need not match in some cases.
bool ExportUnits::fits(unsigned op, SplitName outcome,
                       const ExportUnit &unit) const {
  if (outcome == SplitName::Experts)
    return unit.experts || !isWork(op);
  if (outcome == SplitName::Other)
    return !isWork(op);
  if (unit.role == Role::Tensor && !isWork(op) &&
      (outcome == SplitName::Batch || outcome == SplitName::Sequence))
    return outcome == SplitName::Batch || system.sequenceParallel;
  return roleOf(op, outcome) == unit.role;
}

/// Lists everything that a unit splits, with the number of ops.
std::string ExportUnits::outcomesOf(const ExportUnit &unit) const {
  MapVector<SplitName, int64_t> counts;
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (std::optional<SplitName> outcome = outcomeOf(op, unit))
      ++counts[*outcome];
  std::string text;
  for (const auto &[outcome, count] : counts)
    text += (text.empty() ? "splits " : ", ") +
            stringifySplitName(outcome).str() + " in " + std::to_string(count) +
            (count == 1 ? " op" : " ops");
  return text.empty() ? "splits nothing" : text;
}

} // namespace autopar
