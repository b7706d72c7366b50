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
    auto entry = [&](StringRef name, Attribute value) {
      return builder.getNamedAttr(name, value);
    };
    table.push_back(builder.getDictionaryAttr(
        {entry("name", builder.getStringAttr(row.name)),
         entry("threads", builder.getI64IntegerAttr(row.threads)),
         entry("shared_bytes", builder.getI64IntegerAttr(row.sharedBytes)),
         entry("scalars", builder.getI64IntegerAttr(row.scalars)),
         entry("bytes", builder.getDenseI64ArrayAttr(bytes)),
         entry("access", builder.getDenseI64ArrayAttr(access))}));
  }
  module->setAttr(AutoparDialect::kKernels, builder.getArrayAttr(table));
}

std::vector<ProgramKernel> kernelTable(mlir::gpu::GPUModuleOp module) {
  std::vector<ProgramKernel> rows;
  auto table = module->getAttrOfType<ArrayAttr>(AutoparDialect::kKernels);
  if (!table)
    return rows;
  for (auto entry : table.getAsRange<DictionaryAttr>()) {
    ProgramKernel &row = rows.emplace_back();
    row.name = entry.getAs<StringAttr>("name").str();
    row.threads = entry.getAs<IntegerAttr>("threads").getInt();
    row.sharedBytes = entry.getAs<IntegerAttr>("shared_bytes").getInt();
    row.scalars = entry.getAs<IntegerAttr>("scalars").getInt();
    ArrayRef<int64_t> access = entry.getAs<DenseI64ArrayAttr>("access");
    for (auto [bytes, how] :
         llvm::zip(ArrayRef<int64_t>(entry.getAs<DenseI64ArrayAttr>("bytes")),
                   access))
      row.buffers.push_back({bytes, (how & 1) != 0, (how & 2) != 0});
  }
  return rows;
}

} // namespace autopar::gpu
