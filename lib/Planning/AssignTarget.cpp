//===- AssignTarget.cpp - Code is made for the cluster's devices ----------===//

#include "AssignTarget.h"
#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Precision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace autopar {

/// Returns whether fp16 was asked for, or a weight or an input has this type.
static bool usesHalf(ModuleOp module) {
  auto precision =
      module->getAttrOfType<StringAttr>(AutoparDialect::kPrecision);
  auto step = module.lookupSymbol<func::FuncOp>("step");
  return (precision && precision == "fp16") ||
         (step && llvm::any_of(step.getArgumentTypes(), [](Type type) {
            return getElementTypeOrSelf(type).isF16();
          }));
}

LogicalResult assignTarget(ModuleOp module, const Cluster &cluster) {
  const DeviceType &device = cluster.slowest();
  bool isCpu = device.kind == kTargetCpu;
  auto asked = module->getAttrOfType<StringAttr>(AutoparDialect::kTarget);
  if (asked && (asked == kTargetCpu) != isCpu)
    return emitError(module.getLoc())
           << "--target " << asked.getValue() << ": the cluster's devices are "
           << device.name << "; give one of " << (isCpu ? "GPUs" : "CPUs")
           << " by --cluster, or leave it to --ranks N";
  if (!asked && !isCpu)
    module->setAttr(AutoparDialect::kTarget,
                    StringAttr::get(module.getContext(), kTargetCuda));
  if (isCpu && usesHalf(module))
    emitWarning(module.getLoc())
        << "a CPU stores fp16 and computes in fp32, several times slower than "
           "fp32 itself (9 times where it was measured); fp32, or bf16 on a "
           "processor with AMX or AVX512-BF16, suits it";
  return success();
}

} // namespace autopar
