//===- KernelTable.cpp - The rows of a module's kernels -------------------===//

#include "KernelTable.h"

using namespace mlir;

namespace autopar::gpu {

void setKernelTable(mlir::gpu::GPUModuleOp module,
                    ArrayRef<ProgramKernel> rows) {
  Builder builder(module.getContext());
  SmallVector<Attribute> table;
  for (const ProgramKernel &row : rows) {
    SmallVector<int64_t> bytes, access; // 1: read, 2: written, 3: both
    for (const ProgramKernel::Buffer &buffer : row.buffers) {
      bytes.push_back(buffer.bytes);
      access.push_back((buffer.reads ? 1 : 0) | (buffer.writes ? 2 : 0));
    }
    table.push_back(GridKernelAttr::get(
        module.getContext(), builder.getStringAttr(row.name), row.threads,
        row.sharedBytes, row.scalars, builder.getDenseI64ArrayAttr(bytes),
        builder.getDenseI64ArrayAttr(access)));
  }
  module->setAttr(AutoparDialect::kKernels, builder.getArrayAttr(table));
}

std::vector<ProgramKernel> kernelTable(mlir::gpu::GPUModuleOp module) {
  std::vector<ProgramKernel> rows;
  auto table = module->getAttrOfType<ArrayAttr>(AutoparDialect::kKernels);
  if (!table)
    return rows;
  for (auto entry : table.getAsRange<GridKernelAttr>()) {
    ProgramKernel &row = rows.emplace_back();
    row.name = entry.getName().str();
    row.threads = entry.getThreads();
    row.sharedBytes = entry.getSharedBytes();
    row.scalars = entry.getScalars();
    for (auto [bytes, how] : llvm::zip_equal(entry.getBytes().asArrayRef(),
                                             entry.getAccess().asArrayRef()))
      row.buffers.push_back({bytes, (how & 1) != 0, (how & 2) != 0});
  }
  return rows;
}

} // namespace autopar::gpu
