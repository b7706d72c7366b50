//===- Problem.cpp - Checks and evaluation of problems --------------------===//

#include "autopar/Planning/Solver/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

static bool allSeconds(ArrayRef<double> seconds) {
  return all_of(seconds, [](double s) { return s >= 0; });
}
static bool allBytes(ArrayRef<int64_t> bytes) {
  return all_of(bytes, [](int64_t b) { return b >= 0; });
}

static Error checkNode(const ProblemNode &node) {
  if (!node.bytes.empty() && node.bytes.size() != node.choices())
    return createStringError(node.name + ": bytes for other choices");
  if (!allSeconds(node.seconds) || !allBytes(node.bytes))
    return createStringError(node.name + ": negative seconds or bytes");
  if (none_of(node.seconds, [](double s) { return s < kIllegal; }))
    return createStringError(node.name + ": no legal choice");
  return Error::success();
}

static Error checkEdge(const Problem &problem, const ProblemEdge &edge) {
  if (edge.a >= problem.nodes.size() || edge.b >= problem.nodes.size())
    return createStringError("edge to a node that does not exist");
  const ProblemNode &a = problem.nodes[edge.a], &b = problem.nodes[edge.b];
  std::string name = a.name + " -- " + b.name;
  size_t cells = a.choices() * b.choices();
  if (edge.seconds.size() != cells ||
      (!edge.bytes.empty() && edge.bytes.size() != cells))
    return createStringError(name + ": matrix of another size");
  if (!allSeconds(edge.seconds) || !allBytes(edge.bytes))
    return createStringError(name + ": negative seconds or bytes");
  return Error::success();
}

static Error checkTerms(ArrayRef<MemoryTerm> terms, size_t count) {
  for (const MemoryTerm &term : terms)
    if (term.index >= count || term.count < 0)
      return createStringError("memory term of something that does not exist");
  return Error::success();
}

static Error checkRows(const Problem &problem) {
  for (const MemoryRow &row : problem.rowKinds) {
    for (ArrayRef<MemoryTerm> terms : {row.begins, row.ends})
      if (Error error = checkTerms(terms, problem.nodes.size()))
        return error;
    if (Error error = checkTerms(row.edges, problem.edges.size()))
      return error;
  }
  std::vector<int64_t> held(problem.nodes.size(), 0);
  for (unsigned kind : problem.rows) {
    if (kind >= problem.rowKinds.size())
      return createStringError("memory row of a kind that does not exist");
    const MemoryRow &row = problem.rowKinds[kind];
    for (const MemoryTerm &term : row.begins)
      held[term.index] += term.count;
    for (const MemoryTerm &term : row.ends) {
      held[term.index] -= term.count;
      if (held[term.index] < 0)
        return createStringError(problem.nodes[term.index].name +
                                 ": ends to be held before it begins");
    }
  }
  return Error::success();
}

Error Problem::check() const {
  for (const ProblemNode &node : nodes)
    if (Error error = checkNode(node))
      return error;
  for (const ProblemEdge &edge : edges)
    if (Error error = checkEdge(*this, edge))
      return error;
  if (Error error = checkTerms(persistent, nodes.size()))
    return error;
  return checkRows(*this);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static size_t cellOf(const Problem &problem, const ProblemEdge &edge,
                     ArrayRef<unsigned> choice) {
  return choice[edge.a] * problem.nodes[edge.b].choices() + choice[edge.b];
}

static double secondsOf(const Problem &problem, ArrayRef<unsigned> choice,
                        bool deferred) {
  double seconds = 0;
  auto counts = [&](const ProblemNode &node) {
    return deferred || !node.deferred;
  };
  for (const auto &[node, c] : zip_equal(problem.nodes, choice))
    if (counts(node))
      seconds += node.seconds[c];
  for (const ProblemEdge &edge : problem.edges)
    if (counts(problem.nodes[edge.a]) && counts(problem.nodes[edge.b]))
      seconds += edge.seconds[cellOf(problem, edge, choice)];
  return seconds;
}

double Problem::secondsOf(ArrayRef<unsigned> choice) const {
  return autopar::secondsOf(*this, choice, /*deferred=*/true);
}

double Problem::undeferredSecondsOf(ArrayRef<unsigned> choice) const {
  return autopar::secondsOf(*this, choice, /*deferred=*/false);
}

static int64_t nodeBytes(const Problem &problem, ArrayRef<MemoryTerm> terms,
                         ArrayRef<unsigned> choice) {
  int64_t bytes = 0;
  for (const MemoryTerm &term : terms)
    if (const ProblemNode &node = problem.nodes[term.index];
        !node.bytes.empty())
      bytes += term.count * node.bytes[choice[term.index]];
  return bytes;
}

int64_t Problem::persistentBytes(ArrayRef<unsigned> choice) const {
  return nodeBytes(*this, persistent, choice);
}

static int64_t edgeBytes(const Problem &problem, ArrayRef<MemoryTerm> terms,
                         ArrayRef<unsigned> choice) {
  int64_t bytes = 0;
  for (const MemoryTerm &term : terms)
    if (const ProblemEdge &edge = problem.edges[term.index];
        !edge.bytes.empty())
      bytes += term.count * edge.bytes[cellOf(problem, edge, choice)];
  return bytes;
}

int64_t Problem::bytesOf(ArrayRef<unsigned> choice,
                         const MemoryTerms &terms) const {
  return nodeBytes(*this, terms.nodes, choice) +
         edgeBytes(*this, terms.edges, choice);
}

/// Returns the terms whose count is not 0, by index.
static std::vector<MemoryTerm> termsOfCounts(ArrayRef<int64_t> counts) {
  std::vector<MemoryTerm> terms;
  for (const auto &[index, count] : enumerate(counts))
    if (count)
      terms.push_back({unsigned(index), count});
  return terms;
}

MemoryTerms Problem::termsOf(size_t row) const {
  std::vector<int64_t> held(nodes.size(), 0);
  for (size_t before = 0; before <= row; ++before) {
    for (const MemoryTerm &term : rowAt(before).begins)
      held[term.index] += term.count;
    if (before < row)
      for (const MemoryTerm &term : rowAt(before).ends)
        held[term.index] -= term.count;
  }
  return {termsOfCounts(held), rowAt(row).edges};
}

MemoryTerms Problem::termsOfAll() const {
  std::vector<int64_t> ofNodes(nodes.size(), 0), ofEdges(edges.size(), 0);
  for (size_t index = 0; index < rows.size(); ++index) {
    const MemoryRow &row = rowAt(index);
    int64_t later = rows.size() - index - 1;
    for (const MemoryTerm &term : row.begins)
      ofNodes[term.index] += term.count * (later + 1);
    for (const MemoryTerm &term : row.ends)
      ofNodes[term.index] -= term.count * later;
    for (const MemoryTerm &term : row.edges)
      ofEdges[term.index] += term.count;
  }
  return {termsOfCounts(ofNodes), termsOfCounts(ofEdges)};
}

/// Returns the index of the fullest row, and its bytes.
static std::pair<size_t, int64_t> fullest(const Problem &problem,
                                          ArrayRef<unsigned> choice) {
  struct RowBytes {
    int64_t begins, edges, ends;
  };
  std::vector<RowBytes> bytesOfKind;
  for (const MemoryRow &row : problem.rowKinds)
    bytesOfKind.push_back({nodeBytes(problem, row.begins, choice),
                           edgeBytes(problem, row.edges, choice),
                           nodeBytes(problem, row.ends, choice)});
  std::pair<size_t, int64_t> most = {0, 0};
  int64_t held = 0;
  for (const auto &[index, kind] : enumerate(problem.rows)) {
    const RowBytes &bytes = bytesOfKind[kind];
    held += bytes.begins;
    if (held + bytes.edges > most.second)
      most = {index, held + bytes.edges};
    held -= bytes.ends;
  }
  return most;
}

size_t Problem::fullestRow(ArrayRef<unsigned> choice) const {
  return fullest(*this, choice).first;
}

int64_t Problem::peakBytes(ArrayRef<unsigned> choice) const {
  return persistentBytes(choice) + fullest(*this, choice).second;
}

Error verifyChoices(const Problem &problem, const Solution &solution) {
  if (solution.choice.size() != problem.nodes.size())
    return createStringError("a solution must choose for every node");
  for (const auto &[node, choice] : zip_equal(problem.nodes, solution.choice))
    if (choice >= node.choices())
      return createStringError(node.name + ": choice does not exist");
  if (!(problem.secondsOf(solution.choice) < kIllegal))
    return createStringError("a choice is not legal beside another");
  return Error::success();
}

Error verify(const Problem &problem, const Solution &solution) {
  if (Error error = verifyChoices(problem, solution))
    return error;
  double seconds = problem.secondsOf(solution.choice);
  if (std::abs(seconds - solution.seconds) > 1e-9 * (1 + seconds))
    return createStringError("seconds are not those of the choices");
  int64_t peak = problem.peakBytes(solution.choice);
  if (peak != solution.peakBytes)
    return createStringError("bytes are not those of the choices");
  if (problem.memoryLimit && peak > problem.memoryLimit)
    return createStringError("the memory limit does not hold");
  if (solution.lowerBound > solution.seconds * (1 + 1e-9) + 1e-12)
    return createStringError("the lower bound is above the solution");
  return Error::success();
}

} // namespace autopar
