//===- ChoiceText.h - Choices of ops as text --------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_MODEL_CHOICETEXT_H
#define AUTOPAR_PLANNING_MODEL_CHOICETEXT_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Returns a choice as text: `split 0`, `pass 1`, `nothing`.
std::string toString(const Choice &choice);

/// Returns why shardingsOf refuses `assignment`: `axis tensor cannot split 2
/// (dimension 1 of tensor h, 6 elements): ...`.
std::string whyIllegal(const ModelGraph &graph, const GraphOp &op,
                       const Assignment &assignment, const Mesh &mesh);

/// Returns the choices that `subAxes` together have in the op, one after the
/// other: `split 0 (dimension 0 of tensor x, 8 elements), pass 1 (sum of tensor
/// h)`.
std::string possibleChoices(const ModelGraph &graph, const GraphOp &op,
                            llvm::ArrayRef<unsigned> subAxes, const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_CHOICETEXT_H
