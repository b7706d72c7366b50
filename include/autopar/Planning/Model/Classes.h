//===- Classes.h - Ops and values of repeated layers ----------------------===//

#ifndef AUTOPAR_PLANNING_MODEL_CLASSES_H
#define AUTOPAR_PLANNING_MODEL_CLASSES_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Ops and values that stand for the same place in repeated layers share a
/// class. Ops that are alike by themselves, wherever they are, share a kind.
struct GraphClasses {
  std::vector<unsigned> ofOp, ofValue;       // class per op, per value
  std::vector<unsigned> firstOp, firstValue; // representative per class
  std::vector<unsigned> kindOfOp;            // per op
  unsigned kinds = 0;
};

/// The number of steps along operands and uses up to which ops are compared:
/// `least`, and up to `most` as long as that gives no more than `mostClasses`
/// classes of ops.
struct ClassRounds {
  unsigned least, most = 0;
  size_t mostClasses = 0;
};

/// Classifies ops by color refinement: two ops share a class if they look alike
/// as far as `rounds` says, and have the same mark. `marks` are per op.
GraphClasses classify(const ModelGraph &graph, llvm::ArrayRef<unsigned> marks,
                      ClassRounds rounds);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_CLASSES_H
