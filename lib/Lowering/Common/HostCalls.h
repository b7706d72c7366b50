//===- HostCalls.h - A host function as a list of calls ---------*- C++ -*-===//
//
// The work of a rank in a phase is first plain data: a list of calls of the
// runtime. Runs of calls that differ only in places (arena offsets, indices of
// persistent tensors, ops, descriptors of the same shape) become loops over a
// table of those places, so that code grows only with distinct layers.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_HOSTCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_HOSTCALLS_H

#include "RuntimeAbi.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace autopar {

/// An argument of a call. `attribute` is the same in every repetition of a
/// layer; `value`, the place, may differ.
struct HostArgument {
  enum Kind {
    Null,
    Constant,   // attribute: a typed number
    Kernel,     // attribute: a number of the manifest's "kernels"
    Function,   // attribute: a symbol
    Position,   // attribute: mesh axes
    Array,      // attribute: the elements' type
    Words,      // value: first word; attribute: the contents, slot aside
    Op,         // value: row of the manifest's "ops"
    Arena,      // value: offset
    Persistent, // value: index; the address, or with an Offset as element that
                // many bytes behind it
    Tensor,     // value: index of a persistent tensor; the index
    Offset,     // value: bytes
  };
  Kind kind = Null;
  mlir::Attribute attribute = {};
  int64_t value = 0;
  std::vector<HostArgument> elements = {};
  /// The column of the table to which `value` is added in a repeated body.
  int column = -1;

  bool isPlace() const { return kind >= Words; }
};

/// An argument that is a T in C.
template <typename T> struct Typed {
  explicit Typed(HostArgument argument) : argument(std::move(argument)) {}
  /// Converts pointers as C does.
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U *, T>>>
  Typed(Typed<U *> other) : argument(std::move(other.argument)) {}
  template <typename Null,
            typename = std::enable_if_t<std::is_same_v<Null, std::nullptr_t> &&
                                        std::is_pointer_v<T>>>
  Typed(Null) {}

  HostArgument argument;
};

/// callee(rank, arguments...)
struct HostCall {
  const abi::Function *callee;
  std::vector<HostArgument> arguments;
  mlir::Location loc;
};

/// An argument that is the same number in each repetition.
HostArgument constantArgument(mlir::MLIRContext *context, int32_t number);
HostArgument constantArgument(mlir::MLIRContext *context, int64_t number);
HostArgument constantArgument(mlir::MLIRContext *context, double number);

/// `given` as an argument whose type in C is T: a Typed of it, or a number of
/// exactly that type.
template <typename T, typename Given>
HostArgument argumentOf(mlir::MLIRContext *context, Given given) {
  if constexpr (std::is_same_v<T, Given> && std::is_enum_v<T>) {
    static_assert(abi::machineOf<T>() == abi::Machine::Int32);
    return constantArgument(context, static_cast<int32_t>(given));
  } else if constexpr (std::is_same_v<T, Given> && std::is_arithmetic_v<T>) {
    return constantArgument(context, given);
  } else {
    Typed<T> typed = std::move(given);
    return std::move(typed.argument);
  }
}

template <typename R, typename... P, typename... Given>
std::vector<HostArgument>
argumentsOf(abi::Signature<R(aprt_rank *, P...)>,
            [[maybe_unused]] mlir::MLIRContext *context, Given... given) {
  static_assert(sizeof...(P) == sizeof...(Given),
                "runtime.def has another number of parameters");
  return {argumentOf<P>(context, std::move(given))...};
}

/// A call of a runtime function, with all its arguments after the rank:
/// `makeCall<aprt_load>(loc, tensor)`. What C would not take for a parameter,
/// and numbers of other types, do not compile.
template <auto *callee, typename... Given>
HostCall makeCall(mlir::Location loc, Given... given) {
  return {&abi::function<callee>,
          argumentsOf(abi::SignatureOf<callee>(), loc.getContext(),
                      std::move(given)...),
          loc};
}

/// `count` times a body; once without a table for calls that do not repeat.
struct HostLoop {
  std::vector<HostCall> body;
  int64_t count = 1;
  std::vector<std::vector<int64_t>> columns; // each of `count` values
};

/// The calls in order as loops and straight runs.
std::vector<HostLoop> rollCalls(std::vector<HostCall> calls);

/// A key that tells calls apart: everything but `value`, or with `places`
/// everything.
std::vector<int64_t> keyOf(llvm::ArrayRef<HostCall> calls, bool places);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_HOSTCALLS_H
