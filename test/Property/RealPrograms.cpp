//===- RealPrograms.cpp - Random programs on real ranks -------------------===//
//
// A planned module takes the way of any other: partition, schedule, lower,
// stub. Its weights are a file of raw bytes, its inputs and outputs are .npz
// files.
//
//===----------------------------------------------------------------------===//

#include "RealPrograms.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Executable.h"
#include "autopar/Lowering/MadeWeights.h"
#include "autopar/Pipeline/Phases.h"
#include "core/Npy.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar::property {

using interpreter::NamedTensor;
using interpreter::Tensor;

static llvm::Error problem(const Twine &message) {
  return llvm::createStringError(message.str());
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static std::vector<uint8_t> bytesOf(const Tensor &tensor) {
  int64_t width = elementBytes(tensor.element());
  std::vector<uint8_t> bytes(tensor.size() * width);
  for (int64_t i = 0; i < tensor.size(); ++i)
    interpreter::storeElement(tensor, i, bytes.data() + i * width);
  return bytes;
}

static aprt_dtype dtypeOf(Type element) {
  if (element.isF64())
    return APRT_F64;
  if (element.isF32())
    return APRT_F32;
  return element.isInteger(1) ? APRT_BOOL : APRT_I64;
}

static llvm::Expected<Tensor> tensorOf(const runtime::Array &array,
                                       RankedTensorType type) {
  if (array.dtype != dtypeOf(type.getElementType()) ||
      ArrayRef<int64_t>(array.shape) != type.getShape())
    return problem("an output has another type");
  Tensor tensor(type);
  int64_t width = elementBytes(type.getElementType());
  for (int64_t i = 0; i < tensor.size(); ++i)
    interpreter::loadElement(
        tensor, i,
        reinterpret_cast<const uint8_t *>(array.data.data()) + i * width);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Writes the parameters of all functions, each at the offset that its
/// attribute then says.
static void writeWeights(ModuleOp module, interpreter::Provider provide,
                         StringRef path) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  for (auto func : module.getOps<func::FuncOp>())
    for (BlockArgument argument : func.getArguments()) {
      unsigned index = argument.getArgNumber();
      auto parameter =
          func.getArgAttrOfType<ParameterAttr>(index, AutoparDialect::kSource);
      if (!parameter)
        continue;
      os.write_zeros(llvm::alignTo(os.tell(), 64) - os.tell());
      std::vector<uint8_t> bytes = bytesOf(provide(
          parameter.getName(), cast<RankedTensorType>(argument.getType())));
      func.setArgAttr(
          index, AutoparDialect::kSource,
          parameter.at(parameter.getFile(), os.tell(), bytes.size()));
      os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
}

static llvm::Error writeInputs(func::FuncOp step, interpreter::Provider provide,
                               StringRef path) {
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<runtime::ArrayView> arrays;
  for (BlockArgument argument : step.getArguments()) {
    auto input = step.getArgAttrOfType<InputAttr>(argument.getArgNumber(),
                                                  AutoparDialect::kSource);
    if (!input)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    bytes.push_back(bytesOf(provide(input.getName(), type)));
    arrays.push_back({input.getName().str(), dtypeOf(type.getElementType()),
                      std::vector<int64_t>(type.getShape()), nullptr});
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    arrays[i].data = bytes[i].data();
  runtime::Status status = runtime::writeNpz(path.str(), arrays);
  return status.failed() ? problem(status.message()) : llvm::Error::success();
}

static llvm::Expected<std::vector<NamedTensor>> readOutputs(func::FuncOp step,
                                                            StringRef path) {
  runtime::NamedArrays arrays;
  runtime::Status status = runtime::readNpz(path.str(), arrays);
  if (status.failed())
    return problem(status.message());
  std::vector<NamedTensor> results;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    std::string name = interpreter::resultName(step, i);
    auto array = arrays.find(name);
    if (array == arrays.end())
      return problem("output " + name + " is missing");
    auto tensor = tensorOf(array->second,
                           cast<RankedTensorType>(step.getResultTypes()[i]));
    if (!tensor)
      return tensor.takeError();
    results.push_back({name, std::move(*tensor)});
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Compiling and running
//===----------------------------------------------------------------------===//

static llvm::Error runPhase(Phase phase, ModuleOp module) {
  std::string message;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (message.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
  PassManager manager(module.getContext());
  buildPhase(phase, manager);
  if (succeeded(manager.run(module)))
    return llvm::Error::success();
  return problem(stringifyPhase(phase) + ": " + message);
}

/// Compiles a partitioned module.
static llvm::Error compile(ModuleOp module, StringRef target, StringRef weights,
                           StringRef program) {
  if (llvm::Error error = runPhase(Phase::Schedule, module))
    return error;
  Builder builder(module.getContext());
  Attribute file = WeightFileAttr::get(
      module.getContext(), builder.getStringAttr("model.onnx"),
      builder.getStringAttr(weights), /*size=*/IntegerAttr(),
      /*structure=*/StringAttr(), /*content=*/StringAttr(), /*made=*/false);
  module->setAttr(AutoparDialect::kWeightFiles, builder.getArrayAttr(file));
  if (llvm::Error error = runPhase(Phase::Lower, module))
    return error;
  auto shared = compileProgram(module, target);
  if (!shared)
    return shared.takeError();
  auto made = MadeWeights::create(program, /*isEmbedded=*/false);
  if (!made)
    return made.takeError();
  return writeExecutable(program, *shared, *made, /*model=*/nullptr);
}

/// The first lines of a log.
static std::string textOf(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().take_front(1000).str() : "";
}

/// Builds the program by `build` and runs it.
static llvm::Expected<std::vector<NamedTensor>>
run(func::FuncOp step, interpreter::Provider provide, StringRef folder,
    llvm::function_ref<llvm::Error(StringRef weights, StringRef program)>
        build) {
  auto file = [&](StringRef name) { return (folder + "/" + name).str(); };
  std::string weights = file("weights.bin"), program = file("program"),
              inputs = file("in.npz"), outputs = file("out.npz"),
              log = file("log");
  if (llvm::Error error = writeInputs(step, provide, inputs))
    return std::move(error);
  if (llvm::Error error = build(weights, program))
    return std::move(error);
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(
      program, {program, "--inputs", inputs, "--outputs", outputs},
      std::nullopt, redirects, /*SecondsToWait=*/60, /*MemoryLimit=*/0,
      &message);
  if (code != 0)
    return problem("the program ended with " + Twine(code) + " " + message +
                   ": " + textOf(log));
  return readOutputs(step, outputs);
}

static void setTarget(ModuleOp module, StringRef target) {
  module->setAttr(AutoparDialect::kTarget,
                  StringAttr::get(module.getContext(), target));
}

llvm::Expected<std::vector<NamedTensor>>
runOnRanks(ModuleOp planned, StringRef target, interpreter::Provider provide,
           StringRef folder) {
  OwningOpRef<ModuleOp> module = planned.clone();
  auto build = [&](StringRef weights, StringRef program) -> llvm::Error {
    writeWeights(*module, provide, weights);
    setTarget(*module, target);
    if (llvm::Error error = runPhase(Phase::Partition, *module))
      return error;
    return compile(*module, target, weights, program);
  };
  return run(planned.lookupSymbol<func::FuncOp>("step"), provide, folder,
             build);
}

llvm::Expected<std::vector<NamedTensor>>
runStagesOnRanks(ModuleOp local, func::FuncOp step, StringRef target,
                 interpreter::Provider provide, StringRef folder) {
  OwningOpRef<ModuleOp> module = local.clone();
  auto build = [&](StringRef weights, StringRef program) -> llvm::Error {
    writeWeights(*module, provide, weights);
    setTarget(*module, target);
    return compile(*module, target, weights, program);
  };
  return run(step, provide, folder, build);
}

} // namespace autopar::property
