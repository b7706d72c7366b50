//===- Grouping.h - State of the kernel-group analysis ----------*- C++ -*-===//
//
// Groups are built in program order. Each has a level that is greater than the
// level of every group and op from which it reads. So there is no cycle, and
// groups of one level are independent. The level of a group that nothing reads
// yet may rise.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_GROUPING_H
#define AUTOPAR_LIB_COST_GROUPING_H

#include "autopar/Cost/KernelGroups.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/DenseMap.h"

namespace autopar {

/// A group's access to an operand: the operand is `base`, a value that is in
/// memory or computed in the group, seen through spreads and reshapes. Without
/// a base the operand is computed from constants and positions alone.
struct Access {
  mlir::Value base;
  llvm::SmallVector<mlir::Operation *, 2> path; // from the base to the operand
  bool spread = false;                          // a spread is in the path
};

/// A group while it grows.
struct OpenGroup {
  std::optional<CallKind> call; // none: loops
  mlir::Operation *root = nullptr;
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t level = 1;
  bool consumed = false; // something outside reads it
  bool whole = false;    // root has a loop nest of its own
  bool closed = false;   // takes no more ops
  bool remapped = false; // some ops are computed at another index than the rest
  int64_t elements = 0;  // of a full value
  int64_t rowLength = 0; // 0: no reductions
  // A library call has one result so far, `tail`, and these epilogue steps.
  mlir::Value tail;
  llvm::SmallVector<EpilogueStep, 3> steps;
  mlir::Value bias, addend; // as the body reads them: before it is spread
  Activation activation = Activation::None;
};

class Grouping {
public:
  Grouping(mlir::Block &body, const TargetTable &table);
  void run();

  /// The access of a loop group to `operand`.
  Access resolve(mlir::Value operand) const;
  /// The value whose buffer `value` names: reshapes are followed to their
  /// operand.
  mlir::Value storageOf(mlir::Value value) const;
  bool isLive(mlir::Operation *op) const { return live.lookup(op); }
  bool hasOneLiveUse(mlir::Value value) const;
  bool isFree(mlir::Operation *op) const { return freeCost.lookup(op) > 0; }
  /// The group that computes `op`; -1 if none does.
  int64_t groupOf(mlir::Operation *op) const;
  bool readsMemoryOnly(mlir::Operation *op) const;

  mlir::Block &body;
  const TargetTable &table;
  std::vector<OpenGroup> groups; // merged ones are empty
  llvm::DenseMap<mlir::Operation *, LoopRole> roles;

private:
  void findLive();
  void visit(mlir::Operation *op);
  void visitView(mlir::Operation *op);
  void visitPointwise(mlir::Operation *op);
  void visitRemap(mlir::Operation *op);
  void visitReduction(mlir::Operation *op);
  void visitOpaque(mlir::Operation *op);
  bool becomesFree(mlir::Operation *op);

  OpenGroup &start(mlir::Operation *op, std::optional<CallKind> call = {});
  void startWhole(mlir::Operation *op);
  bool isPartOfFilterGradient(mlir::Operation *op) const;
  void absorb(OpenGroup &group, unsigned id, unsigned other);
  bool isReadOutside(mlir::Value value, int64_t id) const;
  void takeOperandIn(mlir::Operation *reduction);
  void add(mlir::Operation *op, unsigned group);
  void materialise(mlir::Value value);
  void consume(mlir::Value base);
  int64_t levelOf(mlir::Value base) const;
  int64_t groupOf(mlir::Value value) const;
  unsigned find(unsigned group) const;

  const LibraryCalls &libraryOf(const OpenGroup &group) const {
    return *table.calls(*group.call);
  }
  bool tryEpilogue(mlir::Operation *op, llvm::ArrayRef<Access> accesses,
                   unsigned at);
  std::optional<EpilogueStep> epilogueStep(mlir::Operation *op,
                                           const OpenGroup &group,
                                           llvm::ArrayRef<Access> accesses,
                                           unsigned at) const;
  bool takeStep(OpenGroup &group, EpilogueStep step) const;
  bool trySilu(mlir::Operation *sigmoid, const Access &access);
  bool isAbsorbed(mlir::Operation *op, const Access &access) const;
  bool tryJoin(mlir::Operation *op, unsigned group,
               llvm::ArrayRef<Access> accesses);
  bool sees(mlir::Operation *op, const OpenGroup &group,
            const Access &access) const;
  bool tryMerge(unsigned from, unsigned into);
  bool setRowLength(OpenGroup &group, int64_t rowLength);

  llvm::DenseMap<mlir::Operation *, bool> live;
  llvm::DenseMap<mlir::Operation *, unsigned> freeCost; // 0: not free
  llvm::DenseMap<mlir::Operation *, unsigned> pathDepth;
  llvm::DenseMap<mlir::Operation *, bool>
      cut; // reshape of a buffer made for it
  llvm::DenseMap<mlir::Operation *, unsigned> groupIds;
  llvm::DenseMap<mlir::Operation *, int64_t> opaqueLevels;
  llvm::DenseMap<mlir::Operation *, unsigned> promised; // op -> its group
  mutable llvm::SmallVector<unsigned> parents;          // of merged groups
};

/// A reshape that keeps the innermost dimension, dimensions of size 1 aside.
bool isTrivialReshape(mlir::Operation *view);

} // namespace autopar

#endif // AUTOPAR_LIB_COST_GROUPING_H
