//===- OpTable.h - One function per op, found by the op ---------*- C++ -*-===//
//
// What a library knows of each op is a set of overloads, one per op, beside its
// other code. The table is made of all ops of the dialect: an overload
// that is added is found, and no list of ops is kept anywhere else.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_OPTABLE_H
#define AUTOPAR_DIALECT_OPTABLE_H

#include "autopar/Dialect/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include <type_traits>

namespace autopar {

/// `Overloads` is a function object, called as (op, arguments...):
///
///     struct Evaluate {
///       template <typename Op>
///       auto operator()(Op op, Operands in) const
///           -> decltype(evaluate(op, in)) { return evaluate(op, in); }
///     };
///     OpTable<Evaluate, Tensor, Operands> table;
///     auto *function = table.find(op); // null: no overload takes this op
///
/// An overload counts if it returns exactly `Result`.
template <typename Overloads, typename Result, typename... Args> class OpTable {
public:
  using Function = Result (*)(mlir::Operation *, Args...);

  OpTable() {
    addAll<
#define GET_OP_LIST
#include "autopar/Dialect/Ops.cpp.inc"
        >();
  }

  Function find(mlir::Operation *op) const {
    return functions.lookup(op->getName().getTypeID());
  }

private:
  template <typename... Ops> void addAll() { (add<Ops>(), ...); }

  template <typename Op> void add() {
    if constexpr (std::is_invocable_v<Overloads, Op, Args...>)
      if constexpr (std::is_same_v<std::invoke_result_t<Overloads, Op, Args...>,
                                   Result>)
        functions[mlir::TypeID::get<Op>()] = [](mlir::Operation *op,
                                                Args... args) -> Result {
          return Overloads()(mlir::cast<Op>(op), args...);
        };
  }

  llvm::DenseMap<mlir::TypeID, Function> functions;
};

} // namespace autopar

#endif // AUTOPAR_DIALECT_OPTABLE_H
