//===- TargetTable.h - What a target fuses and its libraries do -*- C++ -*-===//
//
// Passes before Lowering read the table, never the kind of device. A module
// says which by its attribute `autopar.target`: "cpu" (or none), "cuda", or
// "emulated", which has the table of "cuda".
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_TARGETTABLE_H
#define AUTOPAR_COST_TARGETTABLE_H

#include "autopar/Cost/WorkList.h"
#include "autopar/Interfaces/Enums.h"
#include "mlir/IR/Operation.h"

namespace autopar {

inline constexpr llvm::StringLiteral kTarget = "autopar.target";

enum class GroupKind { Contraction, Convolution, Loops };
enum class EpilogueStep { Bias, Activation, Addend };

/// What calls of one kind compute.
struct LibraryCalls {
  using Epilogue = llvm::SmallVector<EpilogueStep, 3>;
  /// Alternatives; each a list of steps in the order in which the library
  /// applies them, any of which may be left out.
  llvm::SmallVector<Epilogue, 2> epilogues;
  llvm::SmallVector<UnaryKind> activations;
  /// x * sigmoid(x) is an activation too.
  bool silu = false;
  /// Element types of calls; what is of another type is loops.
  bool f32 = true, f16 = false, bf16 = false, others = false;
  /// Images with fewer positions are loops: the layout of one of a single
  /// position is not to be told from its strides, by which a library picks its
  /// engines.
  int64_t leastPositions = 0;
  /// The library may write its result over the addend.
  bool inPlace = false;

  bool take(mlir::Type elementType) const;
  /// Some epilogue has these steps in this order.
  bool take(llvm::ArrayRef<EpilogueStep> steps) const;
};

struct TargetTable {
  LibraryCalls contraction, convolution;
  /// Convolutions are fastest on images with channels last.
  bool imagesChannelsLast = false;
  /// Inputs are read where the host holds them if a device's block is one piece
  /// there; otherwise, and on other targets, each step copies them.
  bool readsHeldInputs = false;
  /// Depthwise f32 convolutions of lines and images that add at most so many
  /// terms per element are as fast on row-major ones.
  int64_t mostRowMajorTerms = 0;
  /// Keeps kernels compilable.
  unsigned maxOps = 64;
  CommunicationRules communication;

  const LibraryCalls &calls(GroupKind kind) const {
    return kind == GroupKind::Contraction ? contraction : convolution;
  }
};

/// The table of the target of the module that `op` is or is in.
const TargetTable &targetTable(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_COST_TARGETTABLE_H
