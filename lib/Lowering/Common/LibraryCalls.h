//===- LibraryCalls.h - Kernels that a library computes ---------*- C++ -*-===//
//
// The columns of LibraryKinds.def that are the runtime's. Each kind has a
// function that describes a call of it, in a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H

#include "HostProgram.h"

namespace autopar {

// Each kind has a function `describe<Kind>(kernel)`, which leaves out the
// packed slot, and each descriptor a function `titleOf(desc)`: a comment for a
// program's text, such as "128x64 from 128x32 and 32x64".
#define AUTOPAR_LIBRARY_KIND(kind, name, title, roles, required, packed,       \
                             packedBy, epilogue, images, Desc, compute, pack,  \
                             onCpu, onGpu)                                     \
  Desc describe##kind(KernelOp kernel);                                        \
  std::string titleOf(const Desc &desc);
#include "autopar/Interfaces/LibraryKinds.def"

/// A row of the table, for Lowering.
struct LibraryFunctions {
  CallKind kind;
  const abi::Descriptor *descriptor;
  const abi::Function *compute, *pack; // pack is null if the kind packs nothing
  llvm::StringRef onCpu, onGpu;        // libraries; empty: none has it
  /// The words of a call's descriptor, without a packed slot.
  std::vector<int64_t> (*describe)(KernelOp kernel);
  /// The title of a descriptor with these words.
  std::string (*title)(llvm::ArrayRef<int64_t> words);
};

/// The rows of all kinds, in the order of the table.
llvm::ArrayRef<LibraryFunctions> libraryFunctions();

/// The descriptor of a kernel with `library`, with the slot of its packed form.
LibraryCall describeLibraryCall(KernelOp kernel);

/// Copies `values` to the array's first words; the others become `rest`.
template <size_t size>
void fillWords(int64_t (&words)[size], llvm::ArrayRef<int64_t> values,
               int64_t rest) {
  for (size_t i = 0; i < size; ++i)
    words[i] = i < values.size() ? values[i] : rest;
}

aprt_activation runtimeActivation(Activation activation);

/// Fills the fields that descriptors of calls with an epilogue have: element
/// type and epilogue, without a packed form.
template <typename T>
T describeEpilogue(LibraryCallAttr call, mlir::Type type) {
  T desc = {};
  desc.dtype = dtypeOf(type);
  desc.bias = call.getOperand(kBiasRole) >= 0;
  desc.addend = call.getOperand(kAddendRole) >= 0;
  desc.activation = runtimeActivation(call.getActivation());
  desc.slot = -1;
  return desc;
}

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
