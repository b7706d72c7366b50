//===- ReshardGraph.cpp - All steps of a change ---------------------------===//

#include "ReshardGraph.h"
#include "ReshardSteps.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace llvm;

namespace autopar {

/// Returns the place of `item` in `list`, and appends it if it is not there.
template <typename List, typename Item>
static unsigned placeIn(List &list, Item &&item) {
  unsigned place = llvm::find(list, item) - list.begin();
  if (place == list.size())
    list.push_back(std::forward<Item>(item));
  return place;
}

std::unique_ptr<ReshardGraph> ReshardGraph::build(const Sharding &from,
                                                  const Sharding &to,
                                                  ArrayRef<int64_t> shape,
                                                  const Mesh &mesh) {
  SubAxisRuns runs(from, to, mesh);
  StepTable table(from, to, shape, /*elementBytes=*/1, runs);
  auto graph = std::make_unique<ReshardGraph>();
  SmallVector<ReshardState, 16> states{table.start()};
  for (size_t state = 0; state < states.size(); ++state) {
    graph->firstMove.push_back(graph->moves.size());
    if (states[state] == table.target())
      continue; // the path ends
    for (ReshardMove &move : table.steps(states[state])) {
      Step step{move.kind, {}, move.bytes};
      runs.append(move.runs, step.subAxes);
      graph->moves.push_back({placeIn(states, std::move(move.after)),
                              placeIn(graph->steps, std::move(step))});
    }
    if (states.size() > kMostStates)
      return nullptr;
  }
  graph->firstMove.push_back(graph->moves.size());
  graph->target = llvm::find(states, table.target()) - states.begin();
  return graph;
}

/// Dijkstra; the states are few and are scanned.
std::optional<double> ReshardGraph::seconds(int64_t elementBytes,
                                            const ReshardCost &cost) const {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  size_t states = firstMove.size() - 1;
  if (target == states)
    return std::nullopt;
  SmallVector<double, kMostStates> reached(states, kFar); // seconds
  SmallVector<bool, kMostStates> done(states, false);
  SmallVector<double, kMostStates> prices(steps.size(), -1);
  ReshardStep asked;
  auto priceOf = [&](unsigned step) {
    if (prices[step] < 0) {
      asked.kind = steps[step].kind;
      asked.subAxes.assign(steps[step].subAxes.begin(),
                           steps[step].subAxes.end());
      asked.bytes = steps[step].bytes * elementBytes;
      prices[step] = cost(asked);
    }
    return prices[step];
  };
  reached[0] = 0;
  while (true) {
    size_t next = states;
    for (size_t state = 0; state < states; ++state)
      if (!done[state] && reached[state] < kFar &&
          (next == states || reached[state] < reached[next]))
        next = state;
    if (next == states)
      return std::nullopt;
    if (next == target)
      return reached[target];
    done[next] = true;
    for (unsigned m = firstMove[next]; m < firstMove[next + 1]; ++m) {
      double seconds = reached[next] + priceOf(moves[m].step);
      reached[moves[m].to] = std::min(reached[moves[m].to], seconds);
    }
  }
}

} // namespace autopar
