//===- ReshardSteps.cpp - Legal steps from a sharding towards a target ----===//

#include "ReshardSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

StepTable::StepTable(const Sharding &from, const Sharding &to,
                     ArrayRef<int64_t> shape, int64_t elementBytes,
                     const SubAxisRuns &runs)
    : shape(shape), elementBytes(elementBytes), runs(runs), dims(shape.size()) {
  Sharding start = runs.ofRuns(from), target = runs.ofRuns(to);
  for (auto [dim, size, before, after] :
       zip_equal(dims, shape, start.dims, target.dims)) {
    dim.from.append(before.subAxes);
    dim.to.append(after.subAxes);
    dim.interval = after.interval;
    addPlaces(dim, size);
  }
  partials.append(start.partial.begin(), start.partial.end());
  for (const Partial &partial : target.partial)
    if (!is_contained(partials, partial))
      partials.push_back(partial);
  llvm::stable_sort(partials, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
  startState = stateOf(start);
  targetState = stateOf(target);
}

/// Adds the prefixes of the start's list, and then those of the target's list
/// that are not among them.
void StepTable::addPlaces(Dim &dim, int64_t size) const {
  size_t common = 0;
  while (common < std::min(dim.from.size(), dim.to.size()) &&
         dim.from[common] == dim.to[common])
    ++common;
  auto add = [&](ArrayRef<unsigned> list, bool isTarget) {
    SplitDim place{list, 0, ceilDiv(size, runs.product(list)), std::nullopt};
    for (unsigned run : list)
      place.members |= uint64_t(1) << run;
    if (isTarget) {
      place.met = list.size();
      dim.ofTarget.push_back(dim.places.size());
    }
    dim.places.push_back(place);
  };
  for (size_t length = 0; length <= dim.from.size(); ++length)
    add(ArrayRef(dim.from).take_front(length), length <= common);
  for (size_t length = common + 1; length <= dim.to.size(); ++length)
    add(ArrayRef(dim.to).take_front(length), true);
}

ReshardState StepTable::stateOf(const Sharding &sharding) const {
  ReshardState state;
  for (const auto &[index, dim] : enumerate(sharding.dims)) {
    const auto *found =
        llvm::find_if(dims[index].places, [&dim = dim](const SplitDim &place) {
          return place.runs == ArrayRef<unsigned>(dim.subAxes);
        });
    state.places.push_back(found - dims[index].places.begin());
    if (dim.interval)
      state.intervals |= intervalBit(index);
  }
  for (const auto &[index, partial] : enumerate(partials))
    if (is_contained(sharding.partial, partial))
      state.partial |= uint64_t(1) << index;
  return state;
}

Sharding StepTable::shardingOf(const ReshardState &state) const {
  Sharding ofRuns = Sharding::replicated(dims.size());
  for (const auto &[index, dim] : enumerate(ofRuns.dims)) {
    dim.subAxes.append(placeOf(index, state).runs.begin(),
                       placeOf(index, state).runs.end());
    if (isInterval(state, index))
      dim.interval = dims[index].interval;
  }
  for (const auto &[index, partial] : enumerate(partials))
    if (state.partial >> index & 1)
      ofRuns.partial.push_back(partial);
  return runs.ofSubAxes(ofRuns);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

MutableArrayRef<ReshardMove> StepTable::steps(const ReshardState &from) {
  result.clear();
  current = &from;
  if (!from.intervals) {
    slice();
    keepFirst();
    gather();
    reduceScatter();
    allToAll();
    allReduce();
  }
  halo();
  return result;
}

/// Returns whether splitting blocks over `major` again over `minor` gives the
/// blocks that splitting the whole over both gives.
bool StepTable::nests(unsigned dim, ArrayRef<unsigned> major,
                      ArrayRef<unsigned> minor) const {
  if (major.empty())
    return true;
  int64_t k = runs.product(major), m = runs.product(minor);
  return ceilDiv(shape[dim], k) == m * ceilDiv(shape[dim], k * m);
}

/// The runs that the target wants in `dim` after those that split it now. It is
/// empty if the runs that split it now are not those with which the target
/// begins.
ArrayRef<unsigned> StepTable::wanted(unsigned dim) const {
  std::optional<size_t> met = place(dim).met;
  return met ? ArrayRef(dims[dim].to).drop_front(*met) : ArrayRef<unsigned>();
}

uint8_t StepTable::prefix(unsigned dim, size_t length) const {
  // Places of the start come first, in the order of their lengths.
  return place(dim).met ? dims[dim].ofTarget[length] : length;
}

std::optional<size_t> StepTable::partialOf(unsigned run) const {
  for (const auto &[index, partial] : enumerate(partials))
    if (partial.subAxis == run && (current->partial >> index & 1))
      return index;
  return std::nullopt;
}

/// The kind by which all of `list` are partial, if they are.
std::optional<ReduceKind>
StepTable::partialKind(ArrayRef<unsigned> list) const {
  std::optional<ReduceKind> kind;
  for (unsigned run : list) {
    std::optional<size_t> partial = partialOf(run);
    if (!partial || (kind && *kind != partials[*partial].kind))
      return std::nullopt;
    kind = partials[*partial].kind;
  }
  return kind;
}

uint64_t StepTable::usedRuns() const {
  uint64_t used = 0;
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    used |= place(dim).members;
  for (const auto &[index, partial] : enumerate(partials))
    if (current->partial >> index & 1)
      used |= uint64_t(1) << partial.subAxis;
  return used;
}

int64_t StepTable::localBytes(const ReshardState &state) const {
  int64_t bytes = elementBytes;
  for (const auto &[index, dim] : enumerate(dims))
    bytes *= isInterval(state, index) ? dim.interval->length
                                      : placeOf(index, state).localSize;
  return bytes;
}

ReshardMove &StepTable::start(ReshardKind kind, ArrayRef<unsigned> list,
                              unsigned dim) {
  ReshardMove &move = result.emplace_back();
  move.kind = kind;
  move.runs.assign(list.begin(), list.end());
  move.dim = dim;
  move.after = *current;
  return move;
}

void StepTable::finish(ReshardMove &move, bool operandIsWider) {
  move.bytes = localBytes(operandIsWider ? *current : move.after);
}

void StepTable::dropPartial(ReshardState &state,
                            ArrayRef<unsigned> list) const {
  for (unsigned run : list)
    if (std::optional<size_t> partial = partialOf(run))
      state.partial &= ~(uint64_t(1) << *partial);
}

void StepTable::slice() {
  uint64_t used = usedRuns();
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (size_t count = 1; count <= want.size(); ++count) {
      ArrayRef<unsigned> added = want.take_front(count);
      if (used >> added.back() & 1)
        break;
      if (!nests(dim, place(dim).runs, added))
        continue;
      ReshardMove &move = start(ReshardKind::SliceBlock, added, dim);
      move.after.places[dim] = prefix(dim, place(dim).runs.size() + count);
      finish(move, /*operandIsWider=*/false);
    }
  }
}

void StepTable::keepFirst() {
  uint64_t used = usedRuns();
  for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind) {
    SmallVector<unsigned, 4> added;
    uint64_t after = current->partial;
    bool mixed = false;
    for (const auto &[index, partial] : enumerate(partials)) {
      bool ofKind = unsigned(partial.kind) == kind;
      // Reductions of two kinds do not commute: the first must end before.
      mixed |= (current->partial >> index & 1) && !ofKind;
      if (!ofKind || !isWantedPartial(index) || (used >> partial.subAxis & 1) ||
          runs.isTime(partial.subAxis))
        continue;
      added.push_back(partial.subAxis);
      after |= uint64_t(1) << index;
    }
    if (added.empty() || mixed)
      continue;
    ReshardMove &move = start(ReshardKind::KeepFirst, added);
    move.reduce = ReduceKind(kind);
    move.after.partial = after;
    finish(move, /*operandIsWider=*/false);
  }
}

void StepTable::gather() {
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    ArrayRef<unsigned> have = place(dim).runs;
    for (size_t kept = have.size(); kept-- > 0;) {
      ArrayRef<unsigned> removed = have.drop_front(kept);
      if (anyTime(removed))
        break;
      if (!nests(dim, have.take_front(kept), removed))
        continue;
      ReshardMove &move = start(ReshardKind::AllGather, removed, dim);
      move.after.places[dim] = prefix(dim, kept);
      finish(move, /*operandIsWider=*/false);
    }
  }
}

void StepTable::reduceScatter() {
  if (!current->partial)
    return;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (size_t count = 1; count <= want.size(); ++count) {
      ArrayRef<unsigned> moved = want.take_front(count);
      std::optional<ReduceKind> kind = partialKind(moved);
      if (!kind || runs.isTime(moved.back()))
        break;
      if (!nests(dim, place(dim).runs, moved))
        continue;
      ReshardMove &move = start(ReshardKind::ReduceScatter, moved, dim);
      move.reduce = *kind;
      move.after.places[dim] = prefix(dim, place(dim).runs.size() + count);
      dropPartial(move.after, moved);
      finish(move, /*operandIsWider=*/true);
    }
  }
}

void StepTable::allToAll() {
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    for (unsigned concat = 0; concat < dims.size(); ++concat)
      if (concat != dim && !anyTime(place(concat).runs))
        allToAll(dim, concat);
}

void StepTable::allToAll(unsigned dim, unsigned concat) {
  ArrayRef<unsigned> want = wanted(dim), have = place(concat).runs;
  for (size_t count = 1; count <= std::min(want.size(), have.size()); ++count) {
    ArrayRef<unsigned> moved = want.take_front(count);
    if (have.take_back(count) != moved || !nests(dim, place(dim).runs, moved) ||
        !nests(concat, have.drop_back(count), moved))
      continue;
    ReshardMove &move = start(ReshardKind::AllToAll, moved, dim);
    move.concatDim = concat;
    move.after.places[dim] = prefix(dim, place(dim).runs.size() + count);
    move.after.places[concat] = prefix(concat, have.size() - count);
    finish(move, /*operandIsWider=*/true);
  }
}

void StepTable::allReduce() {
  if (!current->partial)
    return;
  for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind)
    allReduce(ReduceKind(kind));
}

/// Adds an all-reduce for every subset of the runs that are partial by `kind`
/// and not wanted so: the other runs may be scattered.
void StepTable::allReduce(ReduceKind kind) {
  SmallVector<unsigned> all;
  for (const auto &[index, partial] : enumerate(partials))
    if ((current->partial >> index & 1) && partial.kind == kind &&
        !runs.isTime(partial.subAxis) && !isWantedPartial(index))
      all.push_back(partial.subAxis);
  for (uint64_t subset = 1; subset < (uint64_t(1) << all.size()); ++subset) {
    ReshardMove &move = start(ReshardKind::AllReduce, {});
    for (const auto &[index, run] : enumerate(all))
      if (subset >> index & 1)
        move.runs.push_back(run);
    move.reduce = kind;
    dropPartial(move.after, move.runs);
    finish(move, /*operandIsWider=*/true);
  }
}

/// Adds the halo exchange, which is the last step: everything else must be as
/// the target has it.
void StepTable::halo() {
  if (current->partial != targetState.partial ||
      current->places != targetState.places)
    return;
  for (const auto &[index, dim] : enumerate(dims)) {
    if (!dim.interval || isInterval(*current, index) || anyTime(dim.to))
      continue;
    ReshardMove &move = start(ReshardKind::Halo, dim.to, index);
    move.after.intervals |= intervalBit(index);
    move.bytes = haloBytes(index);
    return;
  }
}

/// The bytes of its interval that the busiest device does not hold yet.
int64_t StepTable::haloBytes(unsigned dim) const {
  int64_t bytes =
      elementBytes *
      haloSize(shape[dim], runs.product(dims[dim].to), *dims[dim].interval);
  for (unsigned other = 0; other < dims.size(); ++other)
    if (other != dim)
      bytes *= isInterval(*current, other) ? dims[other].interval->length
                                           : place(other).localSize;
  return bytes;
}

int64_t haloSize(int64_t size, int64_t parts, const Interval &interval) {
  int64_t block = ceilDiv(size, parts), most = 0;
  for (int64_t j = 0; j < parts; ++j) {
    int64_t low = std::max<int64_t>(0, j * interval.step + interval.offset);
    int64_t high =
        std::min(size, j * interval.step + interval.offset + interval.length);
    int64_t heldLow = std::max(low, j * block);
    int64_t heldHigh = std::min({high, (j + 1) * block, size});
    most = std::max(most, std::max<int64_t>(0, high - low) -
                              std::max<int64_t>(0, heldHigh - heldLow));
  }
  return most;
}

} // namespace autopar
