//===- BuildProblem.cpp - From a graph and a mesh to a problem ------------===//

#include "autopar/Planning/Search/BuildProblem.h"
#include "ProblemBuilder.h"
#include "autopar/Planning/Constraints/EnumerateStrategies.h"
#include "autopar/Planning/Model/Numbering.h"
#include "autopar/Planning/Plan/Launches.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <atomic>
#include <numeric>

using namespace llvm;

namespace autopar {

ReshardCost ProblemBuilder::leastPrice(const StagePlaces &places,
                                       const Mesh &mesh) {
  std::vector<ReshardCost> costs;
  for (const Cluster &place : places.kinds)
    costs.push_back(CommunicationModel::reshardCost(place, mesh));
  if (costs.size() == 1)
    return nullptr;
  return [costs](const ReshardStep &step) {
    double least = kIllegal;
    for (const ReshardCost &cost : costs)
      least = std::min(least, cost(step));
    return least;
  };
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Returns the marks by which ops are folded: demands and constraints.
std::vector<unsigned> ProblemBuilder::marksOfOps() const {
  std::vector<unsigned> marks = demands.marks;
  if (!limits.constraints)
    return marks;
  Numbering number;
  for (auto [index, mark] : enumerate(marks))
    mark = number(std::to_string(mark) + "|" + limits.markOf(graph, index));
  return marks;
}

/// Returns whether the demand on the time axis is met, as it must be:
/// micro-batches cannot exchange data.
bool ProblemBuilder::meetsTime(const Assignment &assignment,
                               const OpDemand &demand) const {
  return all_of(zip_equal(assignment, mesh.subAxes()), [&](auto pair) {
    auto [choice, subAxis] = pair;
    return !subAxis.time || demand[subAxis.axis].empty() ||
           is_contained(demand[subAxis.axis], choice);
  });
}

/// Fills a kind, of which `op` is a member.
Error ProblemBuilder::makeKind(unsigned op, OpKind &kind) {
  const GraphOp &item = graph.ops[op];
  kind.strategies = enumerateStrategies(item.facts->rule, mesh,
                                        demands.ofOps[op], limitOf(op));
  if (kind.strategies.empty() && limits.constraints)
    return cannotMeet(limits, graph, op, mesh);
  if (kind.strategies.empty())
    return createStringError("op " + item.name +
                             " cannot run on this mesh at all: its sharding "
                             "rule allows no assignment");
  if (!meetsTime(kind.strategies.front().assignment, demands.ofOps[op]))
    return createStringError("op " + item.name +
                             " cannot split the batch over micro-batches and "
                             "over devices");
  for (const OpStrategy &strategy : kind.strategies) {
    double least = kIllegal;
    for (PlacePrices &place : prices)
      least = std::min(least, place.opSeconds(graph, item, strategy));
    kind.seconds.push_back(least);
  }
  addSides(kind);
  return Error::success();
}

void ProblemBuilder::addSides(OpKind &kind) {
  auto add = [&](size_t count, std::vector<OpKind::Side> &sides,
                 SmallVector<Sharding> OpShardings::*list) {
    sides.resize(count);
    for (const auto &[position, side] : enumerate(sides)) {
      DenseSet<unsigned> known;
      for (const auto &[index, strategy] : enumerate(kind.strategies)) {
        unsigned number =
            reshards.numberOf((strategy.shardings.*list)[position]);
        side.numbers.push_back(number);
        if (known.insert(number).second)
          side.distinct.push_back(index);
      }
    }
  };
  const OpShardings &first = kind.strategies.front().shardings;
  add(first.operands.size(), kind.operands, &OpShardings::operands);
  add(first.results.size(), kind.results, &OpShardings::results);
}

Error ProblemBuilder::addOpNodes() {
  kinds.resize(classes.kinds);
  offered.resize(classes.firstOp.size());
  for (const auto &[opClass, first] : enumerate(classes.firstOp)) {
    OpKind &kind = kinds[kindNumber(opClass)];
    if (kind.strategies.empty())
      if (Error error = makeKind(first, kind))
        return error;
    const GraphOp &op = graph.ops[first];
    ProblemNode &node = problem.nodes[opNode(opClass)];
    node.name = "op " + op.name;
    for (double seconds : kind.seconds)
      node.seconds.push_back(seconds * weightOf(op.setup) *
                             folded.opCounts[opClass]);
    node.deferred = op.setup;
    offered[opClass].resize(kind.seconds.size());
    std::iota(offered[opClass].begin(), offered[opClass].end(), 0);
  }
  return cutoff < kIllegal ? dropDearStrategies() : Error::success();
}

/// Drops strategies that reach the cutoff even if all other ops cost their
/// least and nothing is resharded.
Error ProblemBuilder::dropDearStrategies() {
  double least = 0;
  for (unsigned opClass = 0; opClass < offered.size(); ++opClass)
    if (const ProblemNode &node = problem.nodes[opNode(opClass)];
        !node.deferred)
      least += *llvm::min_element(node.seconds);
  if (least >= cutoff)
    return make_error<NothingCheaper>(least);
  for (unsigned opClass = 0; opClass < offered.size(); ++opClass) {
    ProblemNode &node = problem.nodes[opNode(opClass)];
    if (node.deferred)
      continue;
    double cheapest = *llvm::min_element(node.seconds);
    double others = least - cheapest;
    auto isDear = [&](double seconds) {
      return seconds > cheapest && others + seconds >= cutoff;
    };
    erase_if(offered[opClass],
             [&](unsigned strategy) { return isDear(node.seconds[strategy]); });
    erase_if(node.seconds, isDear);
  }
  return Error::success();
}

Error ProblemBuilder::addValueNodes() {
  candidates.resize(classes.firstValue.size());
  for (unsigned valueClass = 0; valueClass < candidates.size(); ++valueClass)
    if (Error error = addCandidates(valueClass))
      return error;
  if (Error error = shareCandidates())
    return error;
  for (const auto &[valueClass, first] : enumerate(classes.firstValue)) {
    const GraphValue &value = graph.values[first];
    bool stored = value.source != ValueSource::Op || value.isNext ||
                  graph.ops[value.producer].writes[value.resultIndex];
    unsigned outputs = folded.outputCounts[valueClass];
    ProblemNode &node = problem.nodes[valueNode(valueClass)];
    if (node.choices() > 0) // a state and its next value share memory
      continue;
    node.name = "value " + value.name;
    for (const Sharding &candidate : candidates[valueClass]) {
      double seconds = 0;
      if (outputs && !candidate.partial.empty())
        seconds = reshards.seconds(candidate, endPartial(candidate),
                                   value.shape, value.elementBytes);
      node.seconds.push_back(seconds * outputs * weightOf(value.setup));
      bool held = stored && !isReadInPlace(graph, value, candidate, mesh);
      node.bytes.push_back(held ? localBytes(value, candidate, mesh) : 0);
    }
    node.deferred = value.setup && !value.persistent;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// Collects the numbers that fillTable needs.
TableJob ProblemBuilder::jobOf(const EdgeKey &key, EdgeTable &table) {
  const GraphValue &value = firstValue(key.value);
  TableJob job{&key, &table, reshards.typeOf(value.shape, value.elementBytes)};
  for (const Sharding &candidate : candidates[key.value])
    job.candidates.push_back(reshards.numberOf(candidate));
  const OpKind::Side &side = sideOf(key);
  for (unsigned strategy : offered[key.op])
    job.sides.push_back(side.numbers[strategy]);
  return job;
}

void ProblemBuilder::fillTable(const TableJob &job,
                               ReshardTable::Prices &known) const {
  const EdgeKey &key = *job.key;
  const GraphValue &value = firstValue(key.value);
  EdgeTable &table = *job.table;
  // Strategies that want the same sharding have equal rows.
  DenseMap<unsigned, unsigned> firstOf;
  unsigned columns = job.candidates.size();
  for (const auto &[row, strategy] : enumerate(offered[key.op])) {
    const Sharding &side = shardingAt(key, kindOf(key.op).strategies[strategy]);
    unsigned wanted = job.sides[row];
    auto [first, isNew] = firstOf.try_emplace(wanted, row);
    if (!isNew) {
      for (unsigned c = 0; c < columns; ++c) {
        table.seconds.push_back(table.seconds[first->second * columns + c]);
        table.bytes.push_back(table.bytes[first->second * columns + c]);
      }
      continue;
    }
    int64_t bytes = localBytes(value, side, mesh);
    for (const auto &[candidate, number] :
         zip_equal(candidates[key.value], job.candidates)) {
      bool may = key.result ? mayReshard(value, side, candidate)
                            : mayReshard(value, candidate, side);
      table.seconds.push_back(
          !may         ? kIllegal
          : key.result ? reshards.seconds(wanted, number, job.type, known)
                       : reshards.seconds(number, wanted, job.type, known));
      // An all-reduce of a result works in place, without a copy.
      bool copied = key.result ? side.dims != candidate.dims : number != wanted;
      table.bytes.push_back(copied ? bytes : 0);
    }
  }
}

/// Fills tables on all cores. Each core takes the next free table, in turn from
/// both ends of the list, because neighbours need the same prices.
void ProblemBuilder::fillTables(ArrayRef<TableJob> jobs) const {
  size_t threads = parallel::strategy.compute_thread_count();
  std::atomic<size_t> next = 0;
  parallelFor(0, threads, [&](size_t) {
    ReshardTable::Prices known;
    for (size_t turn = next++; turn < jobs.size(); turn = next++)
      fillTable(jobs[turn % 2 ? jobs.size() - 1 - turn / 2 : turn / 2], known);
  });
}

Error ProblemBuilder::addEdges() {
  if (Error error = addValueNodes())
    return error;
  // by the numbers that they depend on
  std::map<std::vector<unsigned>, EdgeTable> tables;
  std::vector<EdgeTable *> tableOfEdge;
  std::vector<TableJob> jobs;
  for (const auto &[key, edge] : folded.edges) {
    const GraphValue &value = firstValue(key.value);
    std::vector<unsigned> facts{
        kindNumber(key.op), key.result,
        key.position,       reshards.typeOf(value.shape, value.elementBytes),
        value.isNarrowSum,  unsigned(offered[key.op].size())};
    append_range(facts, offered[key.op]);
    for (const Sharding &candidate : candidates[key.value])
      facts.push_back(reshards.numberOf(candidate));
    auto [table, isNew] = tables.try_emplace(std::move(facts));
    tableOfEdge.push_back(&table->second);
    if (isNew)
      jobs.push_back(jobOf(key, table->second));
  }
  fillTables(jobs);
  for (const auto &[item, table] : zip_equal(folded.edges, tableOfEdge)) {
    const auto &[key, counted] = item;
    double weight =
        counted.count * weightOf(graph.ops[classes.firstOp[key.op]].setup);
    ProblemEdge edge{opNode(key.op), valueNode(key.value), table->seconds,
                     table->bytes};
    for (double &seconds : edge.seconds)
      seconds *= weight;
    problem.edges.push_back(std::move(edge));
  }
  return Error::success();
}

Error ProblemBuilder::build() {
  problem.nodes.resize(folded.nodes);
  problem.persistent = folded.persistent;
  problem.rowKinds = folded.rowKinds;
  problem.rows = folded.rows;
  if (Error error = addOpNodes())
    return error;
  return addEdges();
}

Expected<std::unique_ptr<PlanProblem>>
PlanProblem::build(const PlanQuestion &question) {
  auto builder = std::make_unique<ProblemBuilder>(question);
  if (Error error = builder->build())
    return std::move(error);
  return std::move(builder);
}

} // namespace autopar
