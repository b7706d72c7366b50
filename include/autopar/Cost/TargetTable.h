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
/// Of what a library call computes.
inline GroupKind groupKindOf(CallKind kind) {
  return kind == CallKind::Gemm ? GroupKind::Contraction
                                : GroupKind::Convolution;
}
enum class EpilogueStep { Bias, Activation, Addend };

/// What calls of one kind compute.
struct LibraryCalls {
  using Epilogue = llvm::SmallVector<EpilogueStep, 3>;
  /// Alternatives; each a list of steps in the order in which the library
  /// applies them, any of which may be left out.
  llvm::SmallVector<Epilogue, 2> epilogues;
  llvm::SmallVector<Activation> activations;
  /// Element types of calls; what is of another type is loops.
  bool f32 = true, f16 = false, bf16 = false, others = false;
  /// The library may write its result over the addend.
  bool inPlace = false;
  /// A constant that other work reads as it is, calls read so too: packed
  /// beside it, an embedding that is also a vocabulary's matrix would be there
  /// twice, most of some models.
  bool readsPlainConstants = false;
  /// Of GEMMs that tensor cores compute: rows in memory are a multiple of so
  /// many bytes, or kernels are several times slower. 0: they need not be.
  int64_t alignedBytes = 0;
  /// Of convolutions: f32 filters' gradients are computed from images as they
  /// are, without epilogues (CallKind::FilterGradient).
  bool filterGradients = false;

  bool take(mlir::Type elementType) const;
  bool take(Activation activation) const;
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
  /// Calls read a constant in a packed form, made of it at load, and both are
  /// there meanwhile.
  bool copiesToPack = false;
  /// Depthwise f32 convolutions of lines and images that add at most
  /// so many terms per element are as fast on row-major ones, if rows of the
  /// result have at least so many elements: shorter ones leave too much of
  /// their vectors empty.
  int64_t mostRowMajorTerms = 0, leastRowMajorRow = 0;
  /// Keeps kernels compilable.
  unsigned maxOps = 64;
  CommunicationRules communication;

  /// Whether a step's call of `kind` reads a constant packed; `isReadPlain`:
  /// other work of the step reads it as it is.
  bool packs(GroupKind kind, bool isReadPlain) const {
    return !(isReadPlain && calls(kind).readsPlainConstants);
  }

  const LibraryCalls &calls(GroupKind kind) const {
    return kind == GroupKind::Contraction ? contraction : convolution;
  }
};

/// The table of the target of that name (TargetNames.h).
const TargetTable &targetTable(llvm::StringRef target);
/// The table of the target of the module that `op` is or is in.
const TargetTable &targetTable(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_COST_TARGETTABLE_H
