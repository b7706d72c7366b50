//===- MemoryQuestion.cpp - A search within a memory limit ----------------===//

#include "MemoryQuestion.h"
#include "SolverTuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

bool MemoryQuestion::isSmall() const {
  return problem.nodes.size() <= kTuning.smallProblem;
}

bool MemoryQuestion::mayProve() const {
  size_t cells = 0;
  for (const ProblemEdge &edge : problem.edges)
    cells += edge.seconds.size();
  return problem.nodes.size() <= kTuning.mostToProve &&
         cells <= kTuning.mostCells;
}

bool MemoryQuestion::isHopeless() const {
  int64_t least = 0;
  for (const MemoryTerm &term : problem.persistent)
    if (ArrayRef<int64_t> bytes = problem.nodes[term.index].bytes;
        !bytes.empty())
      least += term.count * *llvm::min_element(bytes);
  return problem.memoryLimit && least > problem.memoryLimit;
}

} // namespace autopar
