//===- HostCalls.h - A host function as a list of calls ---------*- C++ -*-===//
//
// What a rank does in a phase is first plain data: a list of calls of the
// runtime. Runs of calls that differ only in places (arena offsets, indices of
// persistent tensors, ops, descriptors of the same shape) become loops over a
// table of those places, so that code grows with distinct layers.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_HOSTCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_HOSTCALLS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace autopar {

/// One argument of a call. `attribute` is what it is in every repetition,
/// `value` the place, which may differ.
struct HostArgument {
  enum Kind {
    Null,
    Constant,   // attribute: a typed number
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
  /// In a repeated body: `value` is added to this column of the table.
  int column = -1;

  bool isPlace() const { return kind >= Words; }
};

/// status = callee(rank, arguments...)
struct HostCall {
  llvm::StringRef callee; // a literal
  std::vector<HostArgument> arguments;
  mlir::Location loc;
};

/// `count` times a body; once without a table for calls that do not repeat.
struct HostLoop {
  std::vector<HostCall> body;
  int64_t count = 1;
  std::vector<std::vector<int64_t>> columns; // each of `count` values
};

/// The calls in order as loops and straight runs.
std::vector<HostLoop> rollCalls(std::vector<HostCall> calls);

/// What tells calls apart: everything but `value`, or with `places` everything.
std::vector<int64_t> keyOf(llvm::ArrayRef<HostCall> calls, bool places);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_HOSTCALLS_H
