//===- MutateFunctions.cpp - Breaks what enters, leaves and is sent -------===//

#include "Mutation.h"

using namespace mlir;

namespace autopar::property {

static Mutation mutationOfFunction(func::FuncOp func, const Twine &what) {
  Mutation mutation;
  mutation.what = ("@" + func.getName() + " " + what).str();
  mutation.places.push_back(func.getLoc());
  mutation.places.push_back(func.front().getTerminator()->getLoc());
  for (BlockArgument argument : func.getArguments())
    addReaders(argument, mutation.readers);
  // What setup gives is read by a step of the same stage.
  for (auto other : func->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (!other->hasAttr(AutoparDialect::kKept) && other != func)
      for (BlockArgument argument : other.getArguments())
        addReaders(argument, mutation.readers);
  return mutation;
}

static std::optional<func::FuncOp> pickFunction(const Mutable &program) {
  SmallVector<func::FuncOp> list = program.functions();
  if (list.empty())
    return std::nullopt;
  return program.random.pick(ArrayRef<func::FuncOp>(list));
}

namespace {
/// Two different numbers below `count`.
struct Two {
  unsigned first, second;
};
} // namespace

static std::optional<Two> pickTwo(unsigned count, Random &random) {
  if (count < 2)
    return std::nullopt;
  Two two{unsigned(random.below(count)), unsigned(random.below(count))};
  if (two.first == two.second)
    return std::nullopt;
  return two;
}

/// Two arguments of one type are told from each other by their sources alone.
std::optional<Mutation> exchangeSources(const Mutable &program) {
  auto func = pickFunction(program);
  auto two =
      func ? pickTwo(func->getNumArguments(), program.random) : std::nullopt;
  if (!two)
    return std::nullopt;
  auto same = [&](auto get) { return get(two->first) == get(two->second); };
  StringRef name = AutoparDialect::kSource;
  if (!same([&](unsigned i) { return func->getArgumentTypes()[i]; }) ||
      !same([&](unsigned i) {
        return func->getArgAttr(i, AutoparDialect::kGlobalType);
      }))
    return std::nullopt;
  Attribute first = func->getArgAttr(two->first, name);
  func->setArgAttr(two->first, name, func->getArgAttr(two->second, name));
  func->setArgAttr(two->second, name, first);
  return mutationOfFunction(*func, "with two sources exchanged");
}

std::optional<Mutation> exchangeResultNames(const Mutable &program) {
  auto func = pickFunction(program);
  auto two =
      func ? pickTwo(func->getNumResults(), program.random) : std::nullopt;
  if (!two ||
      func->getResultTypes()[two->first] != func->getResultTypes()[two->second])
    return std::nullopt;
  StringRef name = AutoparDialect::kResult;
  Attribute first = func->getResultAttr(two->first, name);
  func->setResultAttr(two->first, name, func->getResultAttr(two->second, name));
  func->setResultAttr(two->second, name, first);
  return mutationOfFunction(*func, "with two results' names exchanged");
}

/// Each sub-axis to any dimension or none.
static ShardingAttr randomLayout(ShardingAttr old, const Mutable &program) {
  Sharding sharding = Sharding::replicated(old.getDims().size());
  SmallVector<unsigned> subAxes =
      llvm::to_vector(llvm::seq<unsigned>(0, program.mesh.subAxes().size()));
  program.random.shuffle(subAxes);
  for (unsigned subAxis : subAxes)
    if (!sharding.dims.empty() && program.random.chance(70))
      sharding.dims[program.random.below(sharding.dims.size())]
          .subAxes.push_back(subAxis);
  return ShardingAttr::get(old.getMesh(), sharding, program.mesh);
}

/// The same local type, of other elements.
std::optional<Mutation> changeArgumentLayout(const Mutable &program) {
  auto func = pickFunction(program);
  bool argument = program.random.chance(60);
  int64_t count = !func      ? 0
                  : argument ? func->getNumArguments()
                             : func->getNumResults();
  if (count == 0)
    return std::nullopt;
  unsigned index = program.random.below(count);
  auto get = [&](StringRef name) {
    return argument ? func->getArgAttr(index, name)
                    : func->getResultAttr(index, name);
  };
  auto old = dyn_cast_or_null<ShardingAttr>(get(AutoparDialect::kSharding));
  auto type = dyn_cast_or_null<TypeAttr>(get(AutoparDialect::kGlobalType));
  if (!old || !type)
    return std::nullopt;
  ShardingAttr other = randomLayout(old, program);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type.getValue()).getShape();
  if (other == old ||
      localShape(shape, other.toSharding(program.mesh), program.mesh) !=
          localShape(shape, old.toSharding(program.mesh), program.mesh))
    return std::nullopt;
  if (argument)
    func->setArgAttr(index, AutoparDialect::kSharding, other);
  else
    func->setResultAttr(index, AutoparDialect::kSharding, other);
  return mutationOfFunction(*func, "with one value laid out otherwise");
}

//===----------------------------------------------------------------------===//
// Between stages
//===----------------------------------------------------------------------===//

/// Two messages of one type go over each other's channels.
std::optional<Mutation> exchangeChannels(const Mutable &program) {
  bool sends = program.random.chance(50);
  auto typeOf = [&](Operation *op) {
    return sends ? op->getOperand(0).getType() : op->getResult(0).getType();
  };
  auto suits = [&](Operation *op) {
    return sends ? isa<SendOp>(op) : isa<RecvOp>(op);
  };
  Operation *first = program.pickOp(suits);
  Operation *second = program.pickOp([&](Operation *op) {
    return suits(op) && op != first && typeOf(op) == typeOf(first);
  });
  if (!second)
    return std::nullopt;
  Mutation mutation = mutationOf(first, "exchanged with another");
  Mutation other = mutationOf(second, "");
  Attribute channel = first->getAttr("channel");
  first->setAttr("channel", second->getAttr("channel"));
  second->setAttr("channel", channel);
  llvm::append_range(mutation.places, other.places);
  llvm::append_range(mutation.readers, other.readers);
  return mutation;
}

/// Two functions of one kind change their places.
std::optional<Mutation> exchangeStages(const Mutable &program) {
  SmallVector<func::FuncOp> list = program.functions();
  auto two = pickTwo(list.size(), program.random);
  if (!two)
    return std::nullopt;
  func::FuncOp first = list[two->first], second = list[two->second];
  auto kind = [](func::FuncOp func) {
    return func.getName().rsplit('_').first;
  };
  StringRef name = AutoparDialect::kStage;
  if (kind(first) != kind(second) ||
      first->getAttr(name) == second->getAttr(name))
    return std::nullopt;
  Attribute stage = first->getAttr(name);
  first->setAttr(name, second->getAttr(name));
  second->setAttr(name, stage);
  Mutation mutation = mutationOfFunction(first, "exchanged with another");
  mutation.places.push_back(second.getLoc());
  program.module->walk([&](Operation *op) {
    if (isa<SendOp, RecvOp>(op))
      mutation.readers.push_back(op->getLoc());
  });
  return mutation;
}

} // namespace autopar::property
