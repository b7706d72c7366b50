//===- LibraryCalls.cpp - Kernels that a library computes -----------------===//

#include "LibraryCalls.h"

using namespace mlir;

namespace autopar {

/// The entry of a column that may be nullptr.
template <auto callee> static constexpr const abi::Function *entryOf() {
  if constexpr (std::is_null_pointer_v<decltype(callee)>)
    return nullptr;
  else
    return &abi::function<callee>;
}

template <typename T, T (*describe)(KernelOp)>
static std::vector<int64_t> wordsOf(KernelOp kernel) {
  return abi::wordsOf(describe(kernel));
}

template <typename T> static std::string titleFrom(ArrayRef<int64_t> words) {
  return titleOf(abi::fromWords<T>(words));
}

ArrayRef<LibraryFunctions> libraryFunctions() {
  static const LibraryFunctions rows[] = {
#define AUTOPAR_LIBRARY_KIND(kind, name, title, roles, required, packed,       \
                             packedBy, epilogue, images, Desc, compute, pack,  \
                             onCpu, onGpu)                                     \
  {CallKind::kind,                                                             \
   &abi::descriptor<Desc>,                                                     \
   entryOf<compute>(),                                                         \
   entryOf<pack>(),                                                            \
   onCpu,                                                                      \
   onGpu,                                                                      \
   wordsOf<Desc, describe##kind>,                                              \
   titleFrom<Desc>},
#include "autopar/Interfaces/LibraryKinds.def"
  };
  return rows;
}

/// The word of a descriptor that holds the slot of a packed form; nullopt if it
/// has none.
static std::optional<size_t> slotOf(const abi::Descriptor &descriptor) {
  size_t word = 0;
  for (const abi::Field &field : descriptor.fields) {
    if (field.name == "slot")
      return word;
    word += field.words;
  }
  return std::nullopt;
}

LibraryCall describeLibraryCall(KernelOp kernel) {
  LibraryCallAttr call = *kernel.getLibrary();
  const LibraryFunctions &row = libraryFunctions()[unsigned(call.getKind())];
  LibraryCall described{row.compute, row.pack, row.describe(kernel)};
  described.shape = described.words;
  if (std::optional<size_t> slot = slotOf(*row.descriptor)) {
    described.words[*slot] = call.getPacked();
    described.shape[*slot] = std::min<int64_t>(call.getPacked(), 0);
  }
  return described;
}

aprt_activation runtimeActivation(Activation activation) {
  switch (activation) {
  case Activation::None:
    return APRT_ACT_NONE;
  case Activation::Relu:
    return APRT_ACT_RELU;
  case Activation::GeluErf:
    return APRT_ACT_GELU_ERF;
  case Activation::GeluTanh:
    return APRT_ACT_GELU_TANH;
  case Activation::Tanh:
    return APRT_ACT_TANH;
  case Activation::Sigmoid:
    return APRT_ACT_SIGMOID;
  case Activation::Silu:
    return APRT_ACT_SILU;
  }
  llvm_unreachable("all functions are above");
}

} // namespace autopar
