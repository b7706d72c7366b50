//===- Problem.h - Decisions of planning as plain data ----------*- C++ -*-===//
//
// A problem has nodes with choices, edges whose cost depends on two choices,
// and rows of memory. Solvers see nothing else: no IR, no mesh, no op.
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

/// The seconds of a choice, or a pair of choices, that is not allowed.
inline constexpr double kIllegal = std::numeric_limits<double>::infinity();

/// One decision: an op's assignment or how a value is sharded. The decisions
/// for the same place in repeated layers are one node: its seconds are those of
/// all layers together, its bytes those of one layer.
struct ProblemNode {
  std::string name;
  std::vector<double> seconds; // per choice
  std::vector<int64_t> bytes;  // per choice; empty: none
  /// The node is chosen after the others, since its costs hardly matter beside
  /// theirs.
  bool deferred = false;
  size_t choices() const { return seconds.size(); }
};

/// A cost that depends on the choices of two nodes. Matrices are row-major:
/// `a`'s choice selects the row. a == b is allowed.
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

/// The bytes that one device holds at the same time, as a sum of terms.
struct MemoryTerms {
  std::vector<MemoryTerm> nodes, edges;
};

/// The bytes that one device holds at one moment, beside the persistent terms.
/// A row lists only the changes from the row before, since much is held for
/// long.
struct MemoryRow {
  std::vector<MemoryTerm> begins; // nodes that are held from this row on
  std::vector<MemoryTerm> edges;  // held in this row alone
  std::vector<MemoryTerm> ends;   // nodes that are not held after it
};

struct Problem {
  std::vector<ProblemNode> nodes;
  std::vector<ProblemEdge> edges;
  std::vector<MemoryTerm> persistent; // nodes that are held all the time
  std::vector<MemoryRow> rowKinds;    // different rows, each once
  std::vector<unsigned> rows;         // the kind of each row, in order
  int64_t memoryLimit = 0;            // bytes per device; 0: none

  /// Checks that the parts fit together: indices are in range, sizes agree, no
  /// number is negative, each node and edge has a legal choice, and a row ends
  /// only terms that began.
  llvm::Error check() const;

  const MemoryRow &rowAt(size_t row) const { return rowKinds[rows[row]]; }
  double secondsOf(llvm::ArrayRef<unsigned> choice) const;
  /// Returns the same without deferred nodes and their edges.
  double undeferredSecondsOf(llvm::ArrayRef<unsigned> choice) const;
  int64_t bytesOf(llvm::ArrayRef<unsigned> choice,
                  const MemoryTerms &terms) const;
  /// Returns the terms that a row holds.
  MemoryTerms termsOf(size_t row) const;
  /// Returns the terms of all rows, added up.
  MemoryTerms termsOfAll() const;
  int64_t persistentBytes(llvm::ArrayRef<unsigned> choice) const;
  /// Returns the bytes of the fullest row; those of the persistent terms alone
  /// if there are no rows.
  int64_t peakBytes(llvm::ArrayRef<unsigned> choice) const;
  /// Returns the index of the fullest row: the first of equals, and 0 if there
  /// are no rows.
  size_t fullestRow(llvm::ArrayRef<unsigned> choice) const;
};

/// One choice per node.
struct Solution {
  std::vector<unsigned> choice;
  double seconds = 0;
  int64_t peakBytes = 0;
  /// The bound: choices that fit the memory limit take no less, without
  /// deferred nodes.
  double lowerBound = 0;
  /// The seconds and bytes are those of an evaluator, not the problem's.
  bool isEvaluated = false;
  /// Returns the gap to the bound as a share; 0 if the solution is proved to be
  /// optimal.
  double gap() const {
    return seconds > lowerBound ? (seconds - lowerBound) / seconds : 0;
  }
};

/// Checks that the choices of `solution` exist and are legal.
llvm::Error verifyChoices(const Problem &problem, const Solution &solution);
/// Checks that `solution` is legal, has the seconds and bytes that it states,
/// and is within the memory limit.
llvm::Error verify(const Problem &problem, const Solution &solution);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_PROBLEM_H
