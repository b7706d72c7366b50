//===- Elimination.cpp - Bucket elimination -------------------------------===//

#include "autopar/Planning/Elimination.h"
#include "DualBound.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <set>

using namespace llvm;

namespace autopar {

namespace {

/// Costs of every combination of the remaining choices of some nodes.
struct Table {
  std::vector<unsigned> scope; // ascending; the last varies fastest
  std::vector<double> cells;
};

/// The best choice of an eliminated node for every combination of its scope.
struct Decision {
  unsigned node;
  std::vector<unsigned> scope;
  std::vector<uint16_t> best; // position in the node's domain
};

struct Cursor;

/// Eliminates nodes over given domains.
class Eliminator {
public:
  Eliminator(const CostGraph &graph, const Domains &domains, size_t cellLimit);

  /// Eliminates all; nullopt where a table would be too large.
  std::optional<EliminationResult> exact();

  double work = 0;

private:
  size_t size(unsigned node) const { return domains[node].size(); }
  size_t cells(ArrayRef<unsigned> scope) const;
  unsigned cheapestNode() const;
  double costOf(unsigned node) const;
  std::vector<unsigned> takeTables(unsigned node);
  std::vector<unsigned> scopeOf(ArrayRef<unsigned> tables) const;
  Cursor cursorOf(const Table &table, unsigned node,
                  ArrayRef<unsigned> scope) const;
  Table minimise(unsigned node, ArrayRef<unsigned> tables, Decision *decision);
  void put(Table table);
  EliminationResult decode(ArrayRef<Decision> decisions) const;

  const Domains &domains;
  size_t cellLimit;
  std::vector<Table> tables;
  std::vector<std::set<unsigned>> tablesOf;   // per node
  std::vector<std::set<unsigned>> neighbours; // per node
  std::vector<bool> eliminated;
  double constant = 0;
  /// Nodes by what eliminating them costs.
  std::set<std::pair<double, unsigned>> queue;
  std::vector<double> queued;

  void requeue(unsigned node);
};

} // namespace

Eliminator::Eliminator(const CostGraph &graph, const Domains &domains,
                       size_t cellLimit)
    : domains(domains), cellLimit(cellLimit), tablesOf(graph.nodes.size()),
      neighbours(graph.nodes.size()), eliminated(graph.nodes.size(), false),
      queued(graph.nodes.size(), -1) {
  for (const auto &[index, node] : enumerate(graph.nodes)) {
    Table table{{unsigned(index)}, {}};
    for (unsigned choice : domains[index])
      table.cells.push_back(node[choice]);
    put(std::move(table));
  }
  for (const CostGraph::Edge &edge : graph.edges) {
    Table table{{edge.a, edge.b}, {}};
    size_t columns = graph.nodes[edge.b].size();
    for (unsigned a : domains[edge.a])
      for (unsigned b : domains[edge.b])
        table.cells.push_back(edge.cells[a * columns + b]);
    put(std::move(table));
  }
  for (unsigned node = 0; node < graph.nodes.size(); ++node)
    requeue(node);
}

size_t Eliminator::cells(ArrayRef<unsigned> scope) const {
  double cells = 1;
  for (unsigned node : scope)
    cells *= size(node);
  return cells > 1e15 ? size_t(1e15) : size_t(cells);
}

double Eliminator::costOf(unsigned node) const {
  double cost = size(node);
  for (unsigned other : neighbours[node])
    cost *= size(other);
  return cost;
}

void Eliminator::requeue(unsigned node) {
  if (queued[node] >= 0)
    queue.erase({queued[node], node});
  queued[node] = costOf(node);
  queue.insert({queued[node], node});
}

void Eliminator::put(Table table) {
  if (table.scope.empty()) {
    constant += table.cells.front();
    return;
  }
  for (unsigned node : table.scope) {
    tablesOf[node].insert(tables.size());
    for (unsigned other : table.scope)
      if (other != node)
        neighbours[node].insert(other);
  }
  tables.push_back(std::move(table));
}

unsigned Eliminator::cheapestNode() const { return queue.begin()->second; }

std::vector<unsigned> Eliminator::takeTables(unsigned node) {
  std::vector<unsigned> taken(tablesOf[node].begin(), tablesOf[node].end());
  for (unsigned table : taken)
    for (unsigned member : tables[table].scope)
      tablesOf[member].erase(table);
  queue.erase({queued[node], node});
  queued[node] = -1;
  eliminated[node] = true;
  for (unsigned other : neighbours[node])
    neighbours[other].erase(node);
  return taken;
}

std::vector<unsigned> Eliminator::scopeOf(ArrayRef<unsigned> list) const {
  std::set<unsigned> scope;
  for (unsigned table : list)
    scope.insert(tables[table].scope.begin(), tables[table].scope.end());
  return {scope.begin(), scope.end()};
}

namespace {

/// One table of a join: its rows over the node that is minimised over lie one
/// after the other, and are walked while the combinations of the join's scope
/// are counted through.
struct Cursor {
  std::vector<double> cells;
  std::vector<size_t> strides; // per node of the join's scope; 0: not in it
  size_t offset = 0;
};

} // namespace

/// `table` with `node` as the last of its scope.
Cursor Eliminator::cursorOf(const Table &table, unsigned node,
                            ArrayRef<unsigned> scope) const {
  Cursor cursor;
  cursor.strides.assign(scope.size(), 0);
  size_t choices = size(node), stride = choices;
  std::vector<size_t> target(table.scope.size(), 0);
  for (size_t i = table.scope.size(); i-- > 0;) {
    unsigned member = table.scope[i];
    if (member == node) {
      target[i] = 1;
      continue;
    }
    target[i] = stride;
    cursor.strides[llvm::find(scope, member) - scope.begin()] = stride;
    stride *= size(member);
  }
  cursor.cells.resize(table.cells.size());
  std::vector<unsigned> digits(table.scope.size(), 0);
  size_t to = 0;
  for (double cell : table.cells) {
    cursor.cells[to] = cell;
    for (size_t i = digits.size(); i-- > 0;) {
      to += target[i];
      if (++digits[i] < size(table.scope[i]))
        break;
      to -= target[i] * digits[i];
      digits[i] = 0;
    }
  }
  return cursor;
}

/// Adds up the rows at which the cursors stand.
static void sumRows(ArrayRef<const Cursor *> cursors,
                    MutableArrayRef<double> sum) {
  std::fill(sum.begin(), sum.end(), 0.0);
  for (const Cursor *cursor : cursors) {
    const double *row = cursor->cells.data() + cursor->offset;
    for (size_t choice = 0; choice < sum.size(); ++choice)
      sum[choice] += row[choice];
  }
}

/// min over `node` of the sum of `list`. Rows that the last node of the scope
/// does not change are added up once for all its choices.
Table Eliminator::minimise(unsigned node, ArrayRef<unsigned> list,
                           Decision *decision) {
  Table result;
  result.scope = scopeOf(list);
  llvm::erase(result.scope, node);
  std::vector<Cursor> cursors;
  for (unsigned table : list) {
    cursors.push_back(cursorOf(tables[table], node, result.scope));
    tables[table].cells = {};
  }
  std::vector<const Cursor *> outer, inner;
  for (const Cursor &cursor : cursors)
    (cursor.strides.empty() || cursor.strides.back() == 0 ? outer : inner)
        .push_back(&cursor);
  size_t count = cells(result.scope), choices = size(node);
  size_t innerCount = result.scope.empty() ? 1 : size(result.scope.back());
  work += double(count) * choices;
  result.cells.resize(count);
  std::vector<uint16_t> best(count, 0);
  std::vector<unsigned> digits(result.scope.size(), 0);
  std::vector<double> base(choices), sum(choices);
  for (size_t cell = 0; cell < count; ++cell) {
    if (cell % innerCount == 0)
      sumRows(outer, base);
    sum = base;
    for (const Cursor *cursor : inner) {
      const double *row = cursor->cells.data() + cursor->offset;
      for (size_t choice = 0; choice < choices; ++choice)
        sum[choice] += row[choice];
    }
    size_t least = llvm::min_element(sum) - sum.begin();
    best[cell] = least;
    result.cells[cell] = sum[least];
    for (size_t i = digits.size(); i-- > 0;) {
      bool wraps = ++digits[i] == size(result.scope[i]);
      for (Cursor &cursor : cursors)
        cursor.offset += wraps
                             ? -cursor.strides[i] * (size(result.scope[i]) - 1)
                             : cursor.strides[i];
      if (!wraps)
        break;
      digits[i] = 0;
    }
  }
  if (decision)
    *decision = {node, result.scope, std::move(best)};
  return result;
}

EliminationResult Eliminator::decode(ArrayRef<Decision> decisions) const {
  std::vector<unsigned> position(domains.size(), 0);
  for (const Decision &decision : llvm::reverse(decisions)) {
    size_t cell = 0;
    for (unsigned node : decision.scope)
      cell = cell * size(node) + position[node];
    position[decision.node] = decision.best[cell];
  }
  EliminationResult result;
  for (const auto &[node, p] : enumerate(position))
    result.choice.push_back(domains[node][p]);
  result.cost = result.lowerBound = constant;
  result.work = work;
  return result;
}

std::optional<EliminationResult> Eliminator::exact() {
  std::vector<Decision> decisions;
  while (!queue.empty()) {
    unsigned node = cheapestNode();
    if (costOf(node) > double(cellLimit))
      return std::nullopt;
    std::set<unsigned> touched = neighbours[node];
    std::vector<unsigned> list = takeTables(node);
    put(minimise(node, list, &decisions.emplace_back()));
    for (unsigned other : touched)
      requeue(other);
  }
  return decode(decisions);
}

//===----------------------------------------------------------------------===//
// Exact where it can be
//===----------------------------------------------------------------------===//

static double costOf(const CostGraph &graph, ArrayRef<unsigned> choice) {
  double cost = 0;
  for (const auto &[node, c] : zip_equal(graph.nodes, choice))
    cost += node[c];
  for (const CostGraph::Edge &edge : graph.edges)
    cost += edge.cells[choice[edge.a] * graph.nodes[edge.b].size() +
                       choice[edge.b]];
  return cost;
}

/// Tables that are computed without much thought.
static constexpr size_t kSmall = size_t(1) << 19;

namespace {

/// Closes in on the best solution from both sides: bounds from moved costs drop
/// choices until elimination is affordable.
class BoundedSearch {
public:
  BoundedSearch(const CostGraph &graph, Domains domains, size_t cellLimit,
                double cutoff)
      : graph(graph), domains(std::move(domains)), cellLimit(cellLimit),
        cutoff(cutoff) {
    best.cost = kIllegal;
  }
  EliminationResult run();

private:
  bool tryExact(const Domains &over, size_t limit, bool complete);
  void tryNarrow(const DualBound &dual);
  void offer(std::vector<unsigned> choice);
  double cap() const;

  const CostGraph &graph;
  Domains domains;
  size_t cellLimit;
  double cutoff;
  EliminationResult best;
  double work = 0;
};

} // namespace

/// More than any solution costs that is legal.
double BoundedSearch::cap() const {
  if (best.cost < kIllegal)
    return 2 * best.cost + 1e-300;
  double sum = 1e-12;
  auto addMost = [&](ArrayRef<double> costs) {
    double most = 0;
    for (double cost : costs)
      most = cost < kIllegal ? std::max(most, cost) : most;
    sum += most;
  };
  for (const std::vector<double> &node : graph.nodes)
    addMost(node);
  for (const CostGraph::Edge &edge : graph.edges)
    addMost(edge.cells);
  return 2 * sum;
}

void BoundedSearch::offer(std::vector<unsigned> choice) {
  double cost = costOf(graph, choice);
  if (cost < best.cost) {
    best.cost = cost;
    best.choice = std::move(choice);
  }
}

/// Whether elimination over these domains was affordable. If they are all that
/// can be best, so is what it finds.
bool BoundedSearch::tryExact(const Domains &over, size_t limit, bool complete) {
  Eliminator eliminator(graph, over, limit);
  std::optional<EliminationResult> result = eliminator.exact();
  work += eliminator.work;
  if (!result)
    return false;
  if (result->cost < kIllegal)
    offer(std::move(result->choice));
  if (complete)
    best.lowerBound = best.cost;
  return true;
}

/// Elimination over the few most promising choices of each node: a good
/// solution soon.
void BoundedSearch::tryNarrow(const DualBound &dual) {
  std::vector<std::vector<double>> slacks = dual.slacks();
  for (size_t width : {6, 4, 3, 2}) {
    Domains narrow = domains;
    for (const auto &[domain, slack] : zip_equal(narrow, slacks)) {
      std::vector<unsigned> order(domain.size());
      std::iota(order.begin(), order.end(), 0);
      llvm::stable_sort(order, [&slack = slack](unsigned a, unsigned b) {
        return slack[a] < slack[b];
      });
      order.resize(std::min(order.size(), width));
      llvm::sort(order);
      std::vector<unsigned> kept;
      for (unsigned position : order)
        kept.push_back(domain[position]);
      domain = std::move(kept);
    }
    if (tryExact(narrow, std::min(cellLimit, kSmall), /*complete=*/false))
      return;
  }
}

EliminationResult BoundedSearch::run() {
  constexpr unsigned kRounds = 3, kPasses = 200;
  double lowerBound = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    DualBound dual(graph, domains, cap());
    dual.improve(kPasses, best.cost);
    offer(dual.greedy());
    tryNarrow(dual);
    lowerBound = std::max(lowerBound, dual.lowerBound());
    if (lowerBound >= cutoff)
      break;
    if (best.cost == kIllegal)
      continue;
    bool changed = dual.prune(domains, best.cost);
    dropDeadEnds(graph, domains);
    if (tryExact(domains, cellLimit, /*complete=*/true)) {
      best.work = work;
      return best;
    }
    if (!changed)
      break;
  }
  best.lowerBound = std::min(lowerBound, best.cost);
  best.work = work;
  return best;
}

EliminationResult eliminate(const CostGraph &graph, size_t cellLimit,
                            double cutoff) {
  Domains domains = allChoices(graph);
  dropDeadEnds(graph, domains);
  EliminationResult illegal;
  illegal.cost = illegal.lowerBound = kIllegal;
  if (any_of(domains, [](const auto &domain) { return domain.empty(); }))
    return illegal;
  // What is cheap to eliminate needs no bounds.
  Eliminator whole(graph, domains, std::min(cellLimit, kSmall));
  if (std::optional<EliminationResult> result = whole.exact())
    return *result;
  return BoundedSearch(graph, std::move(domains), cellLimit, cutoff).run();
}

} // namespace autopar
