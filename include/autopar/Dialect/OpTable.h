//===- OpTable.h - One function per op, found by the op ---------*- C++ -*-===//
//
// What a library knows of each op is a set of overloads, one per op, in the
// file of the op's family. Each family adds its own to the library's table,
// which tries all ops of the dialect: an overload that is written is found, and
// no list of ops is kept anywhere else.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_OPTABLE_H
#define AUTOPAR_DIALECT_OPTABLE_H

#include "autopar/Dialect/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <type_traits>

namespace autopar {

/// Functions of an op that are called as (op, arguments...).
///
///     using EvaluateTable = OpTable<Tensor, Operands>;
///     void addReductions(EvaluateTable &table) { // ends Reduction.cpp
///       table.add([](auto op, Operands in) -> decltype(evaluate(op, in)) {
///         return evaluate(op, in);
///       });
///     }
///     auto *function = table.find(op); // null: no overload takes this op
template <typename Result, typename... Args> class OpTable {
public:
  using Function = std::function<Result(mlir::Operation *, Args...)>;

  /// Adds the ops that `overloads` takes and returns exactly `Result` for.
  template <typename Overloads> void add(Overloads overloads) {
    addAll<Overloads,
#define GET_OP_LIST
#include "autopar/Dialect/Ops.cpp.inc"
           >(overloads);
  }

  /// A table of one set of overloads.
  template <typename Overloads> static OpTable of(Overloads overloads) {
    OpTable table;
    table.add(overloads);
    return table;
  }

  const Function *find(mlir::Operation *op) const {
    auto it = functions.find(op->getName().getTypeID());
    return it == functions.end() ? nullptr : &it->second;
  }

private:
  template <typename Overloads, typename... Ops>
  void addAll(Overloads overloads) {
    (addOne<Overloads, Ops>(overloads), ...);
  }

  template <typename Overloads, typename Op> void addOne(Overloads overloads) {
    if constexpr (std::is_invocable_v<Overloads, Op, Args...>)
      if constexpr (std::is_same_v<std::invoke_result_t<Overloads, Op, Args...>,
                                   Result>)
        functions[mlir::TypeID::get<Op>()] =
            [overloads](mlir::Operation *op, Args... args) -> Result {
          return overloads(mlir::cast<Op>(op), args...);
        };
  }

  llvm::DenseMap<mlir::TypeID, Function> functions;
};

} // namespace autopar

#endif // AUTOPAR_DIALECT_OPTABLE_H
