//===- DualBound.cpp - Sequential tree-reweighted message passing ---------===//

#include "autopar/Planning/Solver/DualBound.h"
#include "Minima.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Sums of a few numbers up to this one are finite as floats.
static constexpr double kLargest = 1e30;

static unsigned otherEnd(const CostGraph::Edge &edge, unsigned node) {
  return edge.a == node ? edge.b : edge.a;
}

DualBound::DualBound(const CostGraph &graph, const Domains &domains, double cap,
                     const MessageTable &start)
    : graph(graph), domains(domains), cap(std::min(cap, kLargest)),
      edgesOf(graph.nodes.size()) {
  for (const auto &[costs, domain] : zip_equal(graph.nodes, domains)) {
    std::vector<double> &node = nodes.emplace_back();
    for (unsigned choice : domain)
      node.push_back(std::min(costs[choice], this->cap));
  }
  auto startOf = [&](unsigned node, ArrayRef<double> messages) {
    std::vector<double> given(domains[node].size(), 0);
    if (!messages.empty())
      for (auto [message, cost, choice] :
           zip_equal(given, nodes[node], domains[node])) {
        message = std::clamp(messages[choice], -this->cap, this->cap);
        cost -= message;
      }
    return given;
  };
  for (const CostGraph::Edge &edge : graph.edges) {
    auto from = start.find({edge.a, edge.b});
    const EdgeMessages none, &given = from == start.end() ? none : from->second;
    Edge item{edge,
              1,
              {},
              {},
              startOf(edge.a, given.ofA),
              startOf(edge.b, given.ofB)};
    item.cells.reserve(item.ofRows.size() * item.ofColumns.size());
    size_t columns = graph.nodes[edge.b].size();
    for (unsigned a : domains[edge.a])
      for (unsigned b : domains[edge.b])
        item.cells.push_back(std::min(edge.cells[a * columns + b], this->cap));
    item.rounded.assign(item.cells.begin(), item.cells.end());
    edgesOf[edge.a].push_back(edges.size());
    edgesOf[edge.b].push_back(edges.size());
    edges.push_back(std::move(item));
  }
}

double DualBound::at(const Edge &edge, size_t row, size_t column) const {
  return edge.cells[row * edge.ofColumns.size() + column] + edge.ofRows[row] +
         edge.ofColumns[column];
}

std::pair<std::vector<double>, std::vector<double>>
DualBound::leastOf(const Edge &edge) const {
  size_t rows = edge.ofRows.size(), columns = edge.ofColumns.size();
  std::vector<double> rowsLeast(rows), columnsLeast(columns, kIllegal);
  leastOfBoth(edge.cells.data(), edge.ofRows.data(), edge.ofColumns.data(),
              columns, rowsLeast.data(), columnsLeast.data(), rows);
  return {std::move(rowsLeast), std::move(columnsLeast)};
}

/// Moves to `node`, from every edge, the least that the edge costs with each
/// choice of `node`.
void DualBound::pull(unsigned node) {
  SmallVector<float, 256> least, beside;
  for (unsigned index : edgesOf[node]) {
    Edge &edge = edges[index];
    bool isRow = edge.exact.a == node;
    if (edge.pulledBy == node) // nothing changed since
      continue;
    edge.pulledBy = node;
    const std::vector<double> &other = isRow ? edge.ofColumns : edge.ofRows;
    beside.assign(other.begin(), other.end());
    least.resize(nodes[node].size());
    (isRow ? leastOfRows : leastOfColumns)(edge.rounded.data(), beside.data(),
                                           edge.ofColumns.size(), least.data(),
                                           edge.ofRows.size());
    std::vector<double> &given = isRow ? edge.ofRows : edge.ofColumns;
    for (auto [cost, own, taken] : zip_equal(nodes[node], given, least)) {
      cost += own + double(taken);
      own = -double(taken);
    }
  }
}

/// Moves costs of `node` to the edges `to`: each gets its share of `weight`.
void DualBound::give(unsigned node, ArrayRef<unsigned> to, double weight) {
  double share = 1.0 / weight, given = 0;
  for (unsigned index : to)
    given += edges[index].weight;
  SmallVector<double, 64> parts;
  for (double &cost : nodes[node]) {
    parts.push_back(cost * share);
    cost -= parts.back() * given;
  }
  for (unsigned index : to) {
    Edge &edge = edges[index];
    edge.pulledBy.reset();
    for (auto [sum, part] :
         zip_equal(edge.exact.a == node ? edge.ofRows : edge.ofColumns, parts))
      sum += part * edge.weight;
  }
}

/// Moves shares of the costs of `node` to the edges ahead.
void DualBound::push(unsigned node, bool forward) {
  SmallVector<unsigned> ahead;
  double weightAhead = 0, weightBehind = 0;
  for (unsigned index : edgesOf[node]) {
    const Edge &edge = edges[index];
    bool isAhead = (otherEnd(edge.exact, node) > node) == forward;
    (isAhead ? weightAhead : weightBehind) += edge.weight;
    if (isAhead)
      ahead.push_back(index);
  }
  if (!ahead.empty())
    give(node, ahead, std::max(weightAhead, weightBehind));
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

void DualBound::weigh(ArrayRef<double> weights) {
  for (auto [edge, weight] : zip_equal(edges, weights))
    edge.weight = weight;
}

void DualBound::spread(unsigned passes) {
  for (unsigned done = 0; done < passes; ++done)
    for (unsigned node = 0; node < nodes.size(); ++node) {
      pull(node);
      double weight = 0;
      for (unsigned index : edgesOf[node])
        weight += edges[index].weight;
      if (weight > 0)
        give(node, edgesOf[node], weight);
    }
}

double DualBound::lowerBound() const {
  double bound = 0;
  for (const std::vector<double> &node : nodes)
    bound += *llvm::min_element(node);
  for (const Edge &edge : edges)
    bound +=
        leastOfAll(edge.cells.data(), edge.ofRows.data(), edge.ofColumns.data(),
                   edge.ofColumns.size(), edge.ofRows.size());
  // Sums of messages, which are about `cap` at most, are rounded.
  constexpr double kRounding = 1e-14;
  return bound - kRounding * cap * double(nodes.size() + edges.size());
}

std::vector<std::vector<double>> DualBound::slacks() const {
  std::vector<std::vector<double>> slacks = nodes;
  for (std::vector<double> &node : slacks) {
    double least = *llvm::min_element(node);
    for (double &cost : node)
      cost -= least;
  }
  for (const Edge &edge : edges) {
    auto [rows, columns] = leastOf(edge);
    double least = *llvm::min_element(rows);
    for (auto [slack, row] : zip_equal(slacks[edge.exact.a], rows))
      slack += row - least;
    for (auto [slack, column] : zip_equal(slacks[edge.exact.b], columns))
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
      bool fromA = edge.exact.a == node;
      unsigned other = otherEnd(edge.exact, node);
      if (other < node)
        for (size_t mine = 0; mine < costs.size(); ++mine)
          costs[mine] += fromA ? at(edge, mine, position[other])
                               : at(edge, position[other], mine);
    }
    position[node] = llvm::min_element(costs) - costs.begin();
    choice.push_back(domains[node][position[node]]);
  }
  return choice;
}

MessageTable DualBound::messages() const {
  MessageTable table;
  auto spread = [&](unsigned node, ArrayRef<double> given) {
    std::vector<double> messages(graph.nodes[node].size(), 0);
    for (auto [message, choice] : zip_equal(given, domains[node]))
      messages[choice] = message;
    return messages;
  };
  for (const Edge &edge : edges)
    table[{edge.exact.a, edge.exact.b}] = {
        spread(edge.exact.a, edge.ofRows),
        spread(edge.exact.b, edge.ofColumns)};
  return table;
}

} // namespace autopar
