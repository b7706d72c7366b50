//===- BucketElimination.cpp - Elimination of node after node -------------===//

#include "BucketElimination.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

BucketElimination::BucketElimination(const CostGraph &graph,
                                     const Domains &domains)
    : domains(domains), tablesOf(graph.nodes.size()),
      neighbours(graph.nodes.size()), eliminated(graph.nodes.size(), false),
      kept(graph.nodes.size(), false), queued(graph.nodes.size(), -1) {
  for (const auto &[index, node] : enumerate(graph.nodes)) {
    CostTable table{{unsigned(index)}, {}};
    for (unsigned choice : domains[index])
      table.cells.push_back(node[choice]);
    put(std::move(table));
  }
  for (const CostGraph::Edge &edge : graph.edges) {
    // A node of one choice ties nothing together: a hub of many neighbours
    // would make a clique of them.
    CostTable table;
    if (size(edge.b) == 1)
      table.scope = {edge.a};
    else if (size(edge.a) == 1)
      table.scope = {edge.b};
    else
      table.scope = {edge.a, edge.b};
    size_t columns = graph.nodes[edge.b].size();
    table.cells.reserve(size(edge.a) * size(edge.b));
    bool whole = size(edge.b) == columns; // ascending: all of them
    for (unsigned a : domains[edge.a]) {
      auto row = ArrayRef(edge.cells).slice(a * columns, columns);
      if (whole)
        append_range(table.cells, row);
      else
        for (unsigned b : domains[edge.b])
          table.cells.push_back(row[b]);
    }
    put(std::move(table));
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Returns the cells to compute to eliminate `node`.
static double cellsOf(const Domains &domains, unsigned node,
                      const std::set<unsigned> &neighbours) {
  double cells = domains[node].size();
  for (unsigned other : neighbours)
    cells *= domains[other].size();
  return cells;
}

double BucketElimination::costOf(unsigned node) const {
  return cellsOf(domains, node, neighbours[node]);
}

/// Follows the elimination by sizes alone, without computing tables.
double largestTable(const CostGraph &graph, const Domains &domains,
                    double enough) {
  std::vector<std::set<unsigned>> around(domains.size());
  for (const CostGraph::Edge &edge : graph.edges)
    if (domains[edge.a].size() > 1 && domains[edge.b].size() > 1) {
      around[edge.a].insert(edge.b);
      around[edge.b].insert(edge.a);
    }
  double largest = 0;
  std::set<std::pair<double, unsigned>> order;
  std::vector<double> costs(domains.size());
  for (unsigned node = 0; node < domains.size(); ++node)
    if (domains[node].size() > 1)
      order.insert({costs[node] = cellsOf(domains, node, around[node]), node});
  while (!order.empty()) {
    auto [cost, node] = *order.begin();
    largest = std::max(largest, cost);
    if (largest > enough)
      return largest;
    order.erase(order.begin());
    for (unsigned other : around[node]) {
      order.erase({costs[other], other});
      around[other].insert(around[node].begin(), around[node].end());
      around[other].erase(other);
      around[other].erase(node);
      order.insert(
          {costs[other] = cellsOf(domains, other, around[other]), other});
    }
  }
  return largest;
}

void BucketElimination::requeue(unsigned node, size_t maxNeighbours) {
  if (queued[node] >= 0)
    queue.erase({queued[node], node});
  queued[node] = -1;
  if (eliminated[node] || kept[node] || neighbours[node].size() > maxNeighbours)
    return;
  queued[node] = costOf(node);
  queue.insert({queued[node], node});
}

void BucketElimination::eliminateAll() {
  for (unsigned node = 0; node < domains.size(); ++node)
    requeue(node, domains.size());
  while (!queue.empty())
    eliminateCheapest(domains.size());
}

void BucketElimination::eliminateChains(size_t cellLimit) {
  constexpr size_t kPair = 2;
  for (unsigned node = 0; node < domains.size(); ++node)
    requeue(node, kPair);
  while (!queue.empty() && queue.begin()->first <= double(cellLimit))
    eliminateCheapest(kPair);
}

void BucketElimination::eliminateCheapest(size_t maxNeighbours) {
  unsigned node = queue.begin()->second;
  queue.erase(queue.begin());
  queued[node] = -1;
  std::set<unsigned> touched = neighbours[node];
  std::vector<unsigned> list = takeTables(node);
  put(minimise(node, list));
  for (unsigned other : touched)
    requeue(other, maxNeighbours);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void BucketElimination::put(CostTable table) {
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

std::vector<unsigned> BucketElimination::takeTables(unsigned node) {
  std::vector<unsigned> taken(tablesOf[node].begin(), tablesOf[node].end());
  for (unsigned table : taken)
    for (unsigned member : tables[table].scope)
      tablesOf[member].erase(table);
  eliminated[node] = true;
  for (unsigned other : neighbours[node])
    neighbours[other].erase(node);
  return taken;
}

namespace {

/// One table of a join: its rows over the node that is minimised over come
/// one after the other, and are walked while the combinations of the join's
/// scope are counted through.
struct Cursor {
  std::vector<double> cells;
  std::vector<size_t> strides; // per node of the join's scope; 0: not in it
  size_t offset = 0;

  bool movesWithLast() const { return !strides.empty() && strides.back() != 0; }
};

} // namespace

/// Returns a cursor over `table`, which is used up, with `node` as the last of
/// its scope.
static Cursor cursorOf(CostTable &table, unsigned node,
                       ArrayRef<unsigned> scope, const Domains &domains) {
  Cursor cursor;
  cursor.strides.assign(scope.size(), 0);
  size_t stride = domains[node].size();
  std::vector<size_t> target(table.scope.size(), 0);
  for (size_t i = table.scope.size(); i-- > 0;) {
    unsigned member = table.scope[i];
    if (member == node) {
      target[i] = 1;
      continue;
    }
    target[i] = stride;
    cursor.strides[llvm::find(scope, member) - scope.begin()] = stride;
    stride *= domains[member].size();
  }
  std::vector<double> cells = std::exchange(table.cells, {});
  if (table.scope.back() == node) {
    cursor.cells = std::move(cells);
    return cursor;
  }
  cursor.cells.resize(cells.size());
  std::vector<unsigned> digits(table.scope.size() - 1,
                               0); // without the last
  size_t to = 0, last = domains[table.scope.back()].size();
  for (size_t from = 0; from < cells.size(); from += last) {
    for (size_t choice = 0; choice < last; ++choice)
      cursor.cells[to + choice * target.back()] = cells[from + choice];
    for (size_t i = digits.size(); i-- > 0;) {
      to += target[i];
      if (++digits[i] < domains[table.scope[i]].size())
        break;
      to -= target[i] * digits[i];
      digits[i] = 0;
    }
  }
  return cursor;
}

/// Sets `sum` to `base` plus the rows at which the cursors stand.
static void addRows(ArrayRef<double> base, ArrayRef<const Cursor *> cursors,
                    MutableArrayRef<double> sum) {
  if (cursors.empty())
    return (void)llvm::copy(base, sum.begin());
  auto rowOf = [](const Cursor *cursor) {
    return cursor->cells.data() + cursor->offset;
  };
  const double *first = rowOf(cursors.front());
  for (size_t choice = 0; choice < sum.size(); ++choice)
    sum[choice] = base[choice] + first[choice];
  for (const Cursor *cursor : cursors.drop_front()) {
    const double *row = rowOf(cursor);
    for (size_t choice = 0; choice < sum.size(); ++choice)
      sum[choice] += row[choice];
  }
}

/// Advances to the next combination: the last of the scope varies fastest.
static void advance(MutableArrayRef<unsigned> digits, ArrayRef<size_t> sizes,
                    MutableArrayRef<Cursor> cursors) {
  for (size_t i = digits.size(); i-- > 0;) {
    bool wraps = ++digits[i] == sizes[i];
    for (Cursor &cursor : cursors)
      cursor.offset +=
          wraps ? -cursor.strides[i] * (sizes[i] - 1) : cursor.strides[i];
    if (!wraps)
      return;
    digits[i] = 0;
  }
}

/// Computes the minimum over `node` of the sum of `list`. Rows that the last
/// node of the scope does not change are added up once for all its choices.
CostTable BucketElimination::minimise(unsigned node, ArrayRef<unsigned> list) {
  CostTable result;
  std::set<unsigned> scope;
  for (unsigned table : list)
    scope.insert(tables[table].scope.begin(), tables[table].scope.end());
  scope.erase(node);
  result.scope.assign(scope.begin(), scope.end());
  std::vector<Cursor> cursors;
  for (unsigned table : list)
    cursors.push_back(cursorOf(tables[table], node, result.scope, domains));
  std::vector<const Cursor *> outer, inner;
  for (const Cursor &cursor : cursors)
    (cursor.movesWithLast() ? inner : outer).push_back(&cursor);
  std::vector<size_t> sizes;
  size_t count = 1, choices = size(node);
  for (unsigned member : result.scope) {
    sizes.push_back(size(member));
    count *= sizes.back();
  }
  work += double(count) * choices;
  result.cells.resize(count);
  Decision decision{node, result.scope, std::vector<uint16_t>(count, 0)};
  std::vector<unsigned> digits(result.scope.size(), 0);
  std::vector<double> none(choices, 0), base(choices), sum(choices);
  for (size_t cell = 0; cell < count; ++cell) {
    if (digits.empty() || digits.back() == 0)
      addRows(none, outer, base);
    addRows(base, inner, sum);
    size_t least = llvm::min_element(sum) - sum.begin();
    decision.best[cell] = least;
    result.cells[cell] = sum[least];
    advance(digits, sizes, cursors);
  }
  decisions.push_back(std::move(decision));
  return result;
}

//===----------------------------------------------------------------------===//
// The remaining graph and decoding
//===----------------------------------------------------------------------===//

CostGraph BucketElimination::rest(std::vector<unsigned> &nodes) const {
  CostGraph graph;
  std::vector<unsigned> numberOf(domains.size(), 0);
  for (unsigned node = 0; node < domains.size(); ++node)
    if (!eliminated[node]) {
      numberOf[node] = nodes.size();
      nodes.push_back(node);
      graph.nodes.emplace_back(size(node), 0.0);
    }
  std::map<std::pair<unsigned, unsigned>, unsigned> index;
  for (const CostTable &table : tables) {
    if (table.cells.empty())
      continue;
    unsigned a = numberOf[table.scope.front()],
             b = numberOf[table.scope.back()];
    if (a != b && index.try_emplace({a, b}, graph.edges.size()).second)
      graph.edges.push_back(
          {a, b, std::vector<double>(table.cells.size(), 0.0)});
    std::vector<double> &sum =
        a == b ? graph.nodes[a] : graph.edges[index[{a, b}]].cells;
    for (auto [total, cell] : zip_equal(sum, table.cells))
      total += cell;
  }
  return graph;
}

std::vector<unsigned>
BucketElimination::decode(ArrayRef<unsigned> nodes,
                          ArrayRef<unsigned> positions) const {
  std::vector<unsigned> position(domains.size(), 0);
  for (auto [node, p] : zip_equal(nodes, positions))
    position[node] = p;
  for (const Decision &decision : llvm::reverse(decisions)) {
    size_t cell = 0;
    for (unsigned node : decision.scope)
      cell = cell * size(node) + position[node];
    position[decision.node] = decision.best[cell];
  }
  std::vector<unsigned> choice;
  for (const auto &[node, p] : enumerate(position))
    choice.push_back(domains[node][p]);
  return choice;
}

} // namespace autopar
