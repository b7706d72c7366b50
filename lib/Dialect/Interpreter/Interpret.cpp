//===- Interpret.cpp - Runs a module and prints or compares results -------===//

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Dialect/Interpreter/Passes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace autopar {
#define GEN_PASS_DEF_INTERPRET
#include "autopar/Dialect/Interpreter/Passes.h.inc"
} // namespace autopar

using namespace mlir;
using namespace autopar;
using namespace autopar::interpreter;

/// Values given by `autopar.given`, by argument name.
static std::map<std::string, Tensor> givenValues(ModuleOp module) {
  std::map<std::string, Tensor> given;
  for (auto func : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto elements =
          func.getArgAttrOfType<ElementsAttr>(i, AutoparDialect::kGiven);
      if (!elements)
        continue;
      FailureOr<Tensor> value = fromElements(elements);
      if (succeeded(value))
        given[argumentName(func, i)] = std::move(*value);
    }
  return given;
}

/// The places of parameters, by name, in all functions or their buffer form.
static std::map<std::string, ParameterAttr> parametersOf(ModuleOp module) {
  std::map<std::string, ParameterAttr> parameters;
  auto add = [&](Attribute attribute) {
    attribute.walk([&](ParameterAttr parameter) {
      parameters.try_emplace(parameter.getName().str(), parameter);
    });
  };
  for (auto func : module.getOps<func::FuncOp>())
    add(func->getAttrDictionary());
  add(module->getAttrDictionary());
  return parameters;
}

/// The bytes that a parameter names; nullopt if the file does not hold them.
static std::optional<Tensor> readParameter(ParameterAttr parameter,
                                           RankedTensorType type,
                                           StringRef folder) {
  Tensor tensor(type);
  int64_t width = elementBytes(tensor.element());
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, parameter.getFile().getValue());
  int64_t offset = parameter.getOffset();
  if (offset < 0 || tensor.size() * width > parameter.getLength())
    return std::nullopt;
  auto bytes =
      llvm::MemoryBuffer::getFileSlice(path, tensor.size() * width, offset);
  if (!bytes || int64_t((*bytes)->getBufferSize()) < tensor.size() * width)
    return std::nullopt;
  auto *data = reinterpret_cast<const uint8_t *>((*bytes)->getBufferStart());
  for (int64_t i = 0, e = tensor.size(); i < e; ++i)
    loadElement(tensor, i, data + i * width);
  return tensor;
}

static void print(const NamedTensor &result) {
  llvm::outs() << result.name << " = ";
  toElements(result.value).print(llvm::outs());
  llvm::outs() << "\n";
}

namespace {
struct Interpret : autopar::impl::InterpretBase<Interpret> {
  using InterpretBase::InterpretBase;

  void runOnOperation() override {
    auto results = run(getOperation());
    if (failed(results))
      return signalPassFailure();
    if (!against.empty()) {
      if (failed(compareWithFile(*results)))
        signalPassFailure();
      return;
    }
    for (const NamedTensor &result : *results)
      if (result.ofSetup || result.step + 1 == steps)
        print(result);
  }

  FailureOr<std::vector<NamedTensor>> run(ModuleOp module);
  FailureOr<std::vector<NamedTensor>> runWith(ModuleOp module,
                                              Provider provider);
  FailureOr<std::vector<NamedTensor>> runAlone(func::FuncOp func,
                                               Provider provider);
  LogicalResult compareWithFile(ArrayRef<NamedTensor> actual);
};
} // namespace

FailureOr<std::vector<NamedTensor>> Interpret::run(ModuleOp module) {
  std::map<std::string, Tensor> given = givenValues(module);
  std::map<std::string, ParameterAttr> parameters;
  if (!weights.empty())
    parameters = parametersOf(module);
  std::string unread;
  auto provider = [&](StringRef name, RankedTensorType type) {
    auto value = given.find(name.str());
    if (value == given.end()) // what is given holds in all steps
      value = given.find(name.rsplit('@').first.str());
    if (value != given.end() && value->second.type == type)
      return value->second;
    auto parameter = parameters.find(name.str());
    if (parameter == parameters.end())
      return randomTensor(type, name, seed);
    auto read = readParameter(parameter->second, type, weights);
    if (!read)
      unread = name;
    return read ? *read : randomTensor(type, name, seed);
  };
  auto results = runWith(module, provider);
  if (!unread.empty())
    return emitError(module.getLoc())
           << "cannot read parameter '" << unread << "' from " << weights;
  return results;
}

FailureOr<std::vector<NamedTensor>> Interpret::runWith(ModuleOp module,
                                                       Provider provider) {
  if (function.empty())
    return runModule(module, provider, steps);
  auto func = module.lookupSymbol<func::FuncOp>(function);
  if (!func)
    return emitError(module.getLoc()) << "there is no function @" << function;
  return runAlone(func, provider);
}

FailureOr<std::vector<NamedTensor>> Interpret::runAlone(func::FuncOp func,
                                                        Provider provider) {
  std::vector<Tensor> arguments;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    arguments.push_back(
        provider(argumentName(func, i), cast<RankedTensorType>(type)));
  auto values = interpret(func, arguments);
  if (failed(values))
    return failure();
  std::vector<NamedTensor> results;
  for (auto [i, value] : llvm::enumerate(*values))
    results.push_back({resultName(func, i), value});
  return results;
}

LogicalResult Interpret::compareWithFile(ArrayRef<NamedTensor> actual) {
  OwningOpRef<ModuleOp> other =
      parseSourceFile<ModuleOp>(against, &getContext());
  if (!other)
    return emitError(getOperation().getLoc()) << "cannot read " << against;
  auto expected = run(*other);
  if (failed(expected))
    return failure();
  if (auto difference = compareResults(*expected, actual, tolerance))
    return emitError(getOperation().getLoc())
           << "differs from " << against << ": " << *difference;
  llvm::outs() << actual.size() << " results equal\n";
  return success();
}
