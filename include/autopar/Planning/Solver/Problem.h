//===- Problem.h - What there is to decide, as plain data -----------------===//
//
// Nodes with choices, edges whose cost depends on two choices, and rows of
// memory. Solvers see nothing else: no IR, no mesh, no op.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_SOLVER_PROBLEM_H
#define AUTOPAR_PLANNING_SOLVER_PROBLEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <limits>
#include <string>
#include <vector>

namespace autopar {

/// Seconds of what is not allowed.
inline constexpr double kIllegal = std::numeric_limits<double>::infinity();

/// One decision: an op's assignment or how a value is sharded. Nodes that stand
/// for the same place in repeated layers are one node: its seconds are those of
/// all layers together, its bytes those of one.
struct ProblemNode {
  std::string name;
  std::vector<double> seconds; // per choice
  std::vector<int64_t> bytes;  // per choice; empty: none
  /// Decided once the others are: it weighs next to nothing beside them.
  bool deferred = false;
  size_t choices() const { return seconds.size(); }
};

/// Matrices are row-major: `a`'s choice selects the row. a == b is allowed.
struct ProblemEdge {
  unsigned a, b;
  std::vector<double> seconds;
  std::vector<int64_t> bytes; // transient copies; empty: none
};

/// `count` times the bytes of node or edge `index`.
struct MemoryTerm {
  unsigned index;
  int64_t count;
};

/// What one device holds together.
struct MemoryTerms {
  std::vector<MemoryTerm> nodes, edges;
};

/// What one device holds at one moment, beside the persistent terms, said by
/// what changes: much is held for long.
struct MemoryRow {
  std::vector<MemoryTerm> begins; // nodes that are held from this row on
  std::vector<MemoryTerm> edges;  // held in this row alone
  std::vector<MemoryTerm> ends;   // nodes that are not held after it
};

struct Problem {
  std::vector<ProblemNode> nodes;
  std::vector<ProblemEdge> edges;
  std::vector<MemoryTerm> persistent; // nodes that are held all the time
  std::vector<MemoryRow> rowKinds;    // those that layers repeat once
  std::vector<unsigned> rows;         // the kind of each, in order
  int64_t memoryLimit = 0;            // bytes per device; 0: none

  /// Whether the parts fit together: indices, sizes, no negative numbers, at
  /// least one legal choice everywhere, nothing ends that did not begin.
  llvm::Error check() const;

  const MemoryRow &rowAt(size_t row) const { return rowKinds[rows[row]]; }
  double secondsOf(llvm::ArrayRef<unsigned> choice) const;
  /// The same without deferred nodes and their edges.
  double undeferredSecondsOf(llvm::ArrayRef<unsigned> choice) const;
  int64_t bytesOf(llvm::ArrayRef<unsigned> choice,
                  const MemoryTerms &terms) const;
  /// What a row holds.
  MemoryTerms termsOf(size_t row) const;
  /// What all rows hold, as one.
  MemoryTerms termsOfAll() const;
  int64_t persistentBytes(llvm::ArrayRef<unsigned> choice) const;
  /// Of the fullest row; the persistent terms alone if there are no rows.
  int64_t peakBytes(llvm::ArrayRef<unsigned> choice) const;
  /// Index of the fullest row; the first of equals, and 0 if there is none.
  size_t fullestRow(llvm::ArrayRef<unsigned> choice) const;
};

/// One choice per node.
struct Solution {
  std::vector<unsigned> choice;
  double seconds = 0;
  int64_t peakBytes = 0;
  /// No choices that fit the memory limit take less, what is deferred left out.
  double lowerBound = 0;
  /// Whether seconds and bytes are those of an evaluator, not the problem's.
  bool isEvaluated = false;
  /// 0 where the solution is proved to be best.
  double gap() const {
    return seconds > lowerBound ? (seconds - lowerBound) / seconds : 0;
  }
};

/// Whether the choices of `solution` are there and legal.
llvm::Error verifyChoices(const Problem &problem, const Solution &solution);
/// Whether `solution` is what it says, legal, and within the memory limit.
llvm::Error verify(const Problem &problem, const Solution &solution);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_PROBLEM_H
