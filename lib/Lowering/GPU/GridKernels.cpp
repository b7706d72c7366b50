//===- GridKernels.cpp - Kernels as functions of a grid of threads --------===//
//
// A kernel is emitted twice, as on the CPU. The first emission, which is thrown
// away, treats the space of iterations as flat and finds out which elements are
// folded and read and where the space is cut. The second follows the plan made
// from that.
//
//===----------------------------------------------------------------------===//

#include "GridKernels.h"
#include "GridBuilder.h"
#include "autopar/Dialect/Bytes.h"

using namespace mlir;

namespace autopar::gpu {

namespace {

/// The address space of a device's memory.
constexpr unsigned kGlobalSpace = 1;

//===----------------------------------------------------------------------===//
// What kernels need
//===----------------------------------------------------------------------===//

/// Consecutive elements that the widest access takes of the smallest type, if
/// all large buffers are aligned; accesses of larger types are several.
int64_t vectorFor(KernelOp kernel) {
  int64_t space = loops::spaceOf(kernel), bytes = kAccessBytes;
  for (Value operand : kernel->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    if (2 * type.getNumElements() < space)
      continue;
    if (!isAligned(operand))
      return 1;
    unsigned bits = type.getElementType().getIntOrFloatBitWidth();
    bytes = std::min<int64_t>(bytes, llvm::divideCeil(bits, 8));
  }
  return std::min<int64_t>(8, kAccessBytes / bytes);
}

GridKernelRow rowFor(KernelOp kernel, const KernelSlots &arguments) {
  GridKernelRow row;
  row.buffers.resize(arguments.buffers.size());
  row.scalars = arguments.positions.size();
  size_t inputs = kernel.getInputs().size();
  for (auto [number, slot] : llvm::enumerate(arguments.slots)) {
    auto &buffer = row.buffers[slot];
    buffer.bytes = std::max<int64_t>(
        buffer.bytes, bytesOf(kernel->getOperand(number).getType()));
    (number < inputs ? buffer.reads : buffer.writes) = true;
  }
  return row;
}

/// Kernels whose buffers begin elsewhere within 16 bytes are different ones.
std::string keyOf(KernelOp kernel, const KernelSlots &arguments) {
  std::string key = loops::bodyKey(kernel, arguments.slots);
  for (unsigned number : arguments.buffers)
    key += isAligned(kernel->getOperand(number)) ? 'a' : 'u';
  return key;
}

} // namespace

FailureOr<GridKernels::Known> GridKernels::make(KernelOp kernel) {
  if (failed(loops::verifyBody(kernel)))
    return failure();
  if (loops::spaceOf(kernel) == 0)
    return Known{0, 0};
  if (!kernels) {
    OpBuilder builder = OpBuilder::atBlockEnd(outer.getBody());
    kernels =
        mlir::gpu::GPUModuleOp::create(builder, outer.getLoc(), "kernels");
    tables.emplace(kernels, kGlobalSpace);
  }
  KernelSlots arguments(kernel);
  std::string name = loops::nameOf(kernel, table.size());
  GridBuilder builder(kernels, *tables, kernel, arguments, name);
  loops::Findings findings = builder.tryOut();
  GridPlan plan = planGrid(kernel, findings, vectorFor(kernel));
  GridKernelRow row = rowFor(kernel, arguments);
  row.name = name;
  row.sharedBytes = builder.build(plan);
  while (row.sharedBytes > kMostSharedBytes) {
    builder.discard();
    plan.shareLess();
    row.sharedBytes = builder.build(plan);
  }
  row.threads = plan.threadCount();
  table.push_back(std::move(row));
  return Known{static_cast<int32_t>(table.size() - 1), plan.blocks()};
}

FailureOr<GridKernel> GridKernels::get(KernelOp kernel) {
  KernelSlots arguments(kernel);
  auto [it, isNew] = known.try_emplace(keyOf(kernel, arguments));
  if (isNew) {
    FailureOr<Known> made = make(kernel);
    if (failed(made)) {
      known.erase(it);
      return failure();
    }
    it->second = *made;
  }
  return GridKernel{it->second.index, arguments.buffers, arguments.positions,
                    it->second.blocks};
}

} // namespace autopar::gpu
