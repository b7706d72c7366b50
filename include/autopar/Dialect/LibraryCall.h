//===- LibraryCall.h - The library call that a body is ----------*- C++ -*-===//

#ifndef AUTOPAR_DIALECT_LIBRARYCALL_H
#define AUTOPAR_DIALECT_LIBRARYCALL_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Layout.h"

namespace autopar {

/// The activation that computes `kind`, if there is one.
std::optional<Activation> activationOf(UnaryKind kind);

/// The op of a kernel's body that a library computes, with the ops after it as
/// epilogue: the only op with LibraryOpInterface. Null if there is none, or
/// several.
mlir::Operation *libraryRootOf(mlir::Block &body);
/// The same for a kernel with `library`, which is verified.
LibraryOpInterface libraryRootOf(KernelOp kernel);

/// The operands from which the gradient of a convolution's filter is computed.
struct FilterGradient {
  TransposeOp images, gradient; // both [n, c, ...] -> [c, n, ...]
};
/// Recognizes `op` as the gradient of a filter: a convolution of one group
/// whose operands are transposes that nothing else reads.
std::optional<FilterGradient> filterGradientOf(mlir::Operation *op);

/// The filter's gradient for which `op` is one of the two transposes, or null.
mlir::Operation *filterGradientReading(mlir::Operation *op);

/// The GEMM of `root`, an einsum in a library kernel's body, on arguments that
/// are stored in these layouts; nullopt if it is no GEMM on them.
std::optional<EinsumAsGemm>
gemmOf(EinsumOp root, llvm::function_ref<Layout(mlir::BlockArgument)> storedAs);
/// The same for a kernel whose operands are buffers.
std::optional<EinsumAsGemm> gemmOf(KernelOp kernel);

/// A text of everything that the packed form of a constant of the call depends
/// on beside the constant itself. Calls with equal texts can share a packed
/// form. Its kind says whether that is the root alone (of a GEMM its sizes and
/// how `b` is stored) or everything.
std::string packingOf(KernelOp kernel);

/// Reports an error if the body of `kernel` does not compute the call that its
/// `library` says, or its buffers are not stored in the order that the call
/// states. In the body reshapes may stand everywhere, and transposes before a
/// GEMM, since they only name the same memory.
///
///     %p = einsum "mk,kn->mn" %0, %1; %s = broadcast %2 dims = [1]
///     %t = binary add %p, %s; yield (unary relu %t)
///     => <gemm, a = 0, b = 1, bias = 2, activation = relu>
///
/// The target's table says whether the target has such a call.
mlir::LogicalResult verifyLibraryCall(KernelOp kernel);

} // namespace autopar

#endif // AUTOPAR_DIALECT_LIBRARYCALL_H
