//===- TargetTable.h - What a target fuses and its libraries do -*- C++ -*-===//
//
// Passes before Lowering read this table and never ask for the kind of device.
// A module names its target by the attribute `autopar.target`: "cpu" (or none),
// "cuda", or "emulated", which has the table of "cuda".
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_TARGETTABLE_H
#define AUTOPAR_COST_TARGETTABLE_H

#include "autopar/Cost/WorkList.h"
#include "autopar/Interfaces/LibraryKinds.h"
#include "mlir/IR/Operation.h"
#include <map>

namespace autopar {

/// The abilities of a target's library in calls of one kind: epilogues, element
/// types and layouts.
struct LibraryCalls {
  using Epilogue = llvm::SmallVector<EpilogueStep, 3>;
  /// Alternatives. Each is a list of steps in the order in which the library
  /// applies them; any of the steps may be left out.
  llvm::SmallVector<Epilogue, 2> epilogues;
  llvm::SmallVector<Activation> activations;
  /// The element types of calls. Ops of other types become loops.
  bool f32 = true, f16 = false, bf16 = false, others = false;
  /// The library may write its result over the addend.
  bool inPlace = false;
  /// Calls read a constant in its plain form if other work of the step reads it
  /// so. A packed form beside it would hold it twice: an embedding that is also
  /// the vocabulary's matrix is most of some models.
  bool readsPlainConstants = false;
  /// Calls on tensor cores are several times slower unless each row in memory
  /// is a multiple of so many bytes. 0: any length is as fast.
  int64_t alignedBytes = 0;

  bool take(mlir::Type elementType) const;
  bool take(Activation activation) const;
  /// Returns whether some epilogue has these steps in this order.
  bool take(llvm::ArrayRef<EpilogueStep> steps) const;
};

struct TargetTable {
  /// The calls that its libraries have. Ops that are roots of other kinds alone
  /// become loops.
  std::map<CallKind, LibraryCalls> libraries;
  /// Convolutions are fastest on images with channels last.
  bool imagesChannelsLast = false;
  /// Inputs are read where the host holds them if a device's block is one piece
  /// there; otherwise, and on other targets, each step copies them.
  bool readsHeldInputs = false;
  /// Calls read a constant in a packed form that is made at load; both forms
  /// are in memory while it is made.
  bool copiesToPack = false;
  /// A depthwise f32 convolution of lines or images is as fast on row-major
  /// tensors if it adds at most mostRowMajorTerms terms per element and the
  /// rows of its result have at least leastRowMajorRow elements. Shorter rows
  /// leave too much of each vector empty.
  int64_t mostRowMajorTerms = 0, leastRowMajorRow = 0;
  /// The most ops in one kernel; longer kernels take too long to compile.
  unsigned maxOps = 64;
  CommunicationRules communication;

  /// Returns whether a step's call of `kind` reads a constant in packed form.
  /// `isReadPlain` says that other work of the step reads the constant in its
  /// plain form.
  bool packs(CallKind kind, bool isReadPlain) const {
    return !(isReadPlain && calls(kind)->readsPlainConstants);
  }

  /// Returns the bytes of which the rows of GEMMs should be multiples; 0: any
  /// length is as fast.
  int64_t gemmBytes() const {
    const LibraryCalls *gemm = calls(CallKind::Gemm);
    return gemm ? gemm->alignedBytes : 0;
  }

  /// The calls of `kind`; null if the target's libraries have none.
  const LibraryCalls *calls(CallKind kind) const {
    auto found = libraries.find(kind);
    return found == libraries.end() ? nullptr : &found->second;
  }
};

/// The table of the target of that name (TargetNames.h).
const TargetTable &targetTable(llvm::StringRef target);
/// The table for the target of the module that `op` is, or is in.
const TargetTable &targetTable(mlir::Operation *op);

} // namespace autopar

#endif // AUTOPAR_COST_TARGETTABLE_H
