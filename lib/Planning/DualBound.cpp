//===- DualBound.cpp - Sequential tree-reweighted message passing ---------===//

#include "DualBound.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

DualBound::DualBound(const CostGraph &graph, const Domains &domains, double cap)
    : domains(domains), edgesOf(graph.nodes.size()) {
  for (const auto &[costs, domain] : zip_equal(graph.nodes, domains)) {
    std::vector<double> &node = nodes.emplace_back();
    for (unsigned choice : domain)
      node.push_back(std::min(costs[choice], cap));
  }
  for (const CostGraph::Edge &edge : graph.edges) {
    size_t columns = graph.nodes[edge.b].size();
    Edge item{edge.a,
              edge.b,
              {},
              std::vector<double>(domains[edge.a].size(), 0),
              std::vector<double>(domains[edge.b].size(), 0)};
    for (unsigned a : domains[edge.a])
      for (unsigned b : domains[edge.b])
        item.cells.push_back(std::min(edge.cells[a * columns + b], cap));
    edgesOf[edge.a].push_back(edges.size());
    edgesOf[edge.b].push_back(edges.size());
    edges.push_back(std::move(item));
  }
}

/// Per row its least cell beside what the columns were given.
static void leastOfRows(ArrayRef<double> cells, ArrayRef<double> ofColumns,
                        MutableArrayRef<double> least) {
  constexpr size_t kLanes = 8; // side by side: a compiler makes vectors of them
  size_t columns = ofColumns.size();
  const double *row = cells.data();
  for (double &result : least) {
    double lanes[kLanes];
    std::fill_n(lanes, kLanes, kIllegal);
    size_t column = 0;
    for (; column + kLanes <= columns; column += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = std::min(lanes[lane],
                               row[column + lane] + ofColumns[column + lane]);
    for (; column < columns; ++column)
      lanes[0] = std::min(lanes[0], row[column] + ofColumns[column]);
    result = *std::min_element(lanes, lanes + kLanes);
    row += columns;
  }
}

/// The same per column, row by row through memory.
static void leastOfColumns(ArrayRef<double> cells, ArrayRef<double> ofRows,
                           MutableArrayRef<double> least) {
  llvm::fill(least, kIllegal);
  const double *cell = cells.data();
  for (double ofRow : ofRows)
    for (double &result : least)
      result = std::min(result, *cell++ + ofRow);
}

std::vector<double> DualBound::Edge::leastPerRow() const {
  std::vector<double> least(ofRows.size());
  leastOfRows(cells, ofColumns, least);
  for (auto [result, given] : zip_equal(least, ofRows))
    result += given;
  return least;
}

std::vector<double> DualBound::Edge::leastPerColumn() const {
  std::vector<double> least(ofColumns.size());
  leastOfColumns(cells, ofRows, least);
  for (auto [result, given] : zip_equal(least, ofColumns))
    result += given;
  return least;
}

/// Takes from every edge what it costs at least beside each choice of `node`.
void DualBound::pull(unsigned node) {
  SmallVector<double, 64> least(nodes[node].size());
  for (unsigned index : edgesOf[node]) {
    Edge &edge = edges[index];
    bool isRow = edge.a == node;
    if (isRow)
      leastOfRows(edge.cells, edge.ofColumns, least);
    else
      leastOfColumns(edge.cells, edge.ofRows, least);
    std::vector<double> &given = isRow ? edge.ofRows : edge.ofColumns;
    for (auto [cost, own, other] : zip_equal(nodes[node], given, least)) {
      cost += own + other;
      own = -other;
    }
  }
}

/// Gives equal shares of what `node` costs to the edges ahead.
void DualBound::push(unsigned node, bool forward) {
  SmallVector<unsigned> ahead;
  for (unsigned index : edgesOf[node]) {
    unsigned other = edges[index].a == node ? edges[index].b : edges[index].a;
    if ((other > node) == forward)
      ahead.push_back(index);
  }
  if (ahead.empty())
    return;
  size_t behind = edgesOf[node].size() - ahead.size();
  double share = 1.0 / std::max(ahead.size(), behind);
  SmallVector<double, 64> parts;
  for (double &cost : nodes[node]) {
    parts.push_back(cost * share);
    cost -= parts.back() * ahead.size();
  }
  for (unsigned index : ahead) {
    Edge &edge = edges[index];
    for (auto [given, part] :
         zip_equal(edge.a == node ? edge.ofRows : edge.ofColumns, parts))
      given += part;
  }
}

void DualBound::pass() {
  for (unsigned node = 0; node < nodes.size(); ++node) {
    pull(node);
    push(node, /*forward=*/true);
  }
  for (unsigned node = nodes.size(); node-- > 0;) {
    pull(node);
    push(node, /*forward=*/false);
  }
}

void DualBound::improve(unsigned passes, double upperBound) {
  constexpr unsigned kStep = 10;
  double before = lowerBound();
  for (unsigned done = 0; done < passes; done += kStep) {
    for (unsigned i = 0; i < kStep; ++i)
      pass();
    double after = lowerBound();
    double room = upperBound < kIllegal ? upperBound - after : after;
    if (room <= 0 || after - before <= 5e-3 * room)
      return;
    before = after;
  }
}

double DualBound::lowerBound() const {
  double bound = 0;
  for (const std::vector<double> &node : nodes)
    bound += *llvm::min_element(node);
  for (const Edge &edge : edges)
    bound += *llvm::min_element(edge.leastPerRow());
  return bound;
}

std::vector<std::vector<double>> DualBound::slacks() const {
  std::vector<std::vector<double>> slacks = nodes;
  for (std::vector<double> &node : slacks) {
    double least = *llvm::min_element(node);
    for (double &cost : node)
      cost -= least;
  }
  for (const Edge &edge : edges) {
    std::vector<double> rows = edge.leastPerRow(),
                        columns = edge.leastPerColumn();
    double least = *llvm::min_element(rows);
    for (auto [slack, row] : zip_equal(slacks[edge.a], rows))
      slack += row - least;
    for (auto [slack, column] : zip_equal(slacks[edge.b], columns))
      slack += column - least;
  }
  return slacks;
}

bool DualBound::prune(Domains &kept, double upperBound) const {
  // Rounding must not drop the best solution itself.
  double room = upperBound - lowerBound() + 1e-9 * upperBound;
  std::vector<std::vector<double>> slack = slacks();
  bool changed = false;
  for (unsigned node = 0; node < nodes.size(); ++node) {
    std::vector<unsigned> rest;
    for (const auto &[position, choice] : enumerate(domains[node]))
      if (slack[node][position] <= room)
        rest.push_back(choice);
    changed |= rest.size() != kept[node].size();
    kept[node] = std::move(rest);
  }
  return changed;
}

std::vector<unsigned> DualBound::greedy() const {
  std::vector<unsigned> position(nodes.size(), 0), choice;
  for (unsigned node = 0; node < nodes.size(); ++node) {
    std::vector<double> costs = nodes[node];
    for (unsigned index : edgesOf[node]) {
      const Edge &edge = edges[index];
      bool fromA = edge.a == node;
      unsigned other = fromA ? edge.b : edge.a;
      if (other < node)
        for (size_t mine = 0; mine < costs.size(); ++mine)
          costs[mine] += fromA ? edge.at(mine, position[other])
                               : edge.at(position[other], mine);
    }
    position[node] = llvm::min_element(costs) - costs.begin();
    choice.push_back(domains[node][position[node]]);
  }
  return choice;
}

} // namespace autopar
