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
    Edge item{
        edge.a, edge.b, domains[edge.a].size(), domains[edge.b].size(), {}};
    for (unsigned a : domains[edge.a])
      for (unsigned b : domains[edge.b])
        item.cells.push_back(std::min(edge.cells[a * columns + b], cap));
    edgesOf[edge.a].push_back(edges.size());
    edgesOf[edge.b].push_back(edges.size());
    edges.push_back(std::move(item));
  }
}

/// Per row of the matrix its least cell, which is taken from the row.
static void takeFromRows(MutableArrayRef<double> cells, size_t columns,
                         MutableArrayRef<double> sum) {
  double *row = cells.data();
  for (double &total : sum) {
    double least = row[0];
    for (size_t column = 1; column < columns; ++column)
      least = std::min(least, row[column]);
    for (size_t column = 0; column < columns; ++column)
      row[column] -= least;
    total += least;
    row += columns;
  }
}

/// The same per column, row by row through memory.
static void takeFromColumns(MutableArrayRef<double> cells, size_t columns,
                            MutableArrayRef<double> sum) {
  SmallVector<double, 64> least(cells.begin(), cells.begin() + columns);
  for (size_t start = columns; start < cells.size(); start += columns)
    for (size_t column = 0; column < columns; ++column)
      least[column] = std::min(least[column], cells[start + column]);
  for (size_t start = 0; start < cells.size(); start += columns)
    for (size_t column = 0; column < columns; ++column)
      cells[start + column] -= least[column];
  for (size_t column = 0; column < columns; ++column)
    sum[column] += least[column];
}

/// Takes from every edge what it costs at least beside each choice of `node`.
void DualBound::pull(unsigned node) {
  for (unsigned index : edgesOf[node]) {
    Edge &edge = edges[index];
    if (edge.a == node)
      takeFromRows(edge.cells, edge.columns, nodes[node]);
    else
      takeFromColumns(edge.cells, edge.columns, nodes[node]);
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
    bool isRow = edge.a == node;
    for (size_t row = 0; row < edge.rows; ++row)
      for (size_t column = 0; column < edge.columns; ++column)
        edge.cells[row * edge.columns + column] += parts[isRow ? row : column];
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
    bound += *llvm::min_element(edge.cells);
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
    double least = *llvm::min_element(edge.cells);
    std::vector<double> rows(edge.rows, kIllegal),
        columns(edge.columns, kIllegal);
    for (size_t row = 0; row < edge.rows; ++row)
      for (size_t column = 0; column < edge.columns; ++column) {
        double cost = edge.cells[row * edge.columns + column] - least;
        rows[row] = std::min(rows[row], cost);
        columns[column] = std::min(columns[column], cost);
      }
    for (auto [slack, row] : zip_equal(slacks[edge.a], rows))
      slack += row;
    for (auto [slack, column] : zip_equal(slacks[edge.b], columns))
      slack += column;
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
          costs[mine] +=
              fromA ? edge.cells[mine * edge.columns + position[other]]
                    : edge.cells[position[other] * edge.columns + mine];
    }
    position[node] = llvm::min_element(costs) - costs.begin();
    choice.push_back(domains[node][position[node]]);
  }
  return choice;
}

} // namespace autopar
