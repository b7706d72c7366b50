//===- GrowingStates.cpp - States that are larger after a step ------------===//

#include "FollowExtent.h"
#include "OnnxContents.h"
#include "OnnxImporter.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

/// The smallest of the sizes that a model is imported at. One that is also
/// another size of the model makes it another graph: 1 broadcasts, and even
/// numbers are common.
static constexpr int64_t kSmallestSize = 5;

static const onnx::TensorShapeProto *
shapeOf(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> &ports,
        StringRef name) {
  for (const onnx::ValueInfoProto &port : ports)
    if (port.name() == name && port.type().tensor_type().has_shape())
      return &port.type().tensor_type().shape();
  return nullptr;
}

namespace {

class GrowingStates {
public:
  GrowingStates(const OnnxModel &model, const ImportOptions &options,
                MLIRContext *context)
      : model(model), given(options), context(context) {}

  OwningOpRef<ModuleOp> import();

private:
  std::vector<GrowingSize> findCandidates() const;
  LogicalResult findGrowth(std::string &problem);
  OwningOpRef<ModuleOp> importGrowing();
  OwningOpRef<ModuleOp> importAt(int64_t size);
  LogicalResult error(const Twine &message) {
    return emitError(UnknownLoc::get(context)) << message;
  }

  const OnnxModel &model;
  const ImportOptions &given;
  ImportOptions options; // without the states that may grow
  MLIRContext *context;
  GrowingSize growing;
  Sample<OwningOpRef<ModuleOp>> modules; // the last one first
};

} // namespace

/// States of a symbolic size that may be another one after the step, by what
/// the model says of its outputs.
std::vector<GrowingSize> GrowingStates::findCandidates() const {
  const onnx::GraphProto &graph = model.contents().proto.graph();
  std::vector<GrowingSize> found;
  for (const auto &[in, out] : given.states) {
    const auto *from = shapeOf(graph.input(), in);
    const auto *to = shapeOf(graph.output(), out);
    for (int i = 0; from && i < from->dim_size(); ++i) {
      const std::string &symbol = from->dim(i).dim_param();
      bool isSame = to && to->dim_size() == from->dim_size() &&
                    to->dim(i).dim_param() == symbol;
      if (symbol.empty() || !given.bindings.count(symbol) || isSame)
        continue;
      auto size = llvm::find_if(
          found, [&](const GrowingSize &s) { return s.symbol == symbol; });
      if (size == found.end())
        size = found.insert(found.end(), GrowingSize{symbol, 0, {}});
      size->states.push_back({in, out, i});
    }
  }
  return found;
}

OwningOpRef<ModuleOp> GrowingStates::importAt(int64_t size) {
  options.bindings[growing.symbol] = std::to_string(size);
  return OnnxImporter(model, options, context, /*keepsAll=*/true).run();
}

static func::FuncOp stepOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("step");
}

static RankedTensorType inputType(func::FuncOp step, StringRef name) {
  for (BlockArgument argument : step.getArguments())
    if (auto input = step.getArgAttrOfType<InputAttr>(argument.getArgNumber(),
                                                      AutoparDialect::kSource);
        input && input.getName() == name)
      return cast<RankedTensorType>(argument.getType());
  return {};
}

static RankedTensorType outputType(func::FuncOp step, StringRef name) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (auto output =
            step.getResultAttrOfType<OutputAttr>(i, AutoparDialect::kResult);
        output && output.getName() == name)
      return cast<RankedTensorType>(step.getResultTypes()[i]);
  return {};
}

/// Finds by how much the states grow, which must be the same for all. 0: they
/// do not grow along this size, which is a problem unless they grow along
/// another one.
LogicalResult GrowingStates::findGrowth(std::string &problem) {
  func::FuncOp step = stepOf(*modules[2]);
  for (const GrowingState &state : growing.states) {
    std::string name = "--state " + state.in + "=" + state.out + ": ";
    RankedTensorType from = inputType(step, state.in),
                     to = outputType(step, state.out);
    if (!from)
      return error(name + "the model has no input '" + state.in + "'");
    if (!to)
      return error(name + "the model has no output '" + state.out + "'");
    SmallVector<int64_t> shape(from.getShape());
    int64_t by = to.getRank() == from.getRank()
                     ? to.getDimSize(state.dim) - shape[state.dim]
                     : 0;
    shape[state.dim] += by;
    if (from.clone(shape) != to || by < 0 ||
        (&state != &growing.states[0] && by != growing.growth)) {
      llvm::raw_string_ostream(problem)
          << name << "with '" << growing.symbol << "' = " << kSmallestSize
          << " their types are " << from << " and " << to
          << "; a state keeps its type, or grows along '" << growing.symbol
          << "', all by the same number of rows";
      growing.growth = 0;
      return success();
    }
    growing.growth = by;
  }
  return success();
}

OwningOpRef<ModuleOp> GrowingStates::importGrowing() {
  int64_t rows;
  const std::string &text = given.bindings.at(growing.symbol);
  int64_t least = kSmallestSize + growing.growth + 2;
  if (StringRef(text).getAsInteger(10, rows) || rows < least) {
    (void)error("--bind " + growing.symbol + "=" + text +
                ": states that grow by " + Twine(growing.growth) +
                " rows a step need at least " + Twine(least));
    return nullptr;
  }
  Sample<int64_t> sizes{rows - growing.growth, rows - growing.growth - 1,
                        kSmallestSize};
  Sample<func::FuncOp> steps;
  for (unsigned i = 0; i < 3; ++i) {
    if (!modules[i])
      modules[i] = importAt(sizes[i]);
    if (!modules[i])
      return nullptr;
    steps[i] = stepOf(*modules[i]);
  }
  SizedSteps sized(growing, sizes, steps);
  if (failed(followExtent(sized)) || failed(verify(*modules[0])))
    return nullptr;
  return std::move(modules[0]);
}

OwningOpRef<ModuleOp> GrowingStates::import() {
  std::string problem;
  for (const GrowingSize &candidate : findCandidates()) {
    growing = candidate;
    options = given;
    for (const GrowingState &state : growing.states)
      options.states.erase(state.in);
    modules[2] = importAt(kSmallestSize);
    if (!modules[2] || failed(findGrowth(problem)))
      return nullptr;
    if (growing.growth)
      return importGrowing();
  }
  if (!problem.empty()) {
    (void)error(problem);
    return nullptr;
  }
  return OnnxImporter(model, given, context).run();
}

OwningOpRef<ModuleOp> importOnnx(const OnnxModel &model,
                                 const ImportOptions &options,
                                 MLIRContext *context) {
  OwningOpRef<ModuleOp> module =
      GrowingStates(model, options, context).import();
  SmallVector<NamedAttribute> outputs;
  for (const auto &[in, out] : options.states)
    outputs.emplace_back(StringAttr::get(context, in),
                         StringAttr::get(context, out));
  if (module && !outputs.empty())
    (*module)->setAttr(AutoparDialect::kStateOutputs,
                       DictionaryAttr::get(context, outputs));
  return module;
}

} // namespace autopar
