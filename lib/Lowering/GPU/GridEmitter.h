//===- GridEmitter.h - Loops shared by the threads of a GPU -----*- C++ -*-===//
//
// Threads may share a row of the iteration space: all that is the same for the
// row - its sum, its largest element - they fold together, each a part, and
// every one of them then has the result. What one thread does with its part of
// a row is straight code where it is short: elements that were read for a fold
// stay in registers for what follows.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_GRIDEMITTER_H
#define AUTOPAR_LIB_LOWERING_GPU_GRIDEMITTER_H

#include "../Loops/LoopEmitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace autopar::gpu {

using loops::Index;
using loops::LoopEmitter;
using loops::Part;

constexpr int64_t kWarp = 32;
/// Shared memory that a block may have on every device.
constexpr int64_t kMostSharedBytes = 48 << 10;

/// The threads that share a row. Sizes in threads.
struct RowGroup {
  int64_t lanes = 1;
  int64_t rows = 1; // rows of a block
  /// Neighbouring threads are lanes of one row; else they have neighbouring
  /// rows.
  bool neighbours = true;
  /// The most consecutive elements of a row that a thread takes at once.
  int64_t vector = 1;
  /// The most elements of a row that a thread keeps in registers.
  int64_t kept = 32;
  // This thread's place in the group and the group's in the block; null: 0.
  mlir::Value lane, row;

  int64_t threads() const { return lanes * rows; }
  /// Elements of a row of `extent` that a thread takes at once.
  int64_t vectorOf(int64_t extent) const;
};

/// A tile in which a tensor changes its contiguous dimension: 32 x 32
/// iterations, a few per thread.
struct Tile {
  static constexpr int64_t kSide = 32;
  int64_t across = 0; // the stride, in the space, of the part that is
                      // contiguous in what is read
  /// The iterations of a tile as a space in which neighbouring threads are
  /// neighbours along the contiguous dimension of the operand (`loads`) or of
  /// the result (`stores`), with the place of each iteration within the tile.
  struct Side {
    Index flat;
    mlir::Value readPlace, writtenPlace;
  };
  llvm::SmallVector<Side> loads, stores;
};

class GridEmitter : public loops::LoopEmitter {
public:
  GridEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block *entry,
              loops::ConstantTables &tables, mlir::gpu::GPUModuleOp module,
              llvm::StringRef kernel)
      : LoopEmitter(builder, loc, entry, tables), module(module),
        kernel(kernel.str()) {}

  /// Threads fold together from now on.
  void share(const RowGroup &rowGroup);
  /// Tensors that are read across the tile's contiguous dimension go through
  /// shared memory.
  void useTile(Tile used) { tile = std::move(used); }

  /// The flat index of element `element` of a row: a space of the parts of
  /// `rows`, a space of its own, and of `inside`, which are pieces of the
  /// element's number. Digits of the rows alone stay digits of `rows`.
  Index addRowElement(Index rows, llvm::ArrayRef<Part> inside, Index element);

  /// carried = body(element, carried, alive) for this thread's elements of a
  /// row; `alive` is null or says whether the element is not a repeated one.
  using ElementBody =
      llvm::function_ref<Values(Index, mlir::ValueRange, mlir::Value alive)>;
  Values forElements(int64_t extent, unsigned depth, mlir::ValueRange inits,
                     ElementBody body);

  /// body(element, carried, null) in a loop of this thread's own: no element is
  /// repeated, and the threads may not meet in it.
  void forOwnElements(int64_t extent, ElementBody body);

  /// Returns whether a thread's elements of such a row are straight code.
  bool keeps(int64_t extent) const;

  mlir::Value fold(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<Index> fixed,
                   mlir::Value init, FoldBody body, Combine combine,
                   bool sums) override;
  mlir::Value scanElement(ScanOp op, llvm::ArrayRef<Index> at) override;
  mlir::Value topKElement(TopKOp op, llvm::ArrayRef<Index> at) override;
  mlir::Value scatterElement(ScatterOp op, llvm::ArrayRef<Index> at) override;
  mlir::Value address(mlir::Value pointer, mlir::Type stored,
                      mlir::Value offset) override;
  IndexBlock blockOf(mlir::Value index, int64_t extent) override;
  void storeOutput(mlir::Value value, mlir::Value pointer, mlir::Type element,
                   Index where, Index repeats) override;

  /// Makes all threads of the block wait for each other, or those of the warp
  /// if a warp shares a row.
  void barrier(unsigned depth);
  int64_t sharedBytes() const { return shared; }

private:
  mlir::Value readMemory(mlir::Value tensor, llvm::ArrayRef<Index> at) override;
  bool varies(llvm::ArrayRef<Index> indices);
  bool sharesRows() const { return group.lanes > 1; }
  Index elementOf(int64_t extent, mlir::Value chunk, int64_t within,
                  mlir::Value &alive);
  /// Joins what each thread of a row carries; all get the result.
  using CombineMany =
      llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)>;
  Values joinRow(Values mine, CombineMany combine);
  Values joinNeighbours(Values mine, CombineMany combine, int64_t width,
                        int64_t apart);
  Values joinThroughMemory(Values mine, CombineMany combine, int64_t parts);
  mlir::Value shuffle(mlir::Value value, int64_t distance);
  mlir::Value sharedArray(mlir::Type element, int64_t size);
  void blockBarrier(unsigned depth);
  /// Stores to shared memory; where `condition` is null or holds.
  void storeShared(mlir::Value value, mlir::Value array, mlir::Type element,
                   mlir::Value index, mlir::Value condition, unsigned depth);
  mlir::Value rowNumber();
  mlir::Value tileOf(mlir::Value tensor, llvm::ArrayRef<Index> at,
                     mlir::Value flat);
  Values bestAfter(TopKOp op, llvm::ArrayRef<Index> at, mlir::ValueRange last,
                   mlir::Value isFirst, bool together);
  int64_t strideOfKept(mlir::Operation *op, int64_t size, int64_t bytes);
  /// The indices that mean a row: a bit of a word in shared memory for each.
  struct Hits {
    mlir::Value words, count; // the words to look at; none if no bit is set
  };
  Hits findHits(ScatterOp op, Index row, int64_t words);
  mlir::Value bestRow(TopKOp op, llvm::ArrayRef<Index> at, int64_t stride);
  mlir::Value scanRow(ScanOp op, llvm::ArrayRef<Index> at, int64_t stride);
  mlir::Value scanFrom(ScanOp op, llvm::ArrayRef<Index> at, mlir::Value start,
                       mlir::Value before, mlir::Value count);
  mlir::Value scanSegment(ScanOp op, mlir::Value row, int64_t stride,
                          mlir::Value start, bool writes, unsigned depth);
  mlir::Value prefixOfLanes(ScanOp op, mlir::Value total, mlir::Value neutral);

  mlir::gpu::GPUModuleOp module;
  std::string kernel;
  RowGroup group;
  std::optional<Tile> tile;
  struct Element {
    mlir::Value space, alive;
  };
  std::map<Key, Element> elements;
  llvm::DenseMap<mlir::Operation *, int64_t> strides;
  std::map<Key, Hits> hitsOf; // by op and row; without words: too many
  int64_t shared = 0;
  unsigned sharedArrays = 0;
};

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_GRIDEMITTER_H
