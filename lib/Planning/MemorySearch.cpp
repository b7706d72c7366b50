//===- MemorySearch.cpp - Elimination, multipliers, branch and bound ------===//
//
// Without a memory limit that binds, one elimination is the answer. Else a row
// r of memory gets a multiplier m_r (seconds per byte): the eliminations then
// minimise seconds + sum of m_r * (bytes_r - limit), which is a lower bound for
// all that fits. What gap remains between it and the best that fits, branch and
// bound closes as far as its budget goes.
//
//===----------------------------------------------------------------------===//

#include "MemorySearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// In larger problems branch and bound gets nowhere.
static constexpr size_t kSmallProblem = 100;

MemorySearch::MemorySearch(const Problem &problem, const SolverOptions &options)
    : problem(problem), options(options), fullRows(problem.rows) {
  if (fullRows.empty())
    fullRows.emplace_back();
}

//===----------------------------------------------------------------------===//
// Costs with multipliers
//===----------------------------------------------------------------------===//

/// Adds an edge's matrix to the graph; an edge to itself is a cost of its node.
static void addEdge(CostGraph &graph,
                    std::map<std::pair<unsigned, unsigned>, size_t> &index,
                    const ProblemEdge &edge, ArrayRef<double> cells) {
  size_t rows = graph.nodes[edge.a].size(),
         columns = graph.nodes[edge.b].size();
  if (edge.a == edge.b) {
    for (size_t choice = 0; choice < rows; ++choice)
      graph.nodes[edge.a][choice] += cells[choice * columns + choice];
    return;
  }
  unsigned a = std::min(edge.a, edge.b), b = std::max(edge.a, edge.b);
  auto [it, inserted] = index.try_emplace({a, b}, graph.edges.size());
  if (inserted)
    graph.edges.push_back({a, b, std::vector<double>(rows * columns, 0)});
  std::vector<double> &sum = graph.edges[it->second].cells;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      sum[edge.a == a ? row * columns + column : column * rows + row] +=
          cells[row * columns + column];
}

CostGraph MemorySearch::graphOf(const Fixed &fixed) const {
  std::vector<double> nodeWeight(problem.nodes.size(), 0);
  std::vector<double> edgeWeight(problem.edges.size(), 0);
  for (const ActiveRow &row : active) {
    for (const MemoryTerm &term : problem.persistent)
      nodeWeight[term.index] += row.multiplier * term.count;
    for (const MemoryTerm &term : fullRows[row.row].nodes)
      nodeWeight[term.index] += row.multiplier * term.count;
    for (const MemoryTerm &term : fullRows[row.row].edges)
      edgeWeight[term.index] += row.multiplier * term.count;
  }
  CostGraph graph;
  for (const auto &[index, node] : enumerate(problem.nodes)) {
    graph.nodes.push_back(node.seconds);
    if (nodeWeight[index] > 0 && !node.bytes.empty())
      for (size_t choice = 0; choice < node.choices(); ++choice)
        graph.nodes.back()[choice] += nodeWeight[index] * node.bytes[choice];
  }
  std::map<std::pair<unsigned, unsigned>, size_t> index;
  for (const auto &[position, edge] : enumerate(problem.edges)) {
    std::vector<double> cells = edge.seconds;
    if (edgeWeight[position] > 0 && !edge.bytes.empty())
      for (size_t cell = 0; cell < cells.size(); ++cell)
        cells[cell] += edgeWeight[position] * edge.bytes[cell];
    addEdge(graph, index, edge, cells);
  }
  for (auto [node, choice] : fixed)
    for (size_t other = 0; other < graph.nodes[node].size(); ++other)
      if (other != choice)
        graph.nodes[node][other] = kIllegal;
  return graph;
}

/// Its lower bound is one for all that fits.
EliminationResult MemorySearch::minimise(size_t cellLimit, const Fixed &fixed) {
  EliminationResult result = eliminate(
      graphOf(fixed), cellLimit, active.empty() ? cutoff : kIllegal, &messages);
  // Small tables cost more than their cells.
  constexpr double kNodeWork = 1000;
  work += result.work + kNodeWork * double(problem.nodes.size());
  for (const ActiveRow &row : active)
    result.lowerBound -= row.multiplier * problem.memoryLimit;
  if (result.cost < kIllegal)
    offer(result.choice);
  return result;
}

void MemorySearch::offer(const std::vector<unsigned> &choice) {
  int64_t bytes = problem.peakBytes(choice);
  leastBytes = std::min(leastBytes, bytes);
  if (problem.memoryLimit && bytes > problem.memoryLimit)
    return;
  double seconds = problem.secondsOf(choice);
  if (best && best->seconds <= seconds)
    return;
  best = Solution{choice, seconds, bytes, 0};
}

//===----------------------------------------------------------------------===//
// Multipliers
//===----------------------------------------------------------------------===//

/// Raises the multiplier until the row fits. Then the lines that the solutions
/// below and above draw (costs against multiplier) meet where the bound may be
/// best: that is tried next, until nothing new comes. `choice` ends as the
/// solution of the smallest multiplier found under which the row fits.
bool MemorySearch::raiseMultiplier(size_t index,
                                   std::vector<unsigned> &choice) {
  size_t row = active[index].row;
  struct Point {
    double multiplier, cost; // cost without this row's multiplier
    int64_t bytes;
  };
  auto pointOf = [&](double multiplier, ArrayRef<unsigned> solution) {
    double cost = problem.secondsOf(solution);
    for (const ActiveRow &other : active)
      if (other.row != row)
        cost += other.multiplier * bytesOf(solution, other.row);
    return Point{multiplier, cost, bytesOf(solution, row)};
  };
  Point low = pointOf(active[index].multiplier, choice), high = low;
  auto tryAt = [&](double multiplier, bool rough = true) {
    active[index].multiplier = multiplier;
    EliminationResult result =
        minimise(rough ? options.roughCellLimit : options.cellLimit);
    lowerBound = std::max(lowerBound, result.lowerBound);
    if (result.cost == kIllegal)
      return false;
    Point point = pointOf(multiplier, result.choice);
    bool fit = point.bytes <= problem.memoryLimit;
    (fit ? high : low) = point;
    if (fit)
      choice = std::move(result.choice);
    return fit;
  };
  constexpr unsigned kRaises = 20, kMeetings = 6;
  double multiplier =
      std::max(2 * low.multiplier,
               1e-15 + low.cost / double(low.bytes - problem.memoryLimit + 1));
  for (unsigned raise = 0; !tryAt(multiplier); ++raise, multiplier *= 8)
    if (raise == kRaises || work > workLimit || isCutOff())
      return false;
  for (unsigned i = 0; i < kMeetings && work < workLimit && !isCutOff(); ++i) {
    double meeting = (high.cost - low.cost) / double(low.bytes - high.bytes);
    if (!(meeting > low.multiplier && meeting < high.multiplier))
      break;
    tryAt(meeting);
  }
  // The solutions that fit with the least multiplier are the cheapest.
  constexpr unsigned kHalvings = 3;
  for (unsigned i = 0; i < kHalvings && work < workLimit && !isCutOff(); ++i)
    tryAt((low.multiplier + high.multiplier) / 2);
  if (!isCutOff())
    tryAt(high.multiplier, /*rough=*/false);
  active[index].multiplier = high.multiplier;
  return true;
}

/// Gives multipliers to the rows that are too full until all fit.
bool MemorySearch::findMultipliers(std::vector<unsigned> choice) {
  constexpr unsigned kRounds = 30;
  for (unsigned round = 0; round < kRounds && work < workLimit && !isCutOff();
       ++round) {
    if (fits(choice))
      return true;
    size_t row = fullestRow(choice);
    size_t index = 0;
    while (index < active.size() && active[index].row != row)
      ++index;
    if (index == active.size())
      active.push_back({row});
    if (!raiseMultiplier(index, choice))
      return best.has_value();
  }
  return best.has_value();
}

//===----------------------------------------------------------------------===//
// Branch and bound
//===----------------------------------------------------------------------===//

/// The node whose choices differ most in bytes, or else any that is open.
std::optional<unsigned>
MemorySearch::branchNode(const Fixed &fixed, ArrayRef<unsigned> choice) const {
  std::optional<unsigned> widest;
  int64_t widestRange = -1;
  for (const auto &[index, node] : enumerate(problem.nodes)) {
    if (fixed.count(index) || node.choices() == 1)
      continue;
    int64_t range = 0;
    if (!node.bytes.empty())
      range = *llvm::max_element(node.bytes) - *llvm::min_element(node.bytes);
    if (range > widestRange) {
      widest = index;
      widestRange = range;
    }
  }
  return widest;
}

/// Depth first: what the relaxation chose comes first.
void MemorySearch::branch(Fixed fixed, ArrayRef<unsigned> choice) {
  std::optional<unsigned> node = branchNode(fixed, choice);
  if (!node)
    return;
  SmallVector<unsigned> order{choice[*node]};
  for (unsigned other = 0; other < problem.nodes[*node].choices(); ++other)
    if (other != choice[*node])
      order.push_back(other);
  for (unsigned candidate : order) {
    fixed[*node] = candidate;
    if (work > workLimit) {
      openBound = std::min(openBound, lowerBound);
      return;
    }
    EliminationResult result = minimise(options.cellLimit, fixed);
    if (best && result.lowerBound >= best->seconds)
      continue;
    if (result.cost == kIllegal) { // none there are, or none were found
      openBound = std::min(openBound, result.lowerBound);
      continue;
    }
    branch(fixed, result.choice);
  }
}

const EliminationResult &MemorySearch::relax(double cutoff) {
  if (!relaxed) {
    this->cutoff = cutoff;
    relaxed = minimise(options.roughCellLimit);
  }
  return *relaxed;
}

/// Exactly, unless roughly is enough: where memory is short, or nothing of
/// interest is there.
void MemorySearch::relaxFully() {
  relax(cutoff);
  if (relaxed->cost < kIllegal)
    offer(relaxed->choice);
  bool exact = relaxed->cost <= relaxed->lowerBound;
  bool cutOff = relaxed->lowerBound >= cutoff;
  bool tooLarge = relaxed->largestTable > double(options.cellLimit);
  bool tooFull = relaxed->cost < kIllegal && !fits(relaxed->choice);
  if (!exact && !cutOff && !tooLarge && !tooFull)
    relaxed = minimise(options.cellLimit);
}

/// Whether what is not proved yet is worth branch and bound.
bool MemorySearch::isGapOfInterest() const {
  if (!best)
    return true;
  double gap = best->seconds - lowerBound;
  return problem.nodes.size() <= kSmallProblem && gap > 1e-9 * best->seconds;
}

Expected<Solution> MemorySearch::run(double cutoffSeconds) {
  active.clear();
  best.reset();
  work = 0;
  leastBytes = std::numeric_limits<int64_t>::max();
  openBound = kIllegal;
  cutoff = cutoffSeconds;
  relaxFully();
  lowerBound = relaxed->lowerBound;
  if (relaxed->cost == kIllegal || isCutOff())
    return createStringError(
        cutoff < kIllegal && isCutOff()
            ? "nothing cheaper than what is known"
            : "no shardings of the ops fit together on this mesh");
  if (best && fits(relaxed->choice)) {
    best->lowerBound = std::min(best->seconds, lowerBound);
    return *best;
  }
  workLimit = options.multiplierWork;
  findMultipliers(relaxed->choice);
  if (isCutOff())
    return createStringError("nothing cheaper than what is known");
  if (isGapOfInterest()) {
    workLimit = work + options.branchWork;
    branch({}, relaxed->choice);
    if (best)
      lowerBound = std::max(lowerBound, std::min(openBound, best->seconds));
  }
  if (!best)
    return make_error<NotEnoughMemory>(problem.memoryLimit, leastBytes);
  best->lowerBound = std::min(best->seconds, lowerBound);
  return *best;
}

} // namespace autopar
