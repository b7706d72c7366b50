//===- LibraryCall.h - The library call that a body is ----------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_LIBRARYCALL_H
#define AUTOPAR_DIALECT_LIBRARYCALL_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Layout.h"

namespace autopar {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The activation that computes `kind`, if one does.
std::optional<Activation> activationOf(UnaryKind kind);

/// The op that a library computes, with what follows as epilogue, in a kernel's
/// body: the only one of LibraryOpInterface. Null if there is none, or several.
mlir::Operation *libraryRootOf(mlir::Block &body);

/// What the gradient of a convolution's filter is computed from.
struct FilterGradient {
  TransposeOp images, gradient; // both [n, c, ...] -> [c, n, ...]
};
/// `op` as a filter's gradient: a convolution of one group whose operands are
/// transposes that nothing else reads.
std::optional<FilterGradient> filterGradientOf(mlir::Operation *op);

/// The filter's gradient that `op` is one of the transposes of, or null.
mlir::Operation *filterGradientReading(mlir::Operation *op);

/// The call that computes `body`: one GEMM or convolution on its arguments
/// (through reshapes, and of a GEMM through transposes: they only name memory)
/// and an epilogue that a call can say.
///
///     %p = einsum "mk,kn->mn" %0, %1; %s = broadcast %2 dims = [1]
///     %t = binary add %p, %s; yield (unary relu %t)
///     => <gemm, a = 0, b = 1, bias = 2, activation = relu>
///
/// Whether a target has such a call is for its table to say. An error names
/// what no call says.
mlir::FailureOr<LibraryCallAttr> libraryCallOf(mlir::Block &body,
                                               EmitError emitError);

/// The GEMM of `root`, an einsum in a library kernel's body, on arguments that
/// are stored so; nullopt where it is no GEMM there.
std::optional<EinsumAsGemm>
gemmOf(EinsumOp root, llvm::function_ref<Layout(mlir::BlockArgument)> storedAs);
/// The same of a kernel whose operands are buffers.
std::optional<EinsumAsGemm> gemmOf(KernelOp kernel);

/// What a packed form of the call's `b` depends on, beside the constant itself:
/// calls with equal texts can share one. Of a GEMM its sizes and how `b` is
/// stored; of a convolution all.
std::string packingOf(KernelOp kernel);

/// An error if the buffers of `kernel`, a library call, are not stored in the
/// order that the call says.
mlir::LogicalResult verifyLibraryMemory(KernelOp kernel);

} // namespace autopar

#endif // AUTOPAR_DIALECT_LIBRARYCALL_H
