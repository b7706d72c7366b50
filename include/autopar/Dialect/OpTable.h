//===- OpTable.h - One function per op, found by the op ---------*- C++ -*-===//
//
// A library keeps its knowledge about ops in a set of overloads, one per op,
// each in the file of the op's family. Each family adds its overloads to the
// library's table, which tries them on all ops of the dialect. So an overload
// that is written is found, and nobody keeps another list of ops.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_OPTABLE_H
#define AUTOPAR_DIALECT_OPTABLE_H

#include "autopar/Dialect/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <type_traits>

namespace autopar {

/// A table of functions, one per kind of op, that are called as (op,
/// arguments...).
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

  /// Adds an entry for each op that `overloads` accepts and for which it
  /// returns exactly `Result`.
  template <typename Overloads> void add(Overloads overloads) {
    addAll<Overloads,
#define GET_OP_LIST
#include "autopar/Dialect/Ops.cpp.inc"
           >(overloads);
  }

  /// Makes a table of one set of overloads.
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
