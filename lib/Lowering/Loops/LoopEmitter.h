//===- LoopEmitter.h - Code for the elements of tensors ---------*- C++ -*-===//
//
// A kernel's body is a tensor program. The emitter turns it into loops by
// demand: `element(t, i)` builds the code for one element of one tensor, which
// asks for the elements it needs in turn. Every instruction goes to the
// outermost open loop where its operands exist, so that what does not change in
// an inner loop is computed outside, a row's maximum once per row.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_LOOPS_LOOPEMITTER_H
#define AUTOPAR_LIB_LOWERING_LOOPS_LOOPEMITTER_H

#include "ConstantTables.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Interfaces/Neutral.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>
#include <vector>

namespace autopar::loops {

/// f16 or bf16.
bool isHalf(mlir::Type element);
/// The type that arithmetic uses: integers without sign, f32 for f16 and bf16.
mlir::Type computeType(mlir::Type element);
/// The type in memory: i1 is a byte.
mlir::Type storageType(mlir::Type element);

/// A position in a dimension: `value`, or a digit of it,
/// (value / divisor) % modulus; modulus 0 means no remainder is taken.
struct Index {
  mlir::Value value;
  int64_t divisor = 1, modulus = 0;
};

/// The position that differs from `at` by `index` in dimension `dim`.
llvm::SmallVector<Index> with(llvm::ArrayRef<Index> at, int64_t dim,
                              Index index);
/// `at` in all dimensions but `dim`.
llvm::SmallVector<Index> without(llvm::ArrayRef<Index> at, int64_t dim);

/// A loop over a part of a flat index space. The flat index is the sum of value
/// * stride over the parts.
struct Part {
  Index index;
  int64_t stride, size;
};

/// A read of memory in terms of the flat space: contiguous along the digits of
/// `stride` for `size` elements; zeros: along something else.
struct Read {
  int64_t stride, size, elements;
};

/// A loop that folds elements.
struct FoldFinding {
  /// The digits of the space that it depends on, as [from, to) strides.
  std::vector<std::pair<int64_t, int64_t>> digits;
  int64_t extent;
  bool combines; // parts of it may be folded apart
  bool columns;  // most of what it reads is contiguous along the space
};

/// Elements of all rows of a scatter together, and of one.
struct ScatterFinding {
  int64_t elements, width;
};

/// The facts that one emission of a kernel finds out for the next.
struct Findings {
  /// Places where used digits of the flat space begin or end.
  std::set<int64_t> boundaries;
  /// Some loop folds elements; one does so that depends on no open loop at all.
  bool folds = false, wholeFolds = false;
  std::vector<FoldFinding> foldsFound;
  /// A tensor about as large as the space is contiguous along the digits of
  /// this stride, not along the innermost ones; 0: none is.
  int64_t crossStride = 0;
  /// Reductions over rows whose columns, so many, are contiguous.
  llvm::MapVector<mlir::Operation *, int64_t> columnReductions;
  /// Scatters whose rows are contiguous.
  llvm::MapVector<mlir::Operation *, ScatterFinding> scatters;
};

class LoopEmitter {
public:
  /// Constants of many elements go into `tables`.
  LoopEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block *entry,
              ConstantTables &tables);
  virtual ~LoopEmitter() = default;

  /// The elements of `tensor` are in memory at `pointer`.
  void bind(mlir::Value tensor, mlir::Value pointer, Layout layout) {
    memory[tensor] = {pointer, std::move(layout)};
  }
  bool isInMemory(mlir::Value tensor) const { return memory.contains(tensor); }
  /// The device's linear index along `axes`.
  void bindPosition(mlir::ArrayAttr axes, mlir::Value value) {
    positions[axes] = value;
  }
  mlir::Value position(mlir::ArrayAttr axes) const {
    return positions.at(axes);
  }

  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<Index> at);

  //===--------------------------------------------------------------------===//
  // Indices
  //===--------------------------------------------------------------------===//

  /// A flat index space made of the loops in `parts`; digits of it stay
  /// symbolic until used.
  Index addSpace(llvm::ArrayRef<Part> parts);
  Index constantIndex(int64_t value) { return {constantInt(value)}; }
  Index digit(Index of, int64_t divisor, int64_t modulus);
  llvm::SmallVector<Index> delinearize(Index flat,
                                       llvm::ArrayRef<int64_t> shape);
  /// Row-major flat index; digits of one value join again where they are next
  /// to each other.
  Index linearize(llvm::ArrayRef<Index> at, llvm::ArrayRef<int64_t> shape);
  mlir::Value value(Index index);

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  /// Builds an operation without side effects at its natural depth.
  template <typename OpT, typename... Args> mlir::Value make(Args &&...args) {
    auto op = OpT::create(builder, loc, std::forward<Args>(args)...);
    return place(op.getOperation());
  }
  mlir::Value constantInt(int64_t value);
  mlir::Value constant(mlir::Type type, double value);
  /// Element `flat` of a constant, in row-major order.
  mlir::Value constantElement(mlir::DenseElementsAttr elements, Index flat);
  /// `value` as an element of that type can be, still in the type that
  /// arithmetic uses.
  mlir::Value rounded(mlir::Value value, mlir::Type element);
  mlir::Value addInt(mlir::Value a, mlir::Value b);
  mlir::Value mulInt(mlir::Value a, int64_t factor);
  mlir::Value clamp(mlir::Value index, int64_t size);
  mlir::Value inRange(mlir::Value index, int64_t size);

  mlir::Value load(mlir::Value pointer, mlir::Type element, Index flat);
  /// Stores the value in the innermost loop that `value` or `flat` needs.
  void store(mlir::Value value, mlir::Value pointer, mlir::Type element,
             Index flat);
  /// Restricts the stores that follow to where `condition` holds; null:
  /// everywhere.
  void guardStores(mlir::Value condition) { storeGuard = condition; }
  mlir::Value stackBuffer(mlir::Type element, int64_t size);
  /// The same pointer as a new value, for accesses that must follow all code
  /// emitted so far at `depth`.
  mlir::Value pin(mlir::Value pointer, unsigned depth);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// Opens a loop inside the innermost one; instructions that need its index
  /// go into it until closeLoop.
  mlir::Value openLoop(mlir::Value lower, mlir::Value upper);
  void closeLoop();
  /// Opens the loop over block `number` of a dimension of `size` elements; the
  /// last block ends with the dimension.
  Index openBlock(Index number, int64_t block, int64_t size);

  /// acc = body(index, acc) over all indices of `extents`, in a loop nest at
  /// the depth of `fixed`, the indices that the body uses besides. `combine`
  /// joins the results of two parts of the indices, where `init` is neutral;
  /// null: only the order of the indices will do. `sums`: it adds up, and long
  /// sums of floats are sums of parts.
  using FoldBody =
      llvm::function_ref<mlir::Value(llvm::ArrayRef<Index>, mlir::Value)>;
  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  virtual mlir::Value fold(llvm::ArrayRef<int64_t> extents,
                           llvm::ArrayRef<Index> fixed, mlir::Value init,
                           FoldBody body, Combine combine, bool sums = false);
  /// Sums of more than `terms` floats are sums of parts of as many: an error
  /// grows with the terms of one part, not with all. The loop over dimension
  /// `dim` goes in `count` blocks of `size` indices: [5, 3000] at 2,048 terms
  /// is 5 times 2 blocks, of 2,048 and 952 indices of dimension 1.
  struct FoldBlocks {
    unsigned dim = ~0u; // none
    int64_t size = 0, count = 0;
  };
  static FoldBlocks foldBlocks(llvm::ArrayRef<int64_t> extents, mlir::Type type,
                               int64_t terms);
  /// The number of indices of [0, extent) that the block from `first` on has.
  mlir::Value blockEnd(mlir::Value first, int64_t block, int64_t extent);
  /// Folds over [0, extent) in one loop at `depth`. `extent` may be a computed
  /// value.
  mlir::Value
  foldRange(mlir::Value extent, unsigned depth, mlir::Value init,
            llvm::function_ref<mlir::Value(Index, mlir::Value)> body);
  /// Does the same with any number of values carried along.
  using Values = llvm::SmallVector<mlir::Value>;
  Values foldRange(mlir::Value extent, unsigned depth, mlir::ValueRange inits,
                   llvm::function_ref<Values(Index, mlir::ValueRange)> body);
  unsigned depth(llvm::ArrayRef<Index> indices);
  unsigned depth(mlir::Value value) const {
    auto it = depths.find(value);
    return it == depths.end() ? 0 : it->second;
  }

  //===--------------------------------------------------------------------===//
  // What a device does in a way of its own
  //===--------------------------------------------------------------------===//

  /// Stores an element of an output that is the same for all values of the
  /// digit `repeats`; null: there is one iteration per element.
  virtual void storeOutput(mlir::Value value, mlir::Value pointer,
                           mlir::Type element, Index where, Index repeats) {
    store(value, pointer, element, where);
  }

  /// A fold for all columns of the innermost open loop at once, where the
  /// columns are contiguous; `combine` and `sums` as for fold. Null: one fold
  /// per column.
  using ColumnBody = llvm::function_ref<mlir::Value(
      llvm::ArrayRef<Index>, llvm::ArrayRef<Index> at, mlir::Value)>;
  virtual mlir::Value foldColumns(llvm::ArrayRef<int64_t> extents,
                                  llvm::ArrayRef<Index> at, mlir::Value init,
                                  ColumnBody body, Combine combine, bool sums) {
    return nullptr;
  }
  /// Memory of the iteration's own for a row that is computed once and read
  /// again. Null: its elements are computed again.
  virtual mlir::Value rowBuffer(mlir::Type element, int64_t size) {
    return nullptr;
  }
  /// The address of an element; `offset` in elements.
  virtual mlir::Value address(mlir::Value pointer, mlir::Type stored,
                              mlir::Value offset);
  /// An index that is one of a block of `size` indices, known to be inside or
  /// outside of a dimension of `extent` elements as a whole: first + within.
  struct IndexBlock {
    mlir::Value first;
    int64_t within = 0, size = 1;
  };
  virtual IndexBlock blockOf(mlir::Value index, int64_t extent) {
    return {index};
  }
  /// The element of tensor `which` of several that are in memory alike. Null:
  /// each element is chosen among those of all.
  virtual mlir::Value elementOfMany(mlir::ValueRange tensors, Index which,
                                    llvm::ArrayRef<Index> at) {
    return nullptr;
  }
  /// One element of a pooling.
  virtual mlir::Value poolElement(PoolOp op, llvm::ArrayRef<Index> at);
  /// Elements of rows that cannot be had one by one: a running sum, the
  /// positions of the best.
  virtual mlir::Value scanElement(ScanOp op, llvm::ArrayRef<Index> at);
  virtual mlir::Value topKElement(TopKOp op, llvm::ArrayRef<Index> at) = 0;
  /// The sum of the updates that mean a row.
  virtual mlir::Value scatterElement(ScatterOp op, llvm::ArrayRef<Index> at);

  /// Remembers a value under a key of its own (a stack row, a sum).
  using Key = std::vector<const void *>;
  static Key key(const void *what, llvm::ArrayRef<Index> at);
  mlir::Value &remembered(const Key &key) { return memo[key]; }

  llvm::SmallVector<Read> reads;
  Findings findings;

  mlir::OpBuilder &builder;
  mlir::Location loc;

protected:
  /// Dimensions of a tensor that are one run of digits.
  struct Run {
    Index index;
    int64_t extent, stride;
  };
  llvm::SmallVector<Run> runsOf(llvm::ArrayRef<Index> at,
                                llvm::ArrayRef<int64_t> shape);
  Index inView(Index digit);
  bool isTop(Index index) const;
  /// The loops that a digit of a space depends on.
  llvm::SmallVector<Part> partsOf(Index index) const;
  mlir::Value commonSpace(mlir::Value a, mlir::Value b);
  void noteRead(llvm::ArrayRef<Index> at, llvm::ArrayRef<int64_t> shape);
  /// The digits of the space in `fixed`.
  std::vector<std::pair<int64_t, int64_t>>
  digitsOf(llvm::ArrayRef<Index> fixed);
  /// One element of the op's result.
  mlir::Value compute(mlir::Operation *op, llvm::ArrayRef<Index> at);
  /// The element of a tensor in memory.
  virtual mlir::Value readMemory(mlir::Value tensor, llvm::ArrayRef<Index> at);
  struct Scope {
    mlir::Block *block;
    mlir::Operation *loop; // whose body `block` is; null for the entry
  };
  mlir::Value place(mlir::Operation *op);
  void moveTo(mlir::Operation *op, unsigned depth);
  mlir::Value sum(llvm::ArrayRef<std::pair<mlir::Value, int64_t>> terms);
  void addTerms(Index index, int64_t scale,
                llvm::SmallVectorImpl<std::pair<mlir::Value, int64_t>> &terms);
  llvm::SmallVector<Scope> scopes;
  llvm::DenseMap<mlir::Value, unsigned> depths;
  struct Memory {
    mlir::Value pointer;
    Layout layout;
  };
  llvm::DenseMap<mlir::Value, Memory> memory;
  std::map<mlir::Attribute, mlir::Value,
           bool (*)(mlir::Attribute, mlir::Attribute)>
      positions{[](mlir::Attribute a, mlir::Attribute b) {
        return a.getAsOpaquePointer() < b.getAsOpaquePointer();
      }};
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part>> spaces;
  /// Spaces that hold some of another one's parts at the same strides: digits
  /// that are in one of them alone are digits of it.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> views;
  /// The whole of which two views are parts, by the views in both orders.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> wholes;
  /// Values that may differ between the threads that fold together.
  llvm::DenseSet<mlir::Value> varying;
  mlir::Value storeGuard;
  std::map<Key, mlir::Value> memo;
  ConstantTables &tables;
};

/// acc combined with x; max and min carry NaN on.
mlir::Value combineElements(LoopEmitter &emit, ReduceKind kind, mlir::Value acc,
                            mlir::Value x, bool isUnsigned);
mlir::Value neutralFor(LoopEmitter &emit, ReduceKind kind, mlir::Value tensor);
/// Returns whether element `a` comes before `b` in top_k; NaN is larger than
/// any number.
mlir::Value isBetter(LoopEmitter &emit, TopKOp op, mlir::Value a,
                     mlir::Value b);
/// The row of the block that the index at `at` means; one outside of the block
/// is no row of it.
mlir::Value rowOfIndex(LoopEmitter &emit, ScatterOp op,
                       llvm::ArrayRef<Index> at);
/// Returns whether the index at `at` means the row of the block at `row`.
mlir::Value hitsRow(LoopEmitter &emit, ScatterOp op, llvm::ArrayRef<Index> at,
                    Index row);
/// The place among the indices of index number `point`, in the batch of the
/// result's element `at`.
llvm::SmallVector<Index> indexAt(ScatterOp op, llvm::ArrayRef<Index> at,
                                 llvm::ArrayRef<Index> point);
/// The update of that row which the index at `point` brings, at `at` of the
/// result otherwise.
mlir::Value updateAt(LoopEmitter &emit, ScatterOp op,
                     llvm::ArrayRef<Index> point, llvm::ArrayRef<Index> at);
/// Elements without sign: u8 and its kin, booleans.
bool isNatural(mlir::Type tensorOrElement);

/// Returns whether the emitter has loops for `op`.
bool hasLoops(mlir::Operation *op);

} // namespace autopar::loops

#endif // AUTOPAR_LIB_LOWERING_LOOPS_LOOPEMITTER_H
