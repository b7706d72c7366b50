//===- Memory.h - Bytes of one device ---------------------------*- C++ -*-===//
//
// A program in buffer form has bytes in place of values: an arena, and numbered
// persistent tensors. This file alone decides which bytes a memref names: its
// strides say where element i is, and places that overlap share bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_MEMORY_H
#define AUTOPAR_DIALECT_INTERPRETER_MEMORY_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace autopar::interpreter {

/// The place that a buffer op names; it is the same at every point of the mesh.
/// `position` is a byte of the arena or the number of a persistent tensor.
/// `type` is a memref with its strides, or a tensor, which is row-major.
struct Place {
  BufferSpace space;
  int64_t position;
  mlir::ShapedType type;
};

/// Returns whether two places have a byte in common.
bool overlap(const Place &a, const Place &b);

/// Chooses the elements to store, by their number in memory: the number of
/// elements before them in the place.
using Chosen = llvm::function_ref<bool(int64_t number)>;

class Memory {
public:
  /// Makes a new arena in which nothing is written; the contents of the last
  /// one are gone.
  void renewArena(int64_t bytes);
  /// Adds a persistent tensor in which nothing is written.
  void addPersistent(mlir::ShapedType type);

  /// The tensor at `place`; nullopt if a part of it is outside of the memory.
  std::optional<Tensor> load(const Place &place) const;
  /// Writes the chosen elements. It returns false if some of them are outside
  /// of the memory.
  bool store(const Place &place, const Tensor &tensor, Chosen chosen);

private:
  std::vector<uint8_t> arena;
  std::vector<std::vector<uint8_t>> persistent;
};

/// The type of the tensor that a tensor or a memref holds.
mlir::RankedTensorType valueType(mlir::Type type);

} // namespace autopar::interpreter

#endif // AUTOPAR_DIALECT_INTERPRETER_MEMORY_H
