//===- Program.cpp - Runs a whole module, stage after stage ---------------===//

#include "autopar/Dialect/Interpreter/Interpreter.h"

using namespace mlir;

namespace autopar::interpreter {

namespace {
/// An argument or a result of a function, in tensor or buffer form.
struct Port {
  std::string name;
  Attribute origin; // autopar.source or autopar.result
  RankedTensorType whole;
  Sharding sharding;
  Type type;                  // of the local value
  std::optional<Place> place; // in buffer form
  int64_t number = -1;        // of the value there
};

/// The functions of one stage and what is in its memory.
struct Stage {
  func::FuncOp setup, step;
  std::vector<Everywhere> setupResults;
  llvm::DenseMap<Attribute, Everywhere> states; // after the first step
  std::vector<Memory> memory;
};

class Program {
public:
  Program(ModuleOp module, Provider provider, Mesh mesh)
      : module(module), provider(provider), machine(std::move(mesh)) {}

  FailureOr<std::vector<NamedTensor>> run(std::vector<Stage> stages,
                                          int64_t steps);

private:
  LogicalResult runFunction(func::FuncOp func, Stage &stage, int64_t number);
  FailureOr<Port> port(func::FuncOp func, Attribute origin, Type type,
                       RankedTensorType global, ShardingAttr sharding,
                       StringRef kind, unsigned index);
  FailureOr<Port> portOf(func::FuncOp func, PortAttr attribute, StringRef kind,
                         unsigned index);
  FailureOr<Port> portOf(func::FuncOp func, DictionaryAttr attributes,
                         Type type, StringRef kind, unsigned index);
  FailureOr<std::vector<Port>> ports(func::FuncOp func, StringRef kind);
  FailureOr<Everywhere> argument(func::FuncOp func, const Port &port,
                                 const Stage &stage);
  LogicalResult prepareMemory(func::FuncOp func, Stage &stage, int64_t number);
  LogicalResult publish(func::FuncOp func, const Port &port,
                        const Everywhere &value);
  Everywhere cut(const Port &port);
  Tensor wholeOf(const Port &port);

  ModuleOp module;
  Provider provider;
  Machine machine;
  int64_t stepNumber = 0;
  std::vector<NamedTensor> outputs;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

static std::string nameOf(Attribute origin, StringRef kind, unsigned index) {
  if (auto input = dyn_cast_or_null<InputAttr>(origin))
    return input.getName().str();
  if (auto parameter = dyn_cast_or_null<ParameterAttr>(origin))
    return parameter.getName().str();
  if (auto state = dyn_cast_or_null<StateAttr>(origin))
    origin = state.next();
  if (auto next = dyn_cast_or_null<NextStateAttr>(origin))
    return next.getRole() == StateRole::Model
               ? next.getName().str()
               : (stringifyStateRole(next.getRole()) + ":" +
                  next.getName().getValue())
                     .str();
  if (auto gradient = dyn_cast_or_null<GradientAttr>(origin))
    return "gradient/" + gradient.getName().str();
  if (auto output = dyn_cast_or_null<OutputAttr>(origin))
    return output.getName().str();
  if (auto value = dyn_cast_or_null<SetupValueAttr>(origin))
    return value.getName().str();
  return (kind + std::to_string(index)).str();
}

std::string argumentName(func::FuncOp func, unsigned index) {
  return nameOf(func.getArgAttr(index, AutoparDialect::kSource), "argument",
                index);
}

std::string resultName(func::FuncOp func, unsigned index) {
  return nameOf(func.getResultAttr(index, AutoparDialect::kResult), "result",
                index);
}

FailureOr<Port> Program::port(func::FuncOp func, Attribute origin, Type type,
                              RankedTensorType global, ShardingAttr sharding,
                              StringRef kind, unsigned index) {
  Port port;
  port.origin = origin;
  port.name = nameOf(origin, kind, index);
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  if (!shaped)
    return func.emitError() << kind << " " << index << " is no tensor";
  port.type = type;
  port.whole =
      RankedTensorType::get(shaped.getShape(), shaped.getElementType());
  port.sharding = Sharding::replicated(shaped.getRank());
  if (machine.points() == 1)
    return port;
  if (global)
    port.whole = global;
  if (sharding)
    port.sharding = sharding.toSharding(machine.getMesh());
  if (SmallVector<int64_t>(shaped.getShape()) !=
      localShape(port.whole.getShape(), port.sharding, machine.getMesh()))
    return func.emitError() << kind << " " << index << " (" << port.name
                            << ") has type " << type << ", which is not its "
                            << "sharding's block of " << port.whole;
  return port;
}

/// Describes a port of a function in buffer form.
FailureOr<Port> Program::portOf(func::FuncOp func, PortAttr attribute,
                                StringRef kind, unsigned index) {
  FailureOr<Port> made =
      port(func, attribute.getWhat(), attribute.getType(),
           attribute.getGlobalType(), attribute.getSharding(), kind, index);
  if (failed(made))
    return failure();
  made->place =
      Place{attribute.getSpace(), attribute.getPosition(), attribute.getType()};
  made->number = attribute.getValue();
  return made;
}

/// Describes a port of a function in tensor form by its attributes.
FailureOr<Port> Program::portOf(func::FuncOp func, DictionaryAttr attributes,
                                Type type, StringRef kind, unsigned index) {
  if (!attributes)
    return port(func, Attribute(), type, {}, {}, kind, index);
  auto global = attributes.getAs<TypeAttr>(AutoparDialect::kGlobalType);
  return port(
      func,
      attributes.get(kind == "argument" ? AutoparDialect::kSource
                                        : AutoparDialect::kResult),
      type,
      global ? cast<RankedTensorType>(global.getValue()) : RankedTensorType(),
      attributes.getAs<ShardingAttr>(AutoparDialect::kSharding), kind, index);
}

/// Returns the ports of one kind, "argument" or "result".
FailureOr<std::vector<Port>> Program::ports(func::FuncOp func, StringRef kind) {
  std::vector<Port> ports;
  auto add = [&](FailureOr<Port> made) {
    if (succeeded(made))
      ports.push_back(std::move(*made));
    return LogicalResult(made);
  };
  bool arguments = kind == "argument";
  if (auto list = func->getAttrOfType<ArrayAttr>(
          arguments ? AutoparDialect::kArguments : AutoparDialect::kResults)) {
    for (auto attribute : list.getAsRange<PortAttr>())
      if (failed(add(portOf(func, attribute, kind, ports.size()))))
        return failure();
    return ports;
  }
  auto types = arguments ? func.getArgumentTypes() : func.getResultTypes();
  for (auto [i, type] : llvm::enumerate(types))
    if (failed(add(portOf(func,
                          arguments ? func.getArgAttrDict(i)
                                    : func.getResultAttrDict(i),
                          type, kind, i))))
      return failure();
  return ports;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

std::string inputName(StringRef name, int64_t step) {
  return step == 0 ? name.str() : (name + "@" + Twine(step)).str();
}

/// Returns the global value of an argument; a state has its initial value.
Tensor Program::wholeOf(const Port &port) {
  if (isa_and_nonnull<InputAttr>(port.origin))
    return provider(inputName(port.name, stepNumber), port.whole);
  auto state = dyn_cast_or_null<StateAttr>(port.origin);
  if (!state)
    return provider(port.name, port.whole);
  if (auto parameter = dyn_cast<ParameterAttr>(state.getInitial()))
    return provider(parameter.getName(), port.whole);
  return filledTensor(port.whole, state.getInitial());
}

Everywhere Program::cut(const Port &port) {
  Tensor whole = wholeOf(port);
  const Mesh &mesh = machine.getMesh();
  // A replicated value is one tensor for all.
  if (port.sharding.isReplicated())
    return Everywhere(machine.points(),
                      std::make_shared<Tensor>(std::move(whole)));
  Everywhere blocks;
  for (int64_t point = 0; point < machine.points(); ++point)
    blocks.push_back(
        std::make_shared<Tensor>(cutBlock(whole, port.sharding, mesh, point)));
  return blocks;
}

FailureOr<Everywhere> Program::argument(func::FuncOp func, const Port &port,
                                        const Stage &stage) {
  if (auto state = dyn_cast_or_null<StateAttr>(port.origin))
    if (auto at = stage.states.find(state.next()); at != stage.states.end())
      return at->second;
  auto setup = dyn_cast_or_null<SetupResultAttr>(port.origin);
  if (!setup)
    return cut(port);
  size_t index = setup.getIndex();
  if (index >= stage.setupResults.size())
    return func.emitError()
           << "an argument is result " << index << " of setup, which has only "
           << stage.setupResults.size();
  if (stage.setupResults[index].front()->type != port.type)
    return func.emitError() << "result " << index << " of setup has type "
                            << stage.setupResults[index].front()->type
                            << ", but the argument " << port.type;
  return stage.setupResults[index];
}

/// Prepares memory before a function in buffer form runs: the arena holds
/// nothing that may be used, and persistent tensors that are parameters or
/// states are loaded once.
LogicalResult Program::prepareMemory(func::FuncOp func, Stage &stage,
                                     int64_t number) {
  auto arena = func->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes);
  if (!arena)
    return success();
  bool first = stage.memory.empty();
  stage.memory.resize(machine.points());
  for (Memory &memory : stage.memory)
    memory.renewArena(arena.getInt());
  machine.memory = std::move(stage.memory);
  auto stages = module->getAttrOfType<ArrayAttr>(AutoparDialect::kPersistent);
  if (!first || !stages || number >= int64_t(stages.size()))
    return success();
  auto tensors = cast<ArrayAttr>(stages[number]);
  for (auto [i, row] : llvm::enumerate(tensors.getAsRange<PersistentAttr>())) {
    FailureOr<Port> made =
        port(func, row.getWhat(), row.getType(), row.getGlobalType(),
             row.getSharding(), "argument", i);
    if (failed(made))
      return failure();
    auto type = cast<ShapedType>(made->type);
    for (Memory &memory : machine.memory)
      memory.addPersistent(type);
    Place place{BufferSpace::Persistent, int64_t(i), type};
    if (isa_and_nonnull<ParameterAttr, StateAttr>(made->origin) &&
        failed(machine.store(func, place, cut(*made))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

LogicalResult Program::publish(func::FuncOp func, const Port &port,
                               const Everywhere &value) {
  if (!port.sharding.partial.empty() &&
      !isa_and_nonnull<SetupValueAttr>(port.origin))
    return func.emitError()
           << "result " << port.name << " is partial: devices hold parts of it";
  Assembled assembled =
      assembleBlocks(value, port.whole, port.sharding, machine.getMesh());
  if (assembled.conflictAt)
    return func.emitError() << "result " << port.name
                            << " differs between devices that hold the same "
                               "part; the first is point "
                            << *assembled.conflictAt;
  outputs.push_back({port.name, std::move(assembled.whole),
                     isa_and_nonnull<SetupValueAttr>(port.origin), stepNumber});
  return success();
}

LogicalResult Program::runFunction(func::FuncOp func, Stage &stage,
                                   int64_t number) {
  auto arguments = ports(func, "argument");
  auto results = ports(func, "result");
  if (failed(arguments) || failed(results) ||
      failed(prepareMemory(func, stage, number)))
    return failure();
  std::vector<Everywhere> values;
  for (const Port &port : *arguments) {
    bool buffered = port.place.has_value();
    if (buffered && !isa_and_nonnull<InputAttr>(port.origin))
      continue; // in persistent memory already
    FailureOr<Everywhere> value = argument(func, port, stage);
    if (failed(value) ||
        (buffered && failed(machine.store(func, *port.place, *value))))
      return failure();
    if (!buffered)
      values.push_back(std::move(*value));
  }
  machine.early.clear();
  for (const Port &port : *results)
    if (port.place && isa_and_nonnull<GradientAttr>(port.origin))
      machine.early.push_back({port.number, *port.place, {}});
  auto returned = machine.run(func.front(), values);
  if (failed(returned))
    return failure();
  for (const Port &port : *results) {
    if (!port.place)
      continue;
    auto value = isa_and_nonnull<GradientAttr>(port.origin)
                     ? machine.loadEarly(func, port.number, *port.place)
                     : machine.load(func, *port.place);
    if (failed(value))
      return failure();
    returned->push_back(std::move(*value));
  }
  if (func == stage.setup)
    stage.setupResults = *returned;
  for (auto [port, value] : llvm::zip_equal(*results, *returned)) {
    if (failed(publish(func, port, value)))
      return failure();
    if (isa_and_nonnull<NextStateAttr>(port.origin))
      stage.states[port.origin] = value;
  }
  if (!machine.memory.empty())
    stage.memory = std::move(machine.memory);
  return success();
}

FailureOr<std::vector<NamedTensor>> Program::run(std::vector<Stage> stages,
                                                 int64_t steps) {
  for (auto [number, stage] : llvm::enumerate(stages))
    if (stage.setup && failed(runFunction(stage.setup, stage, number)))
      return failure();
  for (stepNumber = 0; stepNumber < steps; ++stepNumber)
    for (auto [number, stage] : llvm::enumerate(stages))
      if (stage.step && failed(runFunction(stage.step, stage, number)))
        return failure();
  return std::move(outputs);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Functions by stage; those without a stage are the whole model.
static FailureOr<std::vector<Stage>> stagesOf(ModuleOp module,
                                              bool &partitioned) {
  std::map<int64_t, Stage> stages;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || func->hasAttr(AutoparDialect::kKept))
      continue;
    auto number = func->getAttrOfType<IntegerAttr>(AutoparDialect::kStage);
    partitioned |= bool(number);
    Stage &stage = stages[number ? number.getInt() : 0];
    bool setup = func.getName().starts_with("setup");
    func::FuncOp &place = setup ? stage.setup : stage.step;
    if (place)
      return func.emitError()
             << "stage has a second " << (setup ? "setup" : "step")
             << " function; the first is @" << place.getName();
    place = func;
  }
  if (stages.empty())
    return emitError(module.getLoc()) << "there is no function to run";
  std::vector<Stage> list;
  for (auto &[number, stage] : stages)
    list.push_back(stage);
  return list;
}

FailureOr<std::vector<NamedTensor>>
runModule(ModuleOp module, Provider provider, int64_t steps) {
  bool partitioned = false;
  auto stages = stagesOf(module, partitioned);
  if (failed(stages))
    return failure();
  Mesh mesh;
  if (partitioned) {
    auto meshes = module.getOps<MeshOp>();
    if (meshes.empty())
      return emitError(module.getLoc())
             << "a partitioned module needs an autopar.mesh";
    mesh = (*meshes.begin()).getMesh().toMesh();
  }
  return Program(module, provider, std::move(mesh))
      .run(std::move(*stages), steps);
}

} // namespace autopar::interpreter
