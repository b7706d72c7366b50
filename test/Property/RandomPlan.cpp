//===- RandomPlan.cpp - Random legal plans --------------------------------===//

#include "RandomPlan.h"
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
    return list;
  }();
  return meshes;
}

namespace {
class Planner {
public:
  Planner(ModuleOp module, const Mesh &mesh, Random &random)
      : module(module), mesh(mesh), random(random),
        symbol(FlatSymbolRefAttr::get(module.getContext(), "mesh")) {}

  void run();

private:
  void planFunction(func::FuncOp func);
  void planOp(ShardingRuleOpInterface op);
  Sharding randomSharding(int64_t rank);
  Assignment randomAssignment(const ShardingRule &rule);
  ShardingAttr attr(const Sharding &sharding) {
    return ShardingAttr::get(symbol, sharding, mesh);
  }

  ModuleOp module;
  const Mesh &mesh;
  Random &random;
  FlatSymbolRefAttr symbol;
};
} // namespace

/// Each atom splits any dimension or none; the order of atoms in a dimension is
/// random too.
Sharding Planner::randomSharding(int64_t rank) {
  Sharding sharding = Sharding::replicated(rank);
  SmallVector<unsigned> atoms(mesh.atoms().size());
  for (unsigned i = 0; i < atoms.size(); ++i)
    atoms[i] = i;
  random.shuffle(atoms);
  for (unsigned atom : atoms)
    if (rank > 0 && random.chance(60))
      sharding.dims[random.below(rank)].atoms.push_back(atom);
  return sharding;
}

Assignment Planner::randomAssignment(const ShardingRule &rule) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    Assignment assignment(mesh.atoms().size());
    for (Choice &choice : assignment) {
      bool pass = !rule.passes.empty() && random.chance(25);
      if (pass)
        choice = {Choice::Pass, unsigned(random.below(rule.passes.size()))};
      else if (!rule.factors.empty() && random.chance(75))
        choice = {Choice::Split, unsigned(random.below(rule.factors.size()))};
    }
    if (shardingsOf(rule, assignment, mesh))
      return assignment;
  }
  return Assignment(mesh.atoms().size());
}

void Planner::planOp(ShardingRuleOpInterface op) {
  ShardingRule rule = op.getShardingRule();
  Assignment assignment = randomAssignment(rule);
  op->setAttr(AutoparDialect::kStrategy,
              StrategyAttr::get(symbol, assignment, mesh));
  SmallVector<Attribute> lies;
  OpShardings shardings = *shardingsOf(rule, assignment, mesh);
  for (const Sharding &given : shardings.results)
    lies.push_back(
        attr(random.chance(60) ? given : randomSharding(given.dims.size())));
  op->setAttr(AutoparDialect::kShardings,
              ArrayAttr::get(module.getContext(), lies));
}

void Planner::planFunction(func::FuncOp func) {
  auto rankOf = [](Type type) {
    return cast<RankedTensorType>(type).getRank();
  };
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.setArgAttr(i, AutoparDialect::kSharding,
                    attr(randomSharding(rankOf(func.getArgumentTypes()[i]))));
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    func.setResultAttr(i, AutoparDialect::kSharding,
                       attr(randomSharding(rankOf(func.getResultTypes()[i]))));
  func.walk([&](ShardingRuleOpInterface op) { planOp(op); });
}

/// What setup gives lies as the step reads it.
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

void Planner::run() {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  MeshOp::create(builder, module.getLoc(), "mesh",
                 MeshAttr::get(module.getContext(), mesh));
  for (auto func : module.getOps<func::FuncOp>())
    planFunction(func);
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (auto setup = module.lookupSymbol<func::FuncOp>("setup"))
    matchSetup(setup, step);
  int64_t stages = random.chance(25) ? 2 : 1;
  module->setAttr(AutoparDialect::kStages, builder.getI64IntegerAttr(stages));
  if (stages == 2) {
    int64_t ops = std::distance(step.front().begin(), step.front().end());
    setStages(step, random.between(1, ops - 2));
  }
}

void makePlan(ModuleOp module, const Mesh &mesh, Random &random) {
  Planner(module, mesh, random).run();
}

} // namespace autopar::property
