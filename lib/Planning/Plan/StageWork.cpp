//===- StageWork.cpp - The work and buffers of a stage --------------------===//

#include "autopar/Planning/Plan/StageWork.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/Launches.h"
#include "autopar/Planning/Plan/SharedReshards.h"
#include "autopar/shared_memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace autopar {

namespace {

class WorkLister {
public:
  WorkLister(const ModelGraph &graph, const Plan &plan,
             bool listsContents = false)
      : graph(graph), plan(plan), listsContents(listsContents),
        reshards(graph, plan), launches(graph, plan, reshards),
        stages(plan.stages), stored(launches.storedValues()),
        inLaunch(graph.ops.size(), 0) {
    for (StageWork &stage : stages) {
      stage.places.resize(graph.values.size());
      stage.work.communication = graph.table->communication;
      stage.work.items.reserve(launches.all().size() / stages.size());
    }
  }
  std::vector<StageWork> run();

private:
  const Sharding &shardingOf(unsigned value) const {
    return plan.values[value].sharding;
  }
  const Sharding &given(unsigned value) const { return reshards.given(value); }

  unsigned newBuffer(StageWork &stage, unsigned value,
                     const Sharding &sharding);
  unsigned place(int64_t stage, unsigned value);
  void repeat(int64_t stage, unsigned op);
  unsigned receive(int64_t stage, unsigned value, const Sharding &sharding,
                   std::optional<unsigned> source);
  unsigned read(int64_t stage, unsigned value, const WantedSharding &want,
                const PlannedReshards::Steps &steps, bool fused,
                bool again = false);
  unsigned readOperand(int64_t stage, unsigned op, unsigned operand,
                       bool fused);
  unsigned reshard(int64_t stage, unsigned buffer, unsigned value,
                   const PlannedReshards::Steps &steps, bool fused,
                   bool late = false);
  unsigned reshardResult(int64_t stage, unsigned buffer, unsigned value);
  std::string packingOf(const Launch &launch) const;
  void launch(const Launch &launch);
  void name(const Launch &launch);
  void returnResult(unsigned result, std::optional<unsigned> state);
  unsigned copy(StageWork &stage, unsigned value, unsigned buffer,
                const Sharding &sharding);
  void returnResults();

  const ModelGraph &graph;
  const Plan &plan;
  bool listsContents;
  PlannedReshards reshards;
  LaunchList launches;
  std::vector<StageWork> stages;
  SharedReshards<unsigned, std::optional<unsigned>> copies; // their buffers
  std::vector<bool> stored;       // per value: some launch reads it
  std::vector<unsigned> inLaunch; // per op: 1 + the last launch that has it
  int64_t nextChannel = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values in memory
//===----------------------------------------------------------------------===//

unsigned WorkLister::newBuffer(StageWork &stage, unsigned value,
                               const Sharding &sharding) {
  WorkBuffer buffer;
  buffer.bytes = localBytes(graph.values[value], sharding, plan.mesh);
  stage.work.buffers.push_back(buffer);
  stage.persistent.emplace_back();
  if (listsContents)
    stage.contents.push_back({value, sharding});
  return stage.work.buffers.size() - 1;
}

/// Runs a repeated op, whose operands have places, in a stage.
void WorkLister::repeat(int64_t number, unsigned op) {
  StageWork &stage = stages[number];
  WorkItem item;
  for (const auto &[position, operand] : enumerate(graph.ops[op].operands)) {
    item.reads.push_back(readOperand(number, op, position, /*fused=*/true));
    if (auto constant = stage.originOf(operand))
      stage.plain.insert(*constant);
  }
  ArrayRef<unsigned> results = graph.ops[op].results;
  for (unsigned value : results)
    item.writes.push_back(newBuffer(stage, value, given(value)));
  auto made = item.writes;
  stage.work.items.push_back(std::move(item));
  for (auto [value, buffer] : zip_equal(results, made))
    stage.places[value] = reshardResult(number, buffer, value);
}

/// Receives `value` in the sharding of the buffer `source` of the stage that
/// makes it, which sends it at once.
unsigned WorkLister::receive(int64_t number, unsigned value,
                             const Sharding &sharding,
                             std::optional<unsigned> source) {
  StageWork &stage = stages[number];
  WorkItem arrival;
  unsigned buffer = newBuffer(stage, value, sharding);
  arrival.writes.push_back(buffer);
  if (source) {
    StageWork &from = stages[plan.ops[graph.values[value].producer].stage];
    arrival.kind = WorkKind::Recv;
    arrival.channel = nextChannel++;
    WorkItem departure;
    departure.kind = WorkKind::Send;
    departure.channel = arrival.channel;
    departure.reads.push_back(*source);
    from.work.items.push_back(std::move(departure));
    int64_t ring = shared_memory::ringBytes(stage.work.buffers[buffer].bytes,
                                            shared_memory::kChannelSlots);
    from.channelBytes += ring;
    stage.channelBytes += ring;
  }
  stage.work.items.push_back(std::move(arrival));
  return buffer;
}

/// Returns the buffer of `value` as planned, in a stage that reads it.
unsigned WorkLister::place(int64_t number, unsigned value) {
  StageWork &stage = stages[number];
  if (std::optional<unsigned> known = stage.places[value])
    return *known;
  const GraphValue &what = graph.values[value];
  unsigned buffer;
  if (launches.isComputed(value) && graph.repeats.isRepeated(what.producer)) {
    graph.repeats.makeMissing(
        what.producer,
        [&](unsigned op) {
          return stage.places[graph.ops[op].results.front()].has_value();
        },
        [&](unsigned op) { repeat(number, op); });
    return *stage.places[value];
  }
  if (launches.isComputed(value)) {
    StageWork &maker = stages[plan.ops[what.producer].stage];
    buffer = receive(number, value, shardingOf(value), maker.places[value]);
  } else {
    buffer = newBuffer(stage, value, shardingOf(value));
    stage.work.buffers[buffer].input = what.source == ValueSource::Input;
    stage.work.buffers[buffer].persistent =
        what.persistent ||
        isReadInPlace(graph, what, shardingOf(value), plan.mesh);
    if (what.persistent)
      stage.persistent[buffer] = value;
  }
  stage.places[value] = buffer;
  return buffer;
}

/// Returns the buffer after the steps of a reshard. `fused` tells that the
/// reader is a kernel, which takes slices as it reads; `late`, that the
/// collectives come just before it.
unsigned WorkLister::reshard(int64_t number, unsigned buffer, unsigned value,
                             const PlannedReshards::Steps &steps, bool fused,
                             bool late) {
  StageWork &stage = stages[number];
  if (!steps)
    return buffer;
  for (const auto &[index, step] : enumerate(*steps)) {
    bool local = isLocal(step.kind);
    if (local && fused && index + 1 == steps->size())
      break;
    WorkItem item;
    item.kind = local ? WorkKind::Compute : WorkKind::Collective;
    item.late = late && !local;
    item.reads.push_back(buffer);
    int64_t before = stage.work.buffers[buffer].bytes;
    buffer = newBuffer(stage, value, step.after);
    item.writes.push_back(buffer);
    if (step.kind == ReshardKind::AllReduce)
      item.inPlace.push_back({0, 0});
    stage.work.items.push_back(std::move(item));
    if (local)
      continue;
    int64_t &most = stage.messages[std::vector<unsigned>(step.subAxes.begin(),
                                                         step.subAxes.end())];
    most = std::max({most, before, stage.work.buffers[buffer].bytes});
  }
  return buffer;
}

/// Reshards a result, as its op gives it, to the sharding in which it is
/// stored.
unsigned WorkLister::reshardResult(int64_t number, unsigned buffer,
                                   unsigned value) {
  const GraphValue &what = graph.values[value];
  return reshard(number, buffer, value,
                 reshards.ofResult(what.producer, what.resultIndex),
                 /*fused=*/false);
}

/// Returns the buffer of `value` as a reader wants it; `steps` lead there.
/// There is one copy per stage and form, which the reader may make again.
unsigned WorkLister::read(int64_t number, unsigned value,
                          const WantedSharding &want,
                          const PlannedReshards::Steps &steps, bool fused,
                          bool again) {
  const GraphValue &what = graph.values[value];
  std::optional<int64_t> maker;
  if (graph.isMadeInOneStage(what))
    maker = plan.ops[what.producer].stage;
  int64_t home = reshardStage(maker, number);
  if (shardingOf(value) == want.sharding ||
      (home == number && fused && !movesData(steps)))
    return place(number, value);
  if (std::optional<unsigned> known = copies.find(value, want, number, again))
    return *known;
  unsigned made =
      home == number ? reshard(number, place(number, value), value, steps,
                               fused, /*late=*/again)
                     : receive(number, value, want.sharding,
                               read(home, value, want, steps, /*fused=*/false));
  copies.find(value, want, number) = made;
  return made;
}

unsigned WorkLister::readOperand(int64_t number, unsigned op, unsigned operand,
                                 bool fused) {
  const GraphOp &reader = graph.ops[op];
  WantedSharding want = wantedSharding(reshards.shardings(op).operands[operand],
                                       reader.facts->rule.operands[operand]);
  return read(number, reader.operands[operand], want,
              reshards.ofOperand(op, operand), fused,
              plan.ops[op].regathersOperand(operand));
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Handles a reshape outside of kernels: its result names the operand's memory,
/// unless a reshard makes a copy.
void WorkLister::name(const Launch &launch) {
  StageWork &stage = stages[launch.stage];
  unsigned op = launch.ops.front();
  unsigned operand = graph.ops[op].operands.front();
  unsigned buffer = readOperand(launch.stage, op, 0, /*fused=*/false);
  for (unsigned result : graph.ops[op].results) {
    unsigned made = reshardResult(launch.stage, buffer, result);
    stage.places[result] = made;
    auto origin = stage.originOf(operand);
    if (origin && made != stage.places[operand])
      stage.plain.insert(*origin);
  }
}

/// Returns the text on which the packed form of a weight depends, like
/// packingOf in Dialect/LibraryCall.h for kernels.
std::string WorkLister::packingOf(const Launch &launch) const {
  if (libraryKind(*launch.step->call).packedBy == LibraryKind::Root)
    return graph.ops[launch.step->root].facts->signature;
  std::string all;
  for (unsigned op : launch.ops)
    all += graph.ops[op].facts->signature + '\n';
  return all;
}

void WorkLister::launch(const Launch &launch) {
  StageWork &stage = stages[launch.stage];
  unsigned number = 1 + (&launch - launches.all().data());
  for (unsigned op : launch.ops)
    inLaunch[op] = number;
  bool isCall = launch.step->call.has_value();
  WorkItem item;
  SmallVector<unsigned> readValues;
  for (unsigned op : launch.ops)
    for (const auto &[position, value] : enumerate(graph.ops[op].operands)) {
      if (launches.isComputed(value) &&
          inLaunch[graph.values[value].producer] == number)
        continue;
      bool library =
          isCall && (op == launch.step->root ||
                     graph.ops[op].facts->kernel == KernelClass::View);
      unsigned buffer =
          readOperand(launch.stage, op, position, /*fused=*/!isCall);
      if (auto constant = stage.persistent[buffer]) {
        if (library && graph.values[*constant].source != ValueSource::State)
          stage.calls[{*constant, packingOf(launch)}] = *launch.step->call;
        else
          stage.plain.insert(*constant);
      } else if (auto origin = stage.originOf(value)) {
        stage.plain.insert(*origin); // read by the reshard
      }
      if (!is_contained(item.reads, buffer)) {
        item.reads.push_back(buffer);
        readValues.push_back(value);
      }
    }
  SmallVector<unsigned> results;
  for (unsigned op : launch.ops)
    for (unsigned value : graph.ops[op].results)
      if (stored[value] && !stage.places[value])
        results.push_back(value);
  for (unsigned value : results) {
    item.writes.push_back(newBuffer(stage, value, given(value)));
    stage.places[value] = item.writes.back();
  }
  for (auto [out, in] : launch.step->inPlace) {
    auto *to = llvm::find(results, out), *from = llvm::find(readValues, in);
    if (to != results.end() && from != readValues.end())
      item.inPlace.push_back({unsigned(to - results.begin()),
                              unsigned(from - readValues.begin())});
  }
  stage.work.items.push_back(std::move(item));
  for (unsigned value : results)
    stage.places[value] =
        reshardResult(launch.stage, *stage.places[value], value);
}

/// Returns a value from a step. A result that is an argument, or another
/// result's memory, is copied. A gradient is read when it is made, and its
/// memory is then free after its last reader.
void WorkLister::returnResult(unsigned result, std::optional<unsigned> state) {
  unsigned value = graph.stepResults[result];
  int64_t number = launches.isComputed(value)
                       ? plan.ops[graph.values[value].producer].stage
                       : 0;
  StageWork &stage = stages[number];
  Sharding whole = endPartial(shardingOf(value));
  unsigned buffer = read(number, value, {whole, {}},
                         reshards.ofReturned(result), /*fused=*/false);
  WorkBuffer what = stage.work.buffers[buffer];
  if (auto constant = stage.persistent[buffer])
    stage.plain.insert(*constant);
  bool isGradient = graph.values[value].isGradient;
  if (what.input || what.persistent || (what.output && !isGradient))
    buffer = copy(stage, value, buffer, whole);
  if (!isGradient)
    stage.work.buffers[buffer].output = true;
  if (state)
    stage.work.states.push_back({place(number, *state), buffer});
}

unsigned WorkLister::copy(StageWork &stage, unsigned value, unsigned buffer,
                          const Sharding &sharding) {
  WorkItem item;
  item.reads.push_back(buffer);
  item.writes.push_back(newBuffer(stage, value, sharding));
  stage.work.items.push_back(item);
  return item.writes.front();
}

/// Returns the results of a step. A state's next value goes to the state's
/// memory.
void WorkLister::returnResults() {
  std::vector<std::optional<unsigned>> states(graph.stepResults.size());
  for (const GraphState &state : graph.states) {
    states[state.result] = state.argument;
    stages.front().plain.insert(state.argument);
  }
  std::vector<unsigned> next;
  for (const auto &[index, value] : enumerate(graph.stepResults)) {
    if (states[index] == value)
      continue; // the state stays as it is
    returnResult(index, states[index]);
    if (states[index])
      next.push_back(value);
  }
  WorkList &work = stages.front().work; // models with states have one stage
  for (auto [state, value, copied] :
       zip_equal(work.states, next, statesToCopy(work))) {
    if (copied) {
      work.buffers[state.next].output = false;
      state.next = copy(stages.front(), value, state.next, shardingOf(value));
    }
    work.buffers[state.next].persistent = true;
  }
}

std::vector<StageWork> WorkLister::run() {
  for (const Launch &item : launches.all())
    item.step->view ? name(item) : launch(item);
  returnResults();
  return std::move(stages);
}

std::vector<StageWork> workOfStages(const ModelGraph &graph, const Plan &plan,
                                    bool listsContents) {
  return WorkLister(graph, plan, listsContents).run();
}

} // namespace autopar
