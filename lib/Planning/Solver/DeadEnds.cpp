//===- DeadEnds.cpp - Choices that no best solution needs -----------------===//

#include "autopar/Planning/Solver/DeadEnds.h"
#include "Minima.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// An edge from the point of view of one of its nodes.
struct Side {
  const CostGraph::Edge *edge;
  unsigned other;
  bool isRows; // the other's choices are columns
  size_t columns;
};

using Adjacency = std::vector<SmallVector<Side, 4>>;

} // namespace

static Adjacency adjacencyOf(const CostGraph &graph) {
  Adjacency sides(graph.nodes.size());
  for (const CostGraph::Edge &edge : graph.edges) {
    size_t columns = graph.nodes[edge.b].size();
    sides[edge.a].push_back({&edge, edge.b, true, columns});
    sides[edge.b].push_back({&edge, edge.a, false, columns});
  }
  return sides;
}

Domains allChoices(const CostGraph &graph) {
  Domains domains(graph.nodes.size());
  for (const auto &[node, domain] : zip_equal(graph.nodes, domains))
    for (unsigned choice = 0; choice < node.size(); ++choice)
      if (node[choice] < kIllegal)
        domain.push_back(choice);
  return domains;
}

namespace {

/// The costs of an edge over the domains of its nodes, from the point of view
/// of one of them.
struct Matrix {
  size_t own, others;
  std::vector<double> perOwn;     // the choices of `own` one after the other
  std::vector<double> perOther;   // the same transposed
  std::vector<size_t> bestBeside; // per own choice the cheapest other one

  Matrix(const Side &side, ArrayRef<unsigned> ownDomain,
         ArrayRef<unsigned> otherDomain);
  ArrayRef<double> rowOf(size_t choice) const {
    return ArrayRef(perOwn).slice(choice * others, others);
  }
};

/// The costs of one node's choices: by themselves, and with each of its
/// neighbours' choices.
struct Star {
  std::vector<double> costs;
  std::vector<Matrix> matrices;

  /// Returns whether `better` costs no more than `worse` whatever the
  /// neighbours choose.
  bool dominates(size_t better, size_t worse) const;
  /// Computes, per choice, how much more it costs than `worse` where the
  /// neighbours have the choices that are best for `worse`. The largest loss
  /// over all choices of the neighbours is no less. Sets all losses to
  /// -kIllegal, which says nothing, if `worse` is illegal there.
  void leastLosses(size_t worse, MutableArrayRef<double> losses) const;
};

} // namespace

/// Copies the listed rows and columns of `cells` to `result`.
static void compress(const double *cells, size_t stride,
                     ArrayRef<unsigned> rows, ArrayRef<unsigned> columns,
                     std::vector<double> &result) {
  double *out = result.data();
  bool whole = columns.size() == stride; // ascending: all of them
  for (unsigned row : rows) {
    const double *from = cells + row * stride;
    if (whole)
      out = std::copy(from, from + stride, out);
    else
      for (unsigned column : columns)
        *out++ = from[column];
  }
}

/// Transposes block by block, so that elements read across rows stay in the
/// cache.
static void transpose(const std::vector<double> &from, size_t rows,
                      size_t columns, std::vector<double> &to) {
  constexpr size_t kBlock = 16;
  for (size_t r = 0; r < rows; r += kBlock)
    for (size_t c = 0; c < columns; c += kBlock)
      for (size_t column = c; column < std::min(c + kBlock, columns); ++column)
        for (size_t row = r; row < std::min(r + kBlock, rows); ++row)
          to[column * rows + row] = from[row * columns + column];
}

Matrix::Matrix(const Side &side, ArrayRef<unsigned> ownDomain,
               ArrayRef<unsigned> otherDomain)
    : own(ownDomain.size()), others(otherDomain.size()), perOwn(own * others),
      perOther(own * others), bestBeside(own, 0) {
  const double *cells = side.edge->cells.data();
  if (side.isRows) {
    compress(cells, side.columns, ownDomain, otherDomain, perOwn);
    transpose(perOwn, own, others, perOther);
  } else {
    compress(cells, side.columns, otherDomain, ownDomain, perOther);
    transpose(perOther, others, own, perOwn);
  }
  for (size_t choice = 0; choice < own; ++choice)
    bestBeside[choice] =
        llvm::min_element(rowOf(choice)) - rowOf(choice).begin();
}

bool Star::dominates(size_t better, size_t worse) const {
  double loss = costs[better] - costs[worse];
  for (const Matrix &matrix : matrices) {
    // The excess is kIllegal where only `better` can be illegal, -kIllegal
    // where `worse` always is.
    double ofEdge = mostExcess(matrix.rowOf(better), matrix.rowOf(worse));
    if (ofEdge == -kIllegal)
      return true;
    loss += ofEdge;
    if (loss == kIllegal)
      return false;
  }
  return loss < 0 || (loss == 0 && better < worse);
}

void Star::leastLosses(size_t worse, MutableArrayRef<double> losses) const {
  for (auto [loss, cost] : zip_equal(losses, costs))
    loss = cost - costs[worse];
  for (const Matrix &matrix : matrices) {
    size_t other = matrix.bestBeside[worse];
    double worseCost = matrix.rowOf(worse)[other];
    if (worseCost == kIllegal)
      return llvm::fill(losses, -kIllegal);
    const double *beside = matrix.perOther.data() + other * matrix.own;
    for (size_t better = 0; better < losses.size(); ++better)
      losses[better] += beside[better] - worseCost;
  }
}

static bool dropOfNode(const CostGraph &graph, Domains &domains,
                       ArrayRef<Side> sides, unsigned node) {
  std::vector<unsigned> &domain = domains[node];
  size_t choices = domain.size();
  Star star;
  for (unsigned choice : domain)
    star.costs.push_back(graph.nodes[node][choice]);
  for (const Side &side : sides)
    star.matrices.emplace_back(side, domain, domains[side.other]);
  std::vector<bool> alive(choices, true);
  std::vector<double> losses(choices);
  for (size_t worse = 0; worse < choices; ++worse) {
    star.leastLosses(worse, losses);
    for (size_t better = 0; better < choices && alive[worse]; ++better)
      if (losses[better] <= 0 && better != worse && alive[better] &&
          star.dominates(better, worse))
        alive[worse] = false;
  }
  std::vector<unsigned> kept;
  for (size_t choice = 0; choice < choices; ++choice)
    if (alive[choice])
      kept.push_back(domain[choice]);
  domain = std::move(kept);
  return domain.size() != choices;
}

void dropDeadEnds(const CostGraph &graph, Domains &domains) {
  Adjacency sides = adjacencyOf(graph);
  constexpr unsigned kSweeps = 8;
  // The choices that a node can drop depend on its neighbours' domains.
  std::vector<bool> open(graph.nodes.size(), true);
  for (unsigned sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (unsigned node = 0; node < graph.nodes.size(); ++node) {
      if (!open[node])
        continue;
      open[node] = false;
      if (!dropOfNode(graph, domains, sides[node], node))
        continue;
      changed = true;
      for (const Side &side : sides[node])
        open[side.other] = true;
    }
    if (!changed)
      return;
  }
}

} // namespace autopar
