//===- RunModel.cpp - Runs an imported model with the interpreter ---------===//

#include "RunModel.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using autopar::interpreter::Tensor;

/// Elements of `bytes`; all zero if there are too few.
static Tensor toTensor(ArrayRef<char> bytes, mlir::RankedTensorType type) {
  Tensor tensor(type);
  int64_t width = autopar::elementBytes(type.getElementType());
  if (int64_t(bytes.size()) < tensor.size() * width) {
    errs() << "too few bytes for " << type << "\n";
    return tensor;
  }
  for (int64_t i = 0; i < tensor.size(); ++i)
    autopar::interpreter::loadElement(
        tensor, i, reinterpret_cast<const uint8_t *>(bytes.data()) + i * width);
  return tensor;
}

static void writeTensor(const Tensor &tensor, const Twine &path) {
  int64_t width = autopar::elementBytes(tensor.element());
  std::vector<uint8_t> bytes(tensor.size() * width);
  for (int64_t i = 0; i < tensor.size(); ++i)
    autopar::interpreter::storeElement(tensor, i, bytes.data() + i * width);
  std::error_code failed;
  raw_fd_ostream out(path.str(), failed);
  out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

mlir::LogicalResult runModel(mlir::ModuleOp module,
                             const autopar::OnnxModel &model,
                             StringRef folder) {
  auto step = module.lookupSymbol<mlir::func::FuncOp>("step");
  StringMap<unsigned> inputs, outputs;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (auto input = step.getArgAttrOfType<autopar::InputAttr>(
            i, autopar::AutoparDialect::kSource))
      inputs[input.getName()] = i;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    outputs[step.getResultAttrOfType<autopar::OutputAttr>(
                    i, autopar::AutoparDialect::kResult)
                .getName()] = i;
  auto provide = [&](StringRef name, mlir::RankedTensorType type) {
    auto input = inputs.find(name);
    if (input == inputs.end()) {
      Expected<std::vector<char>> bytes = model.readParameter(name);
      if (bytes)
        return toTensor(*bytes, type);
      errs() << toString(bytes.takeError()) << "\n";
      return Tensor(type);
    }
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(
        folder + "/in." + Twine(input->second), /*IsText=*/false, false);
    return file
               ? toTensor({(*file)->getBufferStart(), (*file)->getBufferSize()},
                          type)
               : toTensor({}, type);
  };
  mlir::FailureOr<std::vector<autopar::interpreter::NamedTensor>> results =
      autopar::interpreter::runModule(module, provide);
  if (failed(results))
    return mlir::failure();
  for (const autopar::interpreter::NamedTensor &result : *results)
    if (auto output = outputs.find(result.name); output != outputs.end())
      writeTensor(result.value, folder + "/out." + Twine(output->second));
  return mlir::success();
}
