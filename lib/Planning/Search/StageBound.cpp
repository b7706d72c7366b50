//===- StageBound.cpp - What the slowest stage takes at least -------------===//
//
// A stage takes at least the sum of its ops' parts and its messages under the
// best choice of each decision, which is the same for all ops of the stage. A
// dynamic program over the stages finds the cuts whose slowest stage has the
// least such sum.
//
//===----------------------------------------------------------------------===//

#include "StageBound.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// The stages that begin at one op; ops are added one at a time.
class GrowingStage {
public:
  explicit GrowingStage(const StageBoundCosts &costs);

  void begin(size_t position);
  void add(size_t position);
  /// Returns the seconds with messages of this kind. The last kind has none.
  double seconds(size_t kind) const { return sums[kind]; }
  double secondsAlone() const { return sums.back(); }

private:
  struct Decision {
    size_t age = 0;              // of its stage
    std::vector<double> seconds; // of the ops, per choice
    double received = 0, sent = 0;
    std::vector<double> least; // per kind of messages, last without
  };
  Decision &touch(unsigned decision);
  void receive(unsigned value);
  void settle();
  double leastWith(const StageBoundCosts::Messages &messages,
                   unsigned index) const;

  const StageBoundCosts &costs;
  std::vector<std::vector<unsigned>> madeBy, readBy; // values per position
  std::vector<Decision> decisions;
  // Per value, the last age at which the stage received it.
  std::vector<size_t> receivedAt;
  std::vector<double> sums;
  std::vector<unsigned> touched;
  size_t start = 0, age = 0;
};

} // namespace

GrowingStage::GrowingStage(const StageBoundCosts &costs)
    : costs(costs), madeBy(costs.ops.size()), readBy(costs.ops.size()),
      decisions(costs.choices.size()), receivedAt(costs.sent.size(), 0) {
  for (const auto &[index, value] : enumerate(costs.sent)) {
    madeBy[value.made].push_back(index);
    for (size_t position : value.read)
      readBy[position].push_back(index);
  }
}

void GrowingStage::begin(size_t position) {
  start = position;
  ++age;
  sums.assign(costs.messages.size() + 1, 0);
}

GrowingStage::Decision &GrowingStage::touch(unsigned index) {
  Decision &decision = decisions[index];
  if (decision.age != age) {
    decision.age = age;
    decision.seconds.assign(costs.choices[index], 0);
    decision.received = decision.sent = 0;
    decision.least.assign(costs.messages.size() + 1, 0);
  }
  if (!is_contained(touched, index))
    touched.push_back(index);
  return decision;
}

void GrowingStage::receive(unsigned value) {
  const StageBoundCosts::Sent &sent = costs.sent[value];
  if (sent.made >= start || std::exchange(receivedAt[value], age) == age)
    return;
  ++touch(sent.decision).received;
}

double GrowingStage::leastWith(const StageBoundCosts::Messages &messages,
                               unsigned index) const {
  const Decision &decision = decisions[index];
  double least = kIllegal;
  for (size_t choice = 0; choice < decision.seconds.size(); ++choice) {
    double seconds = decision.seconds[choice];
    if (decision.received > 0)
      seconds += decision.received * messages.receive[index][choice];
    if (decision.sent > 0)
      seconds += decision.sent * messages.send[index][choice];
    least = std::min(least, seconds);
  }
  return least;
}

void GrowingStage::settle() {
  for (unsigned index : touched) {
    Decision &decision = decisions[index];
    double alone = *llvm::min_element(decision.seconds);
    bool isSent = decision.received > 0 || decision.sent > 0;
    for (auto [kind, sum] : enumerate(sums)) {
      bool with = isSent && kind < costs.messages.size();
      double least = with ? leastWith(costs.messages[kind], index) : alone;
      sum += least - std::exchange(decision.least[kind], least);
    }
  }
  touched.clear();
}

void GrowingStage::add(size_t position) {
  for (const StageBoundCosts::Part &part : costs.opKinds[costs.ops[position]])
    for (auto [sum, seconds] :
         zip_equal(touch(part.decision).seconds, part.seconds))
      sum += seconds;
  for (unsigned value : madeBy[position])
    if (!costs.sent[value].read.empty())
      // until the stage has all its readers
      ++touch(costs.sent[value].decision).sent;
  for (unsigned value : readBy[position]) {
    const StageBoundCosts::Sent &sent = costs.sent[value];
    receive(value);
    if (sent.made >= start && sent.read.back() == position)
      --touch(sent.decision).sent;
  }
  settle();
}

double leastOfSlowestStage(const StageBoundCosts &costs, double limit) {
  constexpr size_t kMostPlaces = 1 << 22, kMostSteps = 1 << 23;
  size_t count = costs.ops.size(), stages = costs.stages.size(), steps = 0;
  if ((stages + 1) * (count + 1) > kMostPlaces)
    return 0;
  GrowingStage stage(costs);
  // Per stage and position, the least seconds of the slowest stage before it.
  std::vector<std::vector<double>> slowest(
      stages + 1, std::vector<double>(count + 1, limit));
  slowest[0][0] = 0;
  for (size_t from = 0; from < count; ++from) {
    auto isReached = [&](const auto &ofStage) { return ofStage[from] < limit; };
    if (none_of(drop_end(slowest), isReached))
      continue;
    stage.begin(from);
    for (size_t to = from + 1; to <= count; ++to) {
      stage.add(to - 1);
      if (++steps == kMostSteps)
        return 0;
      // More ops can lower the sum of parts again while other ops that read the
      // same values are missing, but no stage takes less than its first ops.
      if (stage.secondsAlone() >= limit)
        break;
      for (size_t k = 0; k < stages; ++k)
        slowest[k + 1][to] = std::min(
            slowest[k + 1][to],
            std::max(slowest[k][from], stage.seconds(costs.stages[k])));
    }
  }
  constexpr double kRounding = 1e-9; // for sums that grow and shrink
  return (1 - kRounding) * slowest[stages][count];
}

} // namespace autopar
