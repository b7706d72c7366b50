//===- GridBuilder.h - One kernel as a function of a grid -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_GRIDBUILDER_H
#define AUTOPAR_LIB_LOWERING_GPU_GRIDBUILDER_H

#include "../Loops/KernelBody.h"
#include "GridPlan.h"

namespace autopar::gpu {

using loops::KernelSlots;
using loops::OutputElement;

/// Bytes of the widest memory access.
constexpr int64_t kAccessBytes = 16;

/// Returns whether the buffer of an operand begins at a multiple of
/// kAccessBytes.
bool isAligned(mlir::Value memref);

/// An emission of a kernel's body.
class GridBuilder {
public:
  GridBuilder(mlir::gpu::GPUModuleOp module, loops::ConstantTables &tables,
              KernelOp kernel, const KernelSlots &arguments,
              llvm::StringRef name)
      : module(module), tables(tables), kernel(kernel), arguments(arguments),
        name(name), builder(mlir::OpBuilder::atBlockEnd(module.getBody())),
        loc(kernel.getLoc()) {}

  /// Emits the body over the flat space, for one thread, and throws the code
  /// away.
  loops::Findings tryOut();
  /// The function; returns the bytes of shared memory it uses.
  int64_t build(const GridPlan &plan);
  /// Takes the function back, and its shared memory.
  void discard();

private:
  mlir::gpu::GPUFuncOp makeFunction(const GridPlan &plan);
  void bindArguments(GridEmitter &emit);
  void emitFlat(const GridPlan &plan);
  mlir::Value numberRow(RowGroup &group);
  void emitRows(const GridPlan &plan);
  void emitTiles(const GridPlan &plan);
  void store(GridEmitter &emit, llvm::ArrayRef<OutputElement> elements);
  GridEmitter emitterFor(mlir::Block *block) {
    GridEmitter emit(builder, loc, block, tables, module, name);
    bindArguments(emit);
    return emit;
  }
  /// The block of what runs only where `index` < `size`.
  mlir::Block *guarded(mlir::Value index, int64_t size);

  // Values of the function that is being built:
  mlir::Value constant(int64_t value);
  template <typename OpT> mlir::Value dimension();
  mlir::Value plus(mlir::Value a, mlir::Value b, int64_t scale);
  mlir::Value digit(mlir::Value index, int64_t below, int64_t size);

  mlir::gpu::GPUModuleOp module;
  loops::ConstantTables &tables;
  KernelOp kernel;
  const KernelSlots &arguments;
  std::string name;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::gpu::GPUFuncOp function;
  int64_t shared = 0;
};

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_GRIDBUILDER_H
