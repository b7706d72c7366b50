//===- KernelBody.h - What every device does with a kernel ------*- C++ -*-===//
//
// Devices make one function per distinct kernel body. Its arguments are the
// distinct buffers of the kernel op, then the positions of the device in the
// mesh that the body reads.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_LOOPS_KERNELBODY_H
#define AUTOPAR_LIB_LOWERING_LOOPS_KERNELBODY_H

#include "LoopEmitter.h"

namespace autopar::loops {

/// The number of the argument for each operand of a kernel op.
struct KernelSlots {
  /// Argument number of each operand: same place, same argument, as an output
  /// may be written over an input.
  llvm::SmallVector<unsigned> slots;
  /// Operand number of each argument.
  llvm::SmallVector<unsigned> buffers;
  /// Mesh axes along which the device's index is an argument.
  llvm::SmallVector<mlir::ArrayAttr> positions;

  explicit KernelSlots(KernelOp kernel);
};

/// Returns whether an output is stored over an input.
bool isInPlace(KernelOp kernel);

/// Equal for kernels that one function serves.
std::string bodyKey(KernelOp kernel, llvm::ArrayRef<unsigned> slots);

/// A name that says what the kernel does: its last op and a number.
std::string nameOf(KernelOp kernel, unsigned number);

/// Refuses an op that there are no loops for.
mlir::LogicalResult verifyBody(KernelOp kernel);

/// Elements of the widest output.
int64_t spaceOf(KernelOp kernel);

/// Adds the cuts between the elements of outputs that have fewer than `space`.
void cutAtOutputs(KernelOp kernel, int64_t space, std::set<int64_t> &cuts);

/// A loop for each piece of [0, space) between the cuts, from the outermost to
/// the innermost. If cuts do not divide each other, the first ones count.
llvm::SmallVector<Part> cutSpace(int64_t space, const std::set<int64_t> &cuts);

/// An element of output `output` and its place in memory.
struct OutputElement {
  mlir::Value value;
  Index where;
  Index repeats; // see storeOutput
  unsigned output;
};

/// Emits the elements of all outputs at iteration `flat` of a space of `size`
/// iterations.
llvm::SmallVector<OutputElement>
evaluateOutputs(LoopEmitter &emit, KernelOp kernel, Index flat, int64_t size);
/// `pointers`: the arguments for the buffers.
void storeOutputs(LoopEmitter &emit, KernelOp kernel,
                  llvm::ArrayRef<unsigned> slots, mlir::ValueRange pointers,
                  llvm::ArrayRef<OutputElement> elements);

} // namespace autopar::loops

#endif // AUTOPAR_LIB_LOWERING_LOOPS_KERNELBODY_H
