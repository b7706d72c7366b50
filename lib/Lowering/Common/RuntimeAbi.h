//===- RuntimeAbi.h - The runtime's C ABI for Lowering ----------*- C++ -*-===//
//
// Lowering reads runtime.def through this header: the names of functions,
// enumerators and fields come from its entries, and types from the declarations
// that runtime.h makes of them. No part of the ABI is written a second time in
// the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_RUNTIMEABI_H
#define AUTOPAR_LIB_LOWERING_COMMON_RUNTIMEABI_H

#include "autopar/runtime.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

namespace autopar::abi {

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

/// A value of an enum and its name in C.
struct Enumerator {
  llvm::StringLiteral name;
  int64_t number;
};

#define APRT_ENUM(type) inline constexpr Enumerator type##_values[] = {
#define APRT_ENUMERATOR(name, number) {#name, number},
#define APRT_ENUM_END(type)                                                    \
  }                                                                            \
  ;
#include "autopar/runtime.def"

/// The values of the enum T; none of other types.
template <typename T>
inline constexpr llvm::ArrayRef<Enumerator> enumerators = {};
#define APRT_ENUM(type)                                                        \
  template <>                                                                  \
  inline constexpr llvm::ArrayRef<Enumerator> enumerators<type> =              \
      type##_values;
#include "autopar/runtime.def"

/// The name of a number in C: of an enumerator, or its digits.
std::string textOf(llvm::ArrayRef<Enumerator> values, int64_t number);

/// The name of an element type in manifests, such as "f32".
llvm::StringRef dtypeName(aprt_dtype dtype);

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// A field of a descriptor: a word or an array of words.
struct Field {
  llvm::StringLiteral name;
  int64_t words;
  bool isArray;
  llvm::ArrayRef<Enumerator> values; // of a word that holds an enum
};

struct Descriptor {
  llvm::StringLiteral name;
  llvm::ArrayRef<Field> fields;
  int64_t words;
};

#define APRT_DESCRIPTOR(type) inline constexpr Field type##_fields[] = {
#define APRT_WORD(name) {#name, 1, false, {}},
#define APRT_WORDS(name, count) {#name, count, true, {}},
#define APRT_ENUM_WORD(type, name) {#name, 1, false, enumerators<type>},
#define APRT_DESCRIPTOR_END(type)                                              \
  }                                                                            \
  ;
#include "autopar/runtime.def"

/// The descriptor of the struct T; without a name if T is no struct.
template <typename T> inline constexpr Descriptor descriptor = {"", {}, 0};
#define APRT_DESCRIPTOR(type)                                                  \
  template <>                                                                  \
  inline constexpr Descriptor descriptor<type> = {                             \
      #type, type##_fields, sizeof(type) / sizeof(int64_t)};
#include "autopar/runtime.def"

/// A descriptor as the words that a program holds, and back.
template <typename T> std::vector<int64_t> wordsOf(const T &value) {
  static_assert(descriptor<T>.words > 0 && sizeof(T) % sizeof(int64_t) == 0 &&
                std::is_trivially_copyable_v<T>);
  std::vector<int64_t> words(descriptor<T>.words);
  std::memcpy(words.data(), &value, sizeof(T));
  return words;
}
template <typename T> T fromWords(llvm::ArrayRef<int64_t> words) {
  static_assert(descriptor<T>.words > 0);
  T value;
  std::memcpy(&value, words.take_front(descriptor<T>.words).data(), sizeof(T));
  return value;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The machine type of a C type.
enum class Machine { Void, Int32, Int64, Float64, Pointer };

template <typename T> constexpr Machine machineOf() {
  if constexpr (std::is_void_v<T>)
    return Machine::Void;
  else if constexpr (std::is_pointer_v<T>)
    return Machine::Pointer;
  else if constexpr (std::is_same_v<T, double>)
    return Machine::Float64;
  else {
    static_assert((std::is_integral_v<T> || std::is_enum_v<T>) &&
                      (sizeof(T) == 4 || sizeof(T) == 8),
                  "no type of the ABI");
    return sizeof(T) == 4 ? Machine::Int32 : Machine::Int64;
  }
}

/// A parameter of a runtime function.
struct Parameter {
  Machine machine;
  llvm::ArrayRef<Enumerator> values; // of an enum
  const Descriptor *descriptor;      // of a pointer to one, else null
};

/// A runtime function. The rank, its first argument, is no parameter.
struct Function {
  llvm::StringLiteral name;
  Machine result;
  llvm::ArrayRef<Parameter> parameters;
};

template <typename T> constexpr Parameter parameterOf() {
  using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
  constexpr bool describes =
      std::is_pointer_v<T> && !descriptor<Pointee>.name.empty();
  return {machineOf<T>(), enumerators<T>,
          describes ? &descriptor<Pointee> : nullptr};
}

template <typename Function> struct Signature;
template <typename R, typename... P> struct Signature<R(aprt_rank *, P...)> {
  static constexpr bool returnsStatus = std::is_same_v<R, aprt_status>;
  static constexpr Machine result = machineOf<R>();
  static constexpr std::array<Parameter, sizeof...(P)> parameters = {
      parameterOf<P>()...};
};

/// The name of what runtime.def has: `nameOf<aprt_gemm>` is "aprt_gemm".
template <auto *symbol> struct Name;
#define APRT_FUNCTION(result, name, parameters)                                \
  template <> struct Name<name> {                                              \
    static constexpr llvm::StringLiteral text = #name;                         \
  };
#define APRT_EXPORT(type, name)                                                \
  template <> struct Name<name> {                                              \
    static constexpr llvm::StringLiteral text = #name;                         \
  };
#define APRT_EXPORT_VARIABLE(type, name)                                       \
  template <> struct Name<&name> {                                             \
    static constexpr llvm::StringLiteral text = #name;                         \
  };
#include "autopar/runtime.def"
template <auto *symbol>
inline constexpr llvm::StringLiteral nameOf = Name<symbol>::text;

template <auto *callee>
using SignatureOf = Signature<std::remove_pointer_t<decltype(callee)>>;

/// The entry of a function: `function<aprt_gemm>`.
template <auto *callee>
inline constexpr Function function = {nameOf<callee>,
                                      SignatureOf<callee>::result,
                                      SignatureOf<callee>::parameters};

mlir::LLVM::LLVMFunctionType llvmType(mlir::MLIRContext *context,
                                      const Function &function);

/// The type of a C function pointer, as in `llvmType(context, aprt_kernel())`.
mlir::LLVM::LLVMFunctionType llvmType(mlir::MLIRContext *context,
                                      Machine result,
                                      llvm::ArrayRef<Machine> arguments);
template <typename R, typename... P>
mlir::LLVM::LLVMFunctionType llvmType(mlir::MLIRContext *context, R (*)(P...)) {
  return llvmType(context, machineOf<R>(), {machineOf<P>()...});
}

} // namespace autopar::abi

#endif // AUTOPAR_LIB_LOWERING_COMMON_RUNTIMEABI_H
