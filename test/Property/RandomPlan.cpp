//===- RandomPlan.cpp - Random legal plans --------------------------------===//

#include "RandomPlan.h"
#include "RecordSteps.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace autopar::property {

ArrayRef<Mesh> planMeshes() {
  static const std::vector<Mesh> meshes = [] {
    std::vector<Mesh> list;
    for (int64_t size = 2; size <= 6; ++size)
      list.push_back(Mesh(MeshAxis{"x", size}));
    list.push_back(Mesh({MeshAxis{"x", 2}, MeshAxis{"y", 2}}));
    list.push_back(Mesh({MeshAxis{"x", 2}, MeshAxis{"y", 3}}));
    list.push_back(Mesh({MeshAxis{"x", 4}, MeshAxis{"y", 2}}));
    list.push_back(
        Mesh({MeshAxis{"x", 2}, MeshAxis{"y", 2}, MeshAxis{"z", 2}}));
    list.push_back(Mesh({MeshAxis{"time", 2}, MeshAxis{"x", 2}}));
    list.push_back(Mesh({MeshAxis{"time", 2}, MeshAxis{"x", 3}}));
    return list;
  }();
  return meshes;
}

namespace {
class Planner {
public:
  Planner(ModuleOp module, const Mesh &mesh, Random &random,
          int twoStagesPercent)
      : module(module), mesh(mesh), random(random),
        twoStagesPercent(twoStagesPercent),
        symbol(FlatSymbolRefAttr::get(module.getContext(), "mesh")) {}

  /// Whether some value is cut over micro-batches.
  bool run();

private:
  bool planFunction(func::FuncOp func, bool overTime);
  bool planOp(ShardingRuleOpInterface op);
  std::optional<Choice> timeChoice(ShardingRuleOpInterface op,
                                   const ShardingRule &rule);
  bool readsAsSharded(ShardingRuleOpInterface op, const OpShardings &shardings);
  void drawTimeDim(func::FuncOp func, BlockArgument argument);
  std::optional<int64_t> timeDimOf(const Sharding &sharding);
  bool keepsTimeBlocks(Value value, const Sharding &sharding);
  Sharding randomSharding(Value value);
  Assignment randomAssignment(const ShardingRule &rule, Choice time);
  ShardingAttr attr(const Sharding &sharding) {
    return ShardingAttr::get(symbol, sharding, mesh);
  }

  ModuleOp module;
  const Mesh &mesh;
  Random &random;
  int twoStagesPercent;
  FlatSymbolRefAttr symbol;
  /// Values of which each micro-batch has a part: they stay cut along this
  /// dimension, as micro-batches cannot exchange data.
  llvm::DenseMap<Value, int64_t> timeDims;
};
} // namespace

/// Blocks of devices are within those of a micro-batch.
bool Planner::keepsTimeBlocks(Value value, const Sharding &sharding) {
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<int64_t> dim = timeDimOf(sharding);
  return !dim || sharding.dims[*dim].subAxes.size() == 1 ||
         type.getDimSize(*dim) % mesh.pointCount() == 0;
}

/// Each sub-axis splits any dimension or none; the order of sub-axes in a
/// dimension is random too, but for the time axis, which comes first.
Sharding Planner::randomSharding(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  Sharding sharding = Sharding::replicated(rank);
  SmallVector<unsigned> subAxes;
  for (unsigned i = 0; i < mesh.subAxes().size(); ++i) {
    if (!mesh.subAxes()[i].time)
      subAxes.push_back(i);
    else if (auto dim = timeDims.find(value); dim != timeDims.end())
      sharding.dims[dim->second].subAxes.push_back(i);
  }
  random.shuffle(subAxes);
  for (unsigned subAxis : subAxes) {
    if (rank == 0 || !random.chance(60))
      continue;
    Sharding more = sharding;
    more.dims[random.below(rank)].subAxes.push_back(subAxis);
    if (keepsTimeBlocks(value, more))
      sharding = std::move(more);
  }
  return sharding;
}

Assignment Planner::randomAssignment(const ShardingRule &rule, Choice time) {
  Assignment assignment(mesh.subAxes().size());
  for (int attempt = 0; attempt < 20; ++attempt) {
    for (unsigned i = 0; i < assignment.size(); ++i) {
      assignment[i] = mesh.subAxes()[i].time ? time : Choice();
      if (mesh.subAxes()[i].time || attempt == 19)
        continue;
      if (!rule.passes.empty() && random.chance(25))
        assignment[i] = {Choice::Pass,
                         unsigned(random.below(rule.passes.size()))};
      else if (!rule.factors.empty() && random.chance(75))
        assignment[i] = {Choice::Split,
                         unsigned(random.below(rule.factors.size()))};
    }
    if (shardingsOf(rule, assignment, mesh))
      break;
  }
  return assignment;
}

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

/// An input may be cut along a dimension that all blocks divide.
void Planner::drawTimeDim(func::FuncOp func, BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  bool input = isa<InputAttr>(
      func.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource));
  if (!input || type.getRank() == 0 || random.chance(30))
    return;
  int64_t dim = random.below(type.getRank());
  if (type.getDimSize(dim) % mesh.pointCount() == 0)
    timeDims[argument] = dim;
}

std::optional<int64_t> Planner::timeDimOf(const Sharding &sharding) {
  for (auto [index, dim] : llvm::enumerate(sharding.dims))
    if (llvm::any_of(dim.subAxes,
                     [&](unsigned a) { return mesh.subAxes()[a].time; }))
      return index;
  return std::nullopt;
}

/// What the time axis must split in an op so that each operand is read as it is
/// cut; nullopt: micro-batches would have to exchange data.
std::optional<Choice> Planner::timeChoice(ShardingRuleOpInterface op,
                                          const ShardingRule &rule) {
  Choice choice;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto cut = timeDims.find(operand);
    if (cut == timeDims.end())
      continue;
    const DimFactors &dim = rule.operands[index][cut->second];
    const auto *wide = llvm::find_if(dim.factors, [&](unsigned factor) {
      return rule.factors[factor].size != 1;
    });
    if (wide == dim.factors.end() || dim.window)
      return std::nullopt;
    Choice wanted{Choice::Split, *wide};
    if (rule.factors[*wide].kind != FactorKind::Parallel ||
        (choice.kind == Choice::Split && !(choice == wanted)))
      return std::nullopt;
    choice = wanted;
  }
  return choice;
}

bool Planner::readsAsSharded(ShardingRuleOpInterface op,
                             const OpShardings &shardings) {
  for (auto [operand, sharding] :
       llvm::zip_equal(op->getOperands(), shardings.operands)) {
    auto cut = timeDims.find(operand);
    if ((cut != timeDims.end() && timeDimOf(sharding) != cut->second) ||
        !keepsTimeBlocks(operand, sharding))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Planner::planOp(ShardingRuleOpInterface op) {
  ShardingRule rule = op.getShardingRule();
  std::optional<Choice> time = timeChoice(op, rule);
  if (!time)
    return false;
  Assignment assignment = randomAssignment(rule, *time);
  auto shardings = shardingsOf(rule, assignment, mesh);
  if (!shardings || !readsAsSharded(op, *shardings))
    return false;
  op->setAttr(AutoparDialect::kStrategy,
              StrategyAttr::get(symbol, assignment, mesh));
  SmallVector<Attribute> resultShardings;
  for (auto [result, given] :
       llvm::zip_equal(op->getResults(), shardings->results)) {
    if (auto dim = timeDimOf(given))
      timeDims[result] = *dim;
    if (!keepsTimeBlocks(result, given))
      return false;
    resultShardings.push_back(
        attr(random.chance(60) ? given : randomSharding(result)));
  }
  op->setAttr(AutoparDialect::kShardings,
              ArrayAttr::get(module.getContext(), resultShardings));
  return true;
}

/// False where the inputs cannot be cut over time as drawn.
bool Planner::planFunction(func::FuncOp func, bool overTime) {
  timeDims.clear();
  for (BlockArgument argument : func.getArguments()) {
    if (overTime)
      drawTimeDim(func, argument);
    func.setArgAttr(argument.getArgNumber(), AutoparDialect::kSharding,
                    attr(randomSharding(argument)));
  }
  bool planned = true;
  func.walk(
      [&](ShardingRuleOpInterface op) { planned = planned && planOp(op); });
  for (OpOperand &result : func.front().getTerminator()->getOpOperands())
    func.setResultAttr(result.getOperandNumber(), AutoparDialect::kSharding,
                       attr(randomSharding(result.get())));
  return planned;
}

/// What setup gives is sharded as the step reads it.
static void matchSetup(func::FuncOp setup, func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (auto source =
            step.getArgAttrOfType<SetupResultAttr>(i, AutoparDialect::kSource))
      setup.setResultAttr(source.getIndex(), AutoparDialect::kSharding,
                          step.getArgAttr(i, AutoparDialect::kSharding));
}

static void setStages(func::FuncOp step, int64_t cut) {
  Builder builder(step.getContext());
  int64_t number = 0;
  step.walk([&](ShardingRuleOpInterface op) {
    op->setAttr(AutoparDialect::kStage,
                builder.getI64IntegerAttr(number++ >= cut));
  });
}

/// Some ops make their reshards again.
static void drawRegathers(func::FuncOp step, Random &random) {
  Builder builder(step.getContext());
  step.walk([&](ShardingRuleOpInterface op) {
    auto steps = op->getAttrOfType<ArrayAttr>(AutoparDialect::kOperandSteps);
    SmallVector<int64_t> regathers;
    for (int64_t number = 0; steps && number < int64_t(steps.size()); ++number)
      if (!cast<ArrayAttr>(steps[number]).empty() && random.chance(30))
        regathers.push_back(number);
    if (!regathers.empty())
      op->setAttr(AutoparDialect::kRegathers,
                  builder.getDenseI64ArrayAttr(regathers));
  });
}

bool Planner::run() {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  MeshOp::create(builder, module.getLoc(), "mesh",
                 MeshAttr::get(module.getContext(), mesh));
  bool overTime = false;
  for (auto func : module.getOps<func::FuncOp>())
    for (int attempt = 0; attempt < 20; ++attempt)
      if (planFunction(func, func.getName() == "step" && attempt < 19)) {
        overTime |= !timeDims.empty();
        break;
      }
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (auto setup = module.lookupSymbol<func::FuncOp>("setup"))
    matchSetup(setup, step);
  int64_t stages = random.chance(twoStagesPercent) ? 2 : 1;
  module->setAttr(AutoparDialect::kStages, builder.getI64IntegerAttr(stages));
  if (stages == 2) {
    int64_t ops = std::distance(step.front().begin(), step.front().end());
    setStages(step, random.between(1, ops - 2));
  }
  recordSteps(module, mesh);
  if (stages == 1)
    drawRegathers(step, random);
  return overTime;
}

bool makePlan(ModuleOp module, const Mesh &mesh, Random &random,
              int twoStagesPercent) {
  return Planner(module, mesh, random, twoStagesPercent).run();
}

} // namespace autopar::property
