//===- Elimination.cpp - Bucket elimination -------------------------------===//

#include "autopar/Planning/Elimination.h"
#include "DeadEnds.h"
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

/// Eliminates nodes over given domains.
class Eliminator {
public:
  Eliminator(const CostGraph &graph, const Domains &domains, size_t cellLimit);

  /// Eliminates all; nullopt where a table would be too large: `tooLarge` then
  /// holds its nodes.
  std::optional<EliminationResult> exact();
  /// Splits what is too large: the cost is a lower bound only.
  double lowerBound();

  std::vector<unsigned> tooLarge;
  double work = 0;

private:
  size_t size(unsigned node) const { return domains[node].size(); }
  size_t cells(ArrayRef<unsigned> scope) const;
  unsigned cheapestNode() const;
  double costOf(unsigned node) const;
  std::vector<unsigned> takeTables(unsigned node);
  std::vector<unsigned> scopeOf(ArrayRef<unsigned> tables) const;
  Table minimise(unsigned node, ArrayRef<unsigned> tables, Decision *decision);
  void put(Table table);
  std::vector<std::vector<unsigned>> miniBuckets(ArrayRef<unsigned> tables,
                                                 unsigned node) const;
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

/// Walks one table while the combinations of a larger scope are counted
/// through.
struct Cursor {
  const double *cells;
  std::vector<size_t> strides; // per node of the larger scope; 0: not in it
  size_t nodeStride = 0;       // of the node that is minimised over
  size_t offset = 0;
};

} // namespace

/// min over `node` of the sum of `list`.
Table Eliminator::minimise(unsigned node, ArrayRef<unsigned> list,
                           Decision *decision) {
  Table result;
  result.scope = scopeOf(list);
  llvm::erase(result.scope, node);
  std::vector<Cursor> cursors;
  for (unsigned table : list) {
    Cursor cursor{tables[table].cells.data(),
                  std::vector<size_t>(result.scope.size(), 0), 0, 0};
    size_t stride = 1;
    for (unsigned member : llvm::reverse(tables[table].scope)) {
      if (member == node)
        cursor.nodeStride = stride;
      else
        cursor
            .strides[llvm::find(result.scope, member) - result.scope.begin()] =
            stride;
      stride *= size(member);
    }
    cursors.push_back(std::move(cursor));
  }
  size_t count = cells(result.scope), choices = size(node);
  work += double(count) * choices;
  result.cells.resize(count);
  std::vector<uint16_t> best(count);
  std::vector<unsigned> digits(result.scope.size(), 0);
  for (size_t cell = 0; cell < count; ++cell) {
    double least = kIllegal;
    for (size_t choice = 0; choice < choices; ++choice) {
      double cost = 0;
      for (const Cursor &cursor : cursors)
        cost += cursor.cells[cursor.offset + choice * cursor.nodeStride];
      if (cost < least) {
        least = cost;
        best[cell] = choice;
      }
    }
    result.cells[cell] = least;
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
  for (unsigned table : list)
    tables[table].cells = {};
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
    if (costOf(node) > double(cellLimit)) {
      tooLarge.assign(neighbours[node].begin(), neighbours[node].end());
      tooLarge.push_back(node);
      return std::nullopt;
    }
    std::set<unsigned> touched = neighbours[node];
    std::vector<unsigned> list = takeTables(node);
    put(minimise(node, list, &decisions.emplace_back()));
    for (unsigned other : touched)
      requeue(other);
  }
  return decode(decisions);
}

/// Tables grouped so that each group's join stays below the limit.
std::vector<std::vector<unsigned>>
Eliminator::miniBuckets(ArrayRef<unsigned> list, unsigned node) const {
  std::vector<std::vector<unsigned>> groups;
  std::vector<std::vector<unsigned>> scopes;
  for (unsigned table : list) {
    bool placed = false;
    for (auto [group, scope] : zip_equal(groups, scopes)) {
      std::vector<unsigned> joined = group;
      joined.push_back(table);
      std::vector<unsigned> joinedScope = scopeOf(joined);
      if (cells(joinedScope) > cellLimit)
        continue;
      group = std::move(joined);
      scope = std::move(joinedScope);
      placed = true;
      break;
    }
    if (!placed) {
      groups.push_back({table});
      scopes.push_back(tables[table].scope);
    }
  }
  return groups;
}

double Eliminator::lowerBound() {
  while (!queue.empty()) {
    unsigned node = cheapestNode();
    std::set<unsigned> touched = neighbours[node];
    std::vector<unsigned> list = takeTables(node);
    for (const std::vector<unsigned> &group : miniBuckets(list, node))
      put(minimise(node, group, nullptr));
    for (unsigned other : touched)
      requeue(other);
  }
  return constant;
}

//===----------------------------------------------------------------------===//
// Exact where it can be
//===----------------------------------------------------------------------===//

/// Halves the largest domain among `nodes`, keeping what looks cheapest.
static void narrow(const CostGraph &graph, Domains &domains,
                   ArrayRef<unsigned> nodes) {
  unsigned widest = *llvm::max_element(nodes, [&](unsigned a, unsigned b) {
    return domains[a].size() < domains[b].size();
  });
  std::vector<double> costs = optimisticCosts(graph, domains, widest);
  std::vector<unsigned> order(domains[widest].size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return costs[a] < costs[b]; });
  order.resize(std::max<size_t>(1, order.size() / 2));
  llvm::sort(order);
  std::vector<unsigned> kept;
  for (unsigned position : order)
    kept.push_back(domains[widest][position]);
  domains[widest] = std::move(kept);
}

EliminationResult eliminate(const CostGraph &graph, size_t cellLimit) {
  Domains domains = allChoices(graph);
  dropDeadEnds(graph, domains);
  EliminationResult illegal;
  illegal.cost = illegal.lowerBound = kIllegal;
  if (any_of(domains, [](const auto &domain) { return domain.empty(); }))
    return illegal;
  Eliminator whole(graph, domains, cellLimit);
  if (std::optional<EliminationResult> result = whole.exact())
    return *result;
  Eliminator relaxed(graph, domains, cellLimit / 8);
  double lowerBound = relaxed.lowerBound();
  double work = whole.work + relaxed.work;
  narrow(graph, domains, whole.tooLarge);
  while (true) {
    Eliminator part(graph, domains, cellLimit);
    std::optional<EliminationResult> result = part.exact();
    work += part.work;
    if (result) {
      result->lowerBound = std::min(lowerBound, result->cost);
      result->work = work;
      return *result;
    }
    narrow(graph, domains, part.tooLarge);
  }
}

} // namespace autopar
