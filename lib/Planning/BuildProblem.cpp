//===- BuildProblem.cpp - From a graph and a mesh to a problem ------------===//

#include "autopar/Planning/BuildProblem.h"
#include "ReshardTable.h"
#include "Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

/// @setup runs once: it counts, but next to nothing.
static constexpr double kSetupWeight = 0.01;
/// Two layers are alike if their ops are so to this distance.
static constexpr unsigned kClassRounds = 6;
/// Layers are folded if that leaves this share of the ops, or where there are
/// very many: folding closes cycles, which make elimination dearer.
static constexpr unsigned kWorthFolding = 2;
static constexpr size_t kMaxUnfolded = 3000;

namespace {

/// What an op gives or wants of a value, against how the value lies.
struct EdgeKey {
  unsigned op, value; // classes
  bool result;
  unsigned position;
  bool operator<(const EdgeKey &o) const {
    return std::tie(op, value, result, position) <
           std::tie(o.op, o.value, o.result, o.position);
  }
};

class Builder : public PlanProblem {
public:
  explicit Builder(const PlanQuestion &question)
      : graph(question.graph), cluster(question.cluster), mesh(question.mesh),
        demands(question.demands), limits(question.limits),
        communication(question.cluster, question.mesh),
        reshards(question.mesh,
                 CommunicationModel::reshardCost(cluster, mesh)) {
    problem.memoryLimit = question.memoryLimit;
  }

  Error build();
  void writePlan(const Solution &solution, Plan &plan) const override;
  std::vector<double> opSeconds(const Solution &solution) const override;

private:
  void makeClasses();
  void numberNodes();
  bool meetsTime(const Assignment &assignment, const OpDemand &demand) const;
  Error addOpNodes();
  Error addValueNodes();
  Error addCandidates(unsigned valueClass);
  Error limitCandidates(unsigned valueClass);
  void offer(unsigned valueClass, Sharding sharding);
  Error addEdges();
  void addEdge(const EdgeKey &key, double weight);
  void addMemory();
  void addCopies(const GraphStep &step, MemoryRow &row);

  double weightOf(bool setup) const {
    return setup ? kSetupWeight : double(mesh.timeCount());
  }
  unsigned opNode(unsigned opClass) const { return opNodes[opClass]; }
  unsigned valueNode(unsigned valueClass) const {
    return valueNodes[valueClass];
  }
  OpLimit limitOf(unsigned op) const {
    return limits.constraints ? limits.ops[op] : OpLimit();
  }
  const GraphValue &firstValue(unsigned valueClass) const {
    return graph.values[classes.firstValue[valueClass]];
  }
  const Sharding &sideOf(const EdgeKey &key, unsigned strategy) const {
    const OpShardings &s = strategies[key.op][strategy].shardings;
    return (key.result ? s.results : s.operands)[key.position];
  }
  const Sharding &valueSharding(const Solution &solution,
                                unsigned value) const {
    unsigned valueClass = classes.ofValue[value];
    return candidates[valueClass][solution.choice[valueNode(valueClass)]];
  }
  const OpStrategy &opStrategy(const Solution &solution, unsigned op) const {
    unsigned opClass = classes.ofOp[op];
    return strategies[opClass][solution.choice[opNode(opClass)]];
  }
  void countCollectives(const Solution &solution, Plan &plan) const;

  const ModelGraph &graph;
  const Cluster &cluster;
  Mesh mesh;
  const std::vector<OpDemand> &demands;
  const Limits &limits;
  mutable CommunicationModel communication;
  mutable ReshardTable reshards;
  GraphClasses classes;
  std::vector<unsigned> opNodes, valueNodes;       // per class
  std::vector<std::vector<OpStrategy>> strategies; // per op class
  std::vector<std::vector<Sharding>> candidates;   // per value class
  std::vector<std::vector<EdgeKey>> keysOfValue;   // per value class
  std::map<EdgeKey, unsigned> edgeIndex;
};

} // namespace

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static std::string markOf(const OpDemand &demand) {
  std::string mark;
  for (const AxisDemand &axis : demand) {
    for (const Choice &choice : axis)
      mark += std::to_string(choice.kind) + "." + std::to_string(choice.index) +
              ",";
    mark += ';';
  }
  return mark;
}

void Builder::makeClasses() {
  std::vector<std::string> marks;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    std::string mark = markOf(demands[index]) + (op.launches ? "L" : "");
    for (bool read : op.reads)
      mark += read ? 'r' : '-';
    for (bool write : op.writes)
      mark += write ? 'w' : '-';
    mark += limits.markOf(graph, index);
    marks.push_back(std::move(mark));
  }
  classes = classify(graph, marks, kClassRounds);
  bool folds = classes.firstOp.size() * kWorthFolding <= graph.ops.size();
  if (!folds && graph.ops.size() <= kMaxUnfolded)
    classes = classify(graph, marks, /*rounds=*/graph.ops.size());
}

/// Nodes in the order of the program: what is near is near.
void Builder::numberNodes() {
  constexpr unsigned kNone = ~0u;
  opNodes.assign(classes.firstOp.size(), kNone);
  valueNodes.assign(classes.firstValue.size(), kNone);
  unsigned next = 0;
  auto number = [&](unsigned &node) { node = node == kNone ? next++ : node; };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    for (unsigned value : op.operands)
      number(valueNodes[classes.ofValue[value]]);
    number(opNodes[classes.ofOp[index]]);
    for (unsigned value : op.results)
      number(valueNodes[classes.ofValue[value]]);
  }
  for (unsigned &node : valueNodes) // arguments that nobody reads
    number(node);
  problem.nodes.resize(next);
}

/// What is demanded of the time axis is a must: micro-batches cannot mix.
bool Builder::meetsTime(const Assignment &assignment,
                        const OpDemand &demand) const {
  return all_of(zip_equal(assignment, mesh.atoms()), [&](auto pair) {
    auto [choice, atom] = pair;
    return !atom.time || demand[atom.axis].empty() ||
           is_contained(demand[atom.axis], choice);
  });
}

Error Builder::addOpNodes() {
  std::vector<double> count(classes.firstOp.size(), 0);
  for (unsigned opClass : classes.ofOp)
    ++count[opClass];
  for (const auto &[opClass, first] : enumerate(classes.firstOp)) {
    const GraphOp &op = graph.ops[first];
    std::vector<OpStrategy> list =
        enumerateStrategies(op.rule, mesh, demands[first], limitOf(first));
    if (list.empty() && limits.constraints)
      return cannotMeet(limits, graph, first, mesh);
    if (list.empty())
      return createStringError("op " + op.name +
                               " cannot run on this mesh at all: its sharding "
                               "rule allows no assignment");
    if (!meetsTime(list.front().assignment, demands[first]))
      return createStringError("op " + op.name +
                               " cannot split the batch over micro-batches and "
                               "over devices");
    ProblemNode node;
    node.name = "op " + op.name;
    for (const OpStrategy &strategy : list)
      node.seconds.push_back(strategySeconds(graph, op, strategy, mesh,
                                             cluster.slowest(), communication) *
                             weightOf(op.setup) * count[opClass]);
    node.deferred = op.setup;
    problem.nodes[opNode(opClass)] = std::move(node);
    strategies.push_back(std::move(list));
  }
  return Error::success();
}

/// A sharding that a value can have for its users: no interval; over
/// micro-batches no partial value, and nothing of what is there once.
void Builder::offer(unsigned valueClass, Sharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dim.interval = std::nullopt;
  if (any_of(sharding.partial,
             [&](const Partial &p) { return mesh.atoms()[p.atom].time; }))
    return;
  if (firstValue(valueClass).persistent || firstValue(valueClass).setup)
    for (DimSharding &dim : sharding.dims)
      llvm::erase_if(dim.atoms,
                     [&](unsigned atom) { return mesh.atoms()[atom].time; });
  if (!is_contained(candidates[valueClass], sharding))
    candidates[valueClass].push_back(std::move(sharding));
}

/// The largest dimension over all devices: the least memory for a parameter
/// that every user wants whole.
static Sharding fullySplit(const GraphValue &value, const Mesh &mesh) {
  Sharding sharding = Sharding::replicated(value.shape.size());
  if (value.shape.empty())
    return sharding;
  size_t widest = llvm::max_element(value.shape) - value.shape.begin();
  for (const auto &[index, atom] : enumerate(mesh.atoms()))
    if (!atom.time)
      sharding.dims[widest].atoms.push_back(index);
  return sharding;
}

/// Leaves what constraints allow: candidates as they are, or with what is
/// pinned put in its place.
Error Builder::limitCandidates(unsigned valueClass) {
  const GraphValue &value = firstValue(valueClass);
  const ValueLimit &limit = limits.values[classes.firstValue[valueClass]];
  if (limit.empty())
    return Error::success();
  // Beside what the value's ops know: each dimension over each axis.
  std::vector<Sharding> known = std::move(candidates[valueClass]),
                        wider = known;
  wider.push_back(Sharding::replicated(value.shape.size()));
  for (size_t dim = 0; dim < value.shape.size(); ++dim)
    for (const MeshAxis &axis : mesh.axes()) {
      if (axis.name == kTimeAxis)
        continue;
      wider.push_back(Sharding::replicated(value.shape.size()));
      append_range(wider.back().dims[dim].atoms, *mesh.lookup(axis.name));
    }
  candidates[valueClass].clear();
  for (const Sharding &sharding : wider)
    if (Sharding fitted = limit.fit(sharding, mesh); limit.allows(fitted, mesh))
      offer(valueClass, std::move(fitted));
  if (candidates[valueClass].empty())
    return cannotLie(limits, value, limit, mesh, known);
  return Error::success();
}

Error Builder::addCandidates(unsigned valueClass) {
  const GraphValue &value = firstValue(valueClass);
  if (value.source != ValueSource::Op)
    offer(valueClass, Sharding::replicated(value.shape.size()));
  for (const EdgeKey &key : keysOfValue[valueClass])
    for (unsigned s = 0; s < strategies[key.op].size(); ++s) {
      const Sharding &sharding = sideOf(key, s);
      offer(valueClass, endPartial(sharding));
      // What is read from a file or kept from setup comes in blocks.
      if (!key.result && !sharding.partial.empty() &&
          value.source == ValueSource::Op && !value.persistent)
        offer(valueClass, sharding);
    }
  if (value.persistent && problem.memoryLimit)
    offer(valueClass, fullySplit(value, mesh));
  if (candidates[valueClass].empty())
    offer(valueClass, Sharding::replicated(value.shape.size()));
  return limits.constraints ? limitCandidates(valueClass) : Error::success();
}

Error Builder::addValueNodes() {
  candidates.resize(classes.firstValue.size());
  std::vector<int64_t> outputs(classes.firstValue.size(), 0);
  for (const auto &[index, value] : enumerate(graph.values))
    outputs[classes.ofValue[index]] += value.output;
  for (const auto &[valueClass, first] : enumerate(classes.firstValue)) {
    if (Error error = addCandidates(valueClass))
      return error;
    const GraphValue &value = graph.values[first];
    bool stored = value.source != ValueSource::Op ||
                  graph.ops[value.producer].writes[value.resultIndex];
    ProblemNode node;
    node.name = "value " + value.name;
    for (const Sharding &candidate : candidates[valueClass]) {
      double seconds = 0;
      if (outputs[valueClass] && !candidate.partial.empty())
        seconds = reshards.seconds(candidate, endPartial(candidate), value);
      node.seconds.push_back(seconds * outputs[valueClass] *
                             weightOf(value.setup));
      node.bytes.push_back(stored ? localBytes(value, candidate, mesh) : 0);
    }
    node.deferred = value.setup && !value.persistent;
    problem.nodes[valueNode(valueClass)] = std::move(node);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

void Builder::addEdge(const EdgeKey &key, double weight) {
  const GraphValue &value = firstValue(key.value);
  ProblemEdge edge;
  edge.a = opNode(key.op);
  edge.b = valueNode(key.value);
  unsigned type = reshards.typeOf(value);
  SmallVector<unsigned, 0> lies;
  for (const Sharding &candidate : candidates[key.value])
    lies.push_back(reshards.numberOf(candidate));
  for (unsigned s = 0; s < strategies[key.op].size(); ++s) {
    const Sharding &side = sideOf(key, s);
    unsigned wanted = reshards.numberOf(side);
    int64_t bytes = localBytes(value, side, mesh);
    for (const auto &[candidate, lie] :
         zip_equal(candidates[key.value], lies)) {
      double seconds = key.result ? reshards.seconds(wanted, lie, type)
                                  : reshards.seconds(lie, wanted, type);
      edge.seconds.push_back(seconds * weight);
      // An all-reduce of a result works in place.
      bool copied =
          key.result ? side.dims != candidate.dims : lie != wanted;
      edge.bytes.push_back(copied ? bytes : 0);
    }
  }
  problem.edges.push_back(std::move(edge));
}

Error Builder::addEdges() {
  std::map<EdgeKey, double> weights;
  keysOfValue.resize(classes.firstValue.size());
  auto note = [&](unsigned op, unsigned value, bool result, unsigned position) {
    EdgeKey key{classes.ofOp[op], classes.ofValue[value], result, position};
    auto [it, inserted] = weights.try_emplace(key, 0);
    it->second += weightOf(graph.ops[op].setup);
    if (inserted)
      keysOfValue[key.value].push_back(key);
  };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    for (const auto &[position, value] : enumerate(op.results))
      note(index, value, true, position);
    for (const auto &[position, value] : enumerate(op.operands))
      note(index, value, false, op.alike[position]);
  }
  if (Error error = addValueNodes())
    return error;
  for (const auto &[key, weight] : weights) {
    edgeIndex[key] = problem.edges.size();
    addEdge(key, weight);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// The steps at which a value's memory is in use: none if it has no own.
struct Lifetime {
  int64_t first = 0, last = -1;
};
} // namespace

/// Of values that @step computes or gets as inputs, by graph.steps. Reshapes
/// name their operand's memory, and a result may lie over an operand that dies.
static std::vector<Lifetime> lifetimes(const ModelGraph &graph) {
  int64_t end = graph.steps.size();
  std::vector<Lifetime> lives(graph.values.size());
  std::vector<unsigned> storage(graph.values.size());
  for (const auto &[index, value] : enumerate(graph.values)) {
    storage[index] = index;
    if (value.source == ValueSource::Input)
      lives[index].last = 0;
  }
  for (const auto &[time, step] : enumerate(graph.steps))
    for (unsigned index : step.ops) {
      const GraphOp &op = graph.ops[index];
      for (const auto &[position, value] : enumerate(op.operands))
        if (op.reads[position] || step.view)
          lives[storage[value]].last =
              std::max<int64_t>(lives[storage[value]].last, time);
      for (const auto &[position, value] : enumerate(op.results)) {
        if (step.view)
          storage[value] = storage[op.operands.front()];
        else if (op.writes[position] && lives[value].last < 0)
          lives[value] = {int64_t(time), int64_t(time)};
      }
    }
  for (unsigned value : graph.stepResults)
    lives[storage[value]].last = end;
  auto elements = [&](unsigned value) {
    int64_t count = graph.values[value].elementBytes;
    for (int64_t size : graph.values[value].shape)
      count *= size;
    return count;
  };
  for (const auto &[time, step] : enumerate(graph.steps))
    for (auto [out, in] : step.inPlace) {
      Lifetime &under = lives[storage[in]];
      if (under.last == int64_t(time) && under.first < int64_t(time) &&
          elements(out) == elements(storage[in]))
        --under.last;
    }
  return lives;
}

/// One row per launch: what is live while it runs, and the copies that its
/// reshards make. predictMemory says what the chosen plan takes.
void Builder::addMemory() {
  std::map<unsigned, int64_t> persistent, live;
  std::vector<std::vector<unsigned>> begins(graph.steps.size()),
      ends(graph.steps.size());
  std::vector<Lifetime> lives = lifetimes(graph);
  for (const auto &[index, value] : enumerate(graph.values)) {
    unsigned node = valueNode(classes.ofValue[index]);
    if (value.persistent) {
      ++persistent[node];
      continue;
    }
    bool used = lives[index].last >= lives[index].first &&
                lives[index].first < int64_t(graph.steps.size());
    if (value.setup || !used)
      continue;
    begins[lives[index].first].push_back(node);
    if (lives[index].last < int64_t(graph.steps.size()))
      ends[lives[index].last].push_back(node);
  }
  for (auto [node, count] : persistent)
    problem.persistent.push_back({node, count});
  for (const auto &[time, step] : enumerate(graph.steps)) {
    for (unsigned node : begins[time])
      ++live[node];
    MemoryRow row;
    row.name = graph.ops[step.ops.front()].name;
    for (auto [node, count] : live)
      row.nodes.push_back({node, count});
    addCopies(step, row);
    problem.rows.push_back(std::move(row));
    for (unsigned node : ends[time])
      if (auto it = live.find(node); --it->second == 0)
        live.erase(it);
  }
}

void Builder::addCopies(const GraphStep &step, MemoryRow &row) {
  for (unsigned index : step.ops) {
    const GraphOp &op = graph.ops[index];
    auto add = [&](unsigned value, bool result, unsigned position) {
      EdgeKey key{classes.ofOp[index], classes.ofValue[value], result,
                  position};
      row.edges.push_back({edgeIndex[key], 1});
    };
    for (const auto &[position, value] : enumerate(op.operands))
      if (op.reads[position])
        add(value, false, op.alike[position]);
    for (const auto &[position, value] : enumerate(op.results))
      if (op.writes[position])
        add(value, true, position);
  }
}

Error Builder::build() {
  makeClasses();
  numberNodes();
  if (Error error = addOpNodes())
    return error;
  if (Error error = addEdges())
    return error;
  addMemory();
  return Error::success();
}

Expected<std::unique_ptr<PlanProblem>>
PlanProblem::build(const PlanQuestion &question) {
  auto builder = std::make_unique<Builder>(question);
  if (Error error = builder->build())
    return std::move(error);
  return std::move(builder);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

void Builder::countCollectives(const Solution &solution, Plan &plan) const {
  std::map<std::string, size_t> index;
  auto count = [&](const Sharding &from, const Sharding &to,
                   const GraphValue &value, double weight) {
    std::optional<ReshardPath> path = reshards.path(from, to, value);
    if (!path)
      return;
    for (const ReshardStep &step : *path) {
      if (isLocal(step.kind))
        continue;
      PlannedCollective item;
      item.kind = stringifyReshardKind(step.kind).str();
      item.atoms = step.atoms;
      item.bytes = step.bytes;
      std::string key = item.kind + "," + std::to_string(item.bytes);
      for (unsigned atom : item.atoms)
        key += "," + std::to_string(atom);
      auto [it, inserted] = index.try_emplace(key, plan.collectives.size());
      if (inserted)
        plan.collectives.push_back(std::move(item));
      plan.collectives[it->second].count += int64_t(weight);
      plan.collectives[it->second].seconds += weight * step.seconds;
    }
  };
  for (const auto &[opIndex, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    const OpShardings &s = opStrategy(solution, opIndex).shardings;
    for (const auto &[position, value] : enumerate(op.operands))
      count(valueSharding(solution, value), s.operands[position],
            graph.values[value], weightOf(false));
    for (const auto &[position, value] : enumerate(op.results))
      count(s.results[position], valueSharding(solution, value),
            graph.values[value], weightOf(false));
  }
  for (unsigned value : graph.stepResults)
    count(valueSharding(solution, value),
          endPartial(valueSharding(solution, value)), graph.values[value],
          weightOf(false));
}

std::vector<double> Builder::opSeconds(const Solution &solution) const {
  std::vector<double> seconds;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const OpStrategy &strategy = opStrategy(solution, index);
    double sum = strategySeconds(graph, op, strategy, mesh, cluster.slowest(),
                                 communication);
    for (const auto &[position, value] : enumerate(op.operands))
      sum += reshards.seconds(valueSharding(solution, value),
                              strategy.shardings.operands[position],
                              graph.values[value]);
    for (const auto &[position, value] : enumerate(op.results))
      sum +=
          reshards.seconds(strategy.shardings.results[position],
                           valueSharding(solution, value), graph.values[value]);
    seconds.push_back(sum);
  }
  return seconds;
}

void Builder::writePlan(const Solution &solution, Plan &plan) const {
  plan.model = graph.model;
  plan.modelHash = graph.hash;
  plan.cluster = cluster;
  plan.mesh = mesh;
  plan.predictedStepSeconds = solution.seconds;
  plan.predictedPeakMemoryBytes = solution.peakBytes;
  plan.lowerBoundSeconds = solution.lowerBound;
  plan.gap = solution.gap();
  plan.ops.clear();
  for (const auto &[index, op] : enumerate(graph.ops))
    plan.ops.push_back({op.name, opStrategy(solution, index).assignment, 0});
  plan.values.clear();
  for (const auto &[index, value] : enumerate(graph.values))
    plan.values.push_back({value.name, valueSharding(solution, index)});
  plan.collectives.clear();
  countCollectives(solution, plan);
}

} // namespace autopar
