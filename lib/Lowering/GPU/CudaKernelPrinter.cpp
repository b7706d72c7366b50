//===- CudaKernelPrinter.cpp - The statements of one kernel ---------------===//

#include "CudaKernelPrinter.h"
#include "CudaSource.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar::gpu {

LogicalResult CudaKernelPrinter::unknown(Operation *op) {
  return op->emitError("has no form in CUDA C++ (--emit cuda-source)");
}

void CudaKernelPrinter::line(const Twine &text) {
  body += wrapped(std::string(2 * indent, ' ') + text.str()) + "\n";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// threadIdx.x and its kin.
void CudaKernelPrinter::position(Operation *op, StringRef stem,
                                 StringRef builtin) {
  auto dimension = op->getAttrOfType<mlir::gpu::DimensionAttr>("dimension");
  std::string letter =
      mlir::gpu::stringifyDimension(dimension.getValue()).str();
  std::string text = (builtin + "." + letter).str();
  std::string variable =
      letter == "x" ? stem.str() : (stem + "_" + letter).str();
  if (names[variable]++ == 0)
    line("const int64_t " + variable + " = " + text + ";");
  name(op->getResult(0), variable);
}

LogicalResult CudaKernelPrinter::statement(Operation *op) {
  using namespace mlir::gpu;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return success();
  StringRef name = op->getName().getStringRef();
  if (name == "nvvm.bar.warp.sync") {
    Text mask = lane(op->getOperand(0), 0);
    flush(op);
    line(mask.text == "-1" ? "__syncwarp();"
                           : "__syncwarp(" + mask.text + ");");
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ThreadIdOp id) {
        return position(id, "thread", "threadIdx"), success();
      })
      .Case([&](BlockIdOp id) {
        return position(id, "block", "blockIdx"), success();
      })
      .Case([&](BlockDimOp id) {
        return position(id, "threads", "blockDim"), success();
      })
      .Case([&](GridDimOp id) {
        return position(id, "blocks", "gridDim"), success();
      })
      .Case([&](BarrierOp) {
        flush(op);
        return line("__syncthreads();"), success();
      })
      .Case([&](ShuffleOp shuffled) { return shuffle(shuffled); })
      .Case([&](scf::ForOp found) { return loop(found); })
      .Case([&](scf::WhileOp found) { return whileLoop(found); })
      .Case([&](scf::IfOp found) { return branch(found); })
      .Case([&](LLVM::GEPOp found) { return address(found); })
      .Case([&](LLVM::AllocaOp found) { return stack(found); })
      .Case([&](LLVM::LoadOp found) { return load(found); })
      .Case([&](LLVM::StoreOp found) { return store(found); })
      .Case<LLVM::AddressOfOp, LLVM::PoisonOp, LLVM::UndefOp, LLVM::ZeroOp>(
          [&](auto) { return success(); })
      .Case<vector::ExtractOp, vector::InsertOp, vector::BroadcastOp,
            vector::FromElementsOp, LLVM::ExtractElementOp,
            LLVM::InsertElementOp>([&](auto) { return lanes(op); })
      .Default([&](Operation *) { return expression(op); });
}

LogicalResult CudaKernelPrinter::block(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(statement(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

std::string CudaKernelPrinter::comment() {
  std::string text;
  auto description =
      function->getAttrOfType<StringAttr>(AutoparDialect::kDescription);
  SmallVector<StringRef> lines;
  if (description)
    description.getValue().trim().split(lines, '\n');
  for (StringRef each : lines)
    text += "/// " + commentText(each) + "\n";
  text += llvm::formatv("/// {0} threads in a block", row.threads);
  if (row.sharedBytes != 0)
    text += llvm::formatv(", {0} bytes of shared memory", row.sharedBytes);
  return text + ".\n";
}

std::string CudaKernelPrinter::signature() {
  SmallVector<std::string> parameters;
  unsigned pointers = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<LLVM::LLVMPointerType>(argument.getType())) {
      std::string variable = freshName("position");
      name(argument, variable);
      parameters.push_back(*typeText(argument.getType()) + " " + variable);
      continue;
    }
    const ProgramKernel::Buffer &buffer = row.buffers[pointers++];
    StringRef stem = !buffer.writes ? "in" : buffer.reads ? "inout" : "out";
    Address place{(stem + Twine(argument.getArgNumber())).str(),
                  elementOf(argument),
                  {},
                  !buffer.writes};
    parameters.push_back(llvm::formatv(
        "{0}{1} *__restrict__ {2}", place.isConst ? "const " : "",
        place.element ? *typeText(place.element) : "void", place.base));
    places[argument] = place;
  }
  std::string head = llvm::formatv("{0}({1}) {{", function.getName(),
                                   llvm::join(parameters, ", "));
  return llvm::formatv(
      "extern \"C\" __global__ void __launch_bounds__({0})\n{1}\n", row.threads,
      wrapped(head));
}

FailureOr<std::string> CudaKernelPrinter::print() {
  if (!llvm::hasSingleElement(function.getBody()))
    return unknown(function);
  std::string head = comment() + signature();
  if (failed(declareArrays()) || failed(block(function.getBody().front())))
    return failure();
  return head + body + "}\n";
}

} // namespace autopar::gpu
