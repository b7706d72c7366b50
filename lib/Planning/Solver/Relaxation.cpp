//===- Relaxation.cpp - Memory priced by multipliers ----------------------===//

#include "Relaxation.h"
#include "SolverTuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

RowMultiplier Relaxation::rowMultiplier(size_t row, double multiplier) const {
  if (row == persistentRow())
    return {row, multiplier, {}};
  return {row, multiplier,
          row == sumOfRows() ? problem.termsOfAll() : problem.termsOf(row)};
}

bool Relaxation::isBound(const RowMultipliers &rows) const {
  return all_of(rows, [&](const RowMultiplier &row) {
    return row.row == persistentRow();
  });
}

CostGraph Relaxation::graphOf(const RowMultipliers &rows,
                              const FixedChoices &fixed) const {
  std::vector<double> nodeWeight(problem.nodes.size(), 0);
  std::vector<double> edgeWeight(problem.edges.size(), 0);
  for (const RowMultiplier &row : rows) {
    for (const MemoryTerm &term : problem.persistent)
      nodeWeight[term.index] += row.multiplier * term.count;
    for (const MemoryTerm &term : row.terms.nodes)
      nodeWeight[term.index] += row.multiplier * term.count;
    for (const MemoryTerm &term : row.terms.edges)
      edgeWeight[term.index] += row.multiplier * term.count;
  }
  CostGraph graph = costsOf(problem, nodeWeight, edgeWeight);
  for (auto [node, choice] : fixed)
    for (size_t other = 0; other < graph.nodes[node].size(); ++other)
      if (other != choice)
        graph.nodes[node][other] = kIllegal;
  return graph;
}

void Relaxation::makeCore(const MemoryQuestion &question, size_t row,
                          SearchWork &work) {
  if (!question.isSmall() && !question.mayProve())
    return;
  core = std::make_unique<MemoryCore>(problem, graphOf({}, {}),
                                      rowMultiplier(row).terms);
  rowOfCore = row;
  work.done += core->workOfChains();
}

bool Relaxation::isOfCore(const RowMultipliers &rows,
                          const FixedChoices &fixed) const {
  bool hasRows = all_of(rows, [&](const RowMultiplier &row) {
    return row.row == persistentRow() || row.row == rowOfCore;
  });
  return core && rows.size() <= 1 && hasRows && core->mayFix(fixed);
}

RelaxedResult Relaxation::minimise(const MemoryQuestion &question,
                                   SearchWork &work, const RowMultipliers &rows,
                                   size_t cellLimit, double cutoff,
                                   const FixedChoices &fixed, Effort effort) {
  double rounding = question.isExact() ? 0 : kTuning.rounding;
  double allowance = 0; // price of memory up to the limit
  for (const RowMultiplier &row : rows)
    allowance += (1 + rounding) * row.multiplier * double(problem.memoryLimit);
  // Under other rows, choices beyond the cutoff may evaluate to less.
  double limit =
      isBound(rows) ? cutoff / question.leastShare() + allowance : kIllegal;
  bool ofCore = isOfCore(rows, fixed);
  RelaxedResult result{
      !ofCore
          ? eliminate(graphOf(rows, fixed), cellLimit, limit, &messages, effort)
      : rows.empty()
          ? core->minimise(0, {}, fixed, cellLimit, limit)
          : core->minimise(rows.front().multiplier, rows.front().terms, fixed,
                           cellLimit, limit)};
  work.done += result.work +
               (ofCore ? kTuning.workPerCell * double(core->cells())
                       : kTuning.workPerNode * double(problem.nodes.size()));
  result.isOptimum = result.cost <= result.lowerBound;
  result.lowerBound -= allowance;
  return result;
}

const RelaxedResult &Relaxation::first(const MemoryQuestion &question,
                                       SearchWork &work) {
  if (!relaxed)
    relaxed =
        minimise(question, work, {}, options.roughCellLimit, question.cutoff);
  return *relaxed;
}

} // namespace autopar
