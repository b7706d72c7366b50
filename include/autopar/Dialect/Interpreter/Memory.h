//===- Memory.h - Bytes of one device ---------------------------*- C++ -*-===//
//
// A program in buffer form has no values but bytes: an arena, and persistent
// tensors by number. What a memref names is decided here alone: element i of a
// memref is where its strides say, and places that share bytes share them.
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

/// What a buffer op made: the same place at every point of the mesh. `position`
/// is a byte of the arena or the number of a persistent tensor; `type` a memref
/// with its strides, or a tensor, which is row-major.
struct Place {
  BufferSpace space;
  int64_t position;
  mlir::ShapedType type;
};

/// Whether two places have a byte in common.
bool overlap(const Place &a, const Place &b);

/// Which elements to store, by their number in memory: how many elements come
/// before them in the place.
using Chosen = llvm::function_ref<bool(int64_t number)>;

class Memory {
public:
  /// An arena in which nothing is written; what was in the last one is gone.
  void renewArena(int64_t bytes);
  /// One more persistent tensor in which nothing is written.
  void addPersistent(mlir::ShapedType type);

  /// The tensor at `place`; nullopt if some of it is outside of the memory.
  std::optional<Tensor> load(const Place &place) const;
  /// Writes the chosen elements; false if some of them are outside.
  bool store(const Place &place, const Tensor &tensor, Chosen chosen);

private:
  std::vector<uint8_t> arena;
  std::vector<std::vector<uint8_t>> persistent;
};

/// The type of the tensor that a tensor or a memref holds.
mlir::RankedTensorType valueType(mlir::Type type);

} // namespace autopar::interpreter

#endif // AUTOPAR_DIALECT_INTERPRETER_MEMORY_H
