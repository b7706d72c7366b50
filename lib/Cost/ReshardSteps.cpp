//===- ReshardSteps.cpp - Legal steps from a sharding towards a target ----===//

#include "ReshardSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// Sub-axes that move together
//===----------------------------------------------------------------------===//

/// Where a sharding has each sub-axis: in neighbouring places of a dimension
/// numbers follow each other; partial ones of a kind, and those that are
/// nowhere, have one negative number each.
static SmallVector<int> placesOf(const Sharding &sharding, size_t subAxes) {
  SmallVector<int> places(subAxes, -1);
  for (const auto &[dim, item] : enumerate(sharding.dims))
    for (const auto &[position, subAxis] : enumerate(item.subAxes))
      places[subAxis] = dim * (subAxes + 1) + position;
  for (const Partial &partial : sharding.partial)
    places[partial.subAxis] = -2 - int(partial.kind);
  return places;
}

static bool sideBySide(int a, int b) { return a < 0 ? a == b : b == a + 1; }

SubAxisRuns::SubAxisRuns(const Sharding &from, const Sharding &to,
                         const Mesh &mesh) {
  ArrayRef<SubAxis> subAxes = mesh.subAxes();
  SmallVector<int> fromPlaces = placesOf(from, subAxes.size());
  SmallVector<int> toPlaces = placesOf(to, subAxes.size());
  for (unsigned subAxis = 0; subAxis < subAxes.size(); ++subAxis)
    runOf.push_back(subAxis);
  for (unsigned a = 0; a < subAxes.size(); ++a)
    for (unsigned b = 0; b < subAxes.size(); ++b)
      if (a != b && subAxes[a].time == subAxes[b].time &&
          sideBySide(fromPlaces[a], fromPlaces[b]) &&
          sideBySide(toPlaces[a], toPlaces[b]))
        join(a, b);
}

void SubAxisRuns::join(unsigned a, unsigned b) {
  unsigned into = std::min(runOf[a], runOf[b]),
           gone = std::max(runOf[a], runOf[b]);
  llvm::replace(runOf, gone, into);
}

SmallVector<SmallVector<unsigned, 2>>
SubAxisRuns::split(ArrayRef<unsigned> subAxes) const {
  SmallVector<SmallVector<unsigned, 2>> list;
  for (unsigned subAxis : subAxes) {
    auto *run = llvm::find_if(list, [&](const auto &r) {
      return runOf[r.front()] == runOf[subAxis];
    });
    if (run == list.end())
      run = list.insert(list.end(), SmallVector<unsigned, 2>());
    run->push_back(subAxis);
  }
  return list;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

MutableArrayRef<ReshardStep> StepTable::steps(const Sharding &from) {
  result.clear();
  current = &from;
  bool inHalo = any_of(from.dims, [](const DimSharding &dim) {
    return dim.interval.has_value();
  });
  if (!inHalo) {
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

/// Whether splitting blocks over `major` again over `minor` gives the blocks
/// that splitting the whole over both gives.
bool StepTable::nests(unsigned dim, ArrayRef<unsigned> major,
                      ArrayRef<unsigned> minor) const {
  if (major.empty())
    return true;
  int64_t k = mesh.product(major), m = mesh.product(minor);
  return ceilDiv(shape[dim], k) == m * ceilDiv(shape[dim], k * m);
}

/// What the target still wants in `dim` after what is there; empty where what
/// is there is in the way.
ArrayRef<unsigned> StepTable::wanted(unsigned dim) const {
  ArrayRef<unsigned> have = subAxes(dim), want = to.dims[dim].subAxes;
  if (have.size() >= want.size() || want.take_front(have.size()) != have)
    return {};
  return want.drop_front(have.size());
}

int64_t StepTable::localBytes(const Sharding &sharding) const {
  int64_t bytes = elementBytes;
  for (auto [size, dim] : zip_equal(shape, sharding.dims))
    bytes *= localSize(size, dim, mesh);
  return bytes;
}

/// The kind by which all of `subAxes` are partial, if they are.
static std::optional<ReduceKind> partialKind(const Sharding &sharding,
                                             ArrayRef<unsigned> subAxes) {
  std::optional<ReduceKind> kind;
  for (unsigned subAxis : subAxes) {
    const Partial *found =
        llvm::find_if(sharding.partial,
                      [&](const Partial &p) { return p.subAxis == subAxis; });
    if (found == sharding.partial.end() || (kind && *kind != found->kind))
      return std::nullopt;
    kind = found->kind;
  }
  return kind;
}

static void sortPartial(Sharding &sharding) {
  llvm::sort(sharding.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
}

static void dropPartial(Sharding &sharding, ArrayRef<unsigned> subAxes) {
  llvm::erase_if(sharding.partial, [&](const Partial &p) {
    return is_contained(subAxes, p.subAxis);
  });
}

ReshardStep StepTable::start(ReshardKind kind, ArrayRef<unsigned> subAxes,
                             unsigned dim) const {
  ReshardStep step;
  step.kind = kind;
  step.subAxes.assign(subAxes.begin(), subAxes.end());
  step.dim = dim;
  step.after = *current;
  return step;
}

void StepTable::finish(ReshardStep step, bool operandIsWider) {
  step.bytes = localBytes(operandIsWider ? *current : step.after);
  result.push_back(std::move(step));
}

void StepTable::slice() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (size_t count = 1; count <= want.size(); ++count) {
      ArrayRef<unsigned> added = want.take_front(count);
      if (current->usesSubAxis(added.back()))
        break;
      if (!runs.cutsAt(want, count) || !nests(dim, subAxes(dim), added))
        continue;
      ReshardStep step = start(ReshardKind::SliceBlock, added, dim);
      append_range(step.after.dims[dim].subAxes, added);
      finish(std::move(step), /*operandIsWider=*/false);
    }
  }
}

void StepTable::keepFirst() {
  for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind) {
    SmallVector<unsigned, 2> added;
    for (const Partial &partial : to.partial)
      if (unsigned(partial.kind) == kind &&
          !current->usesSubAxis(partial.subAxis) && !isTime(partial.subAxis))
        added.push_back(partial.subAxis);
    // Reductions of two kinds do not commute: the first one must end before.
    bool mixed = any_of(current->partial, [&](const Partial &partial) {
      return unsigned(partial.kind) != kind;
    });
    if (added.empty() || mixed)
      continue;
    ReshardStep step = start(ReshardKind::KeepFirst, added);
    step.reduce = ReduceKind(kind);
    for (unsigned subAxis : added)
      step.after.partial.push_back({subAxis, step.reduce});
    sortPartial(step.after);
    finish(std::move(step), /*operandIsWider=*/false);
  }
}

void StepTable::gather() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> have = subAxes(dim);
    for (size_t kept = have.size(); kept-- > 0;) {
      ArrayRef<unsigned> removed = have.drop_front(kept);
      if (anyTime(removed))
        break;
      if (!runs.cutsAt(have, kept) ||
          !nests(dim, have.take_front(kept), removed))
        continue;
      ReshardStep step = start(ReshardKind::AllGather, removed, dim);
      step.after.dims[dim].subAxes.truncate(kept);
      finish(std::move(step), /*operandIsWider=*/false);
    }
  }
}

void StepTable::reduceScatter() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (size_t count = 1; count <= want.size(); ++count) {
      ArrayRef<unsigned> moved = want.take_front(count);
      std::optional<ReduceKind> kind = partialKind(*current, moved);
      if (!kind || isTime(moved.back()))
        break;
      if (!runs.cutsAt(want, count) || !nests(dim, subAxes(dim), moved))
        continue;
      ReshardStep step = start(ReshardKind::ReduceScatter, moved, dim);
      step.reduce = *kind;
      append_range(step.after.dims[dim].subAxes, moved);
      dropPartial(step.after, moved);
      finish(std::move(step), /*operandIsWider=*/true);
    }
  }
}

void StepTable::allToAll() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim)
    for (unsigned concat = 0; concat < to.dims.size(); ++concat)
      if (concat != dim && !anyTime(subAxes(concat)))
        allToAll(dim, concat);
}

void StepTable::allToAll(unsigned dim, unsigned concat) {
  ArrayRef<unsigned> want = wanted(dim), have = subAxes(concat);
  for (size_t count = 1; count <= std::min(want.size(), have.size()); ++count) {
    ArrayRef<unsigned> moved = want.take_front(count);
    if (have.take_back(count) != moved || !runs.cutsAt(want, count) ||
        !runs.cutsAt(have, have.size() - count) ||
        !nests(dim, subAxes(dim), moved) ||
        !nests(concat, have.drop_back(count), moved))
      continue;
    ReshardStep step = start(ReshardKind::AllToAll, moved, dim);
    step.concatDim = concat;
    append_range(step.after.dims[dim].subAxes, moved);
    step.after.dims[concat].subAxes.truncate(have.size() - count);
    finish(std::move(step), /*operandIsWider=*/true);
  }
}

void StepTable::allReduce() {
  for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind)
    allReduce(ReduceKind(kind));
}

/// Every subset of what is partial by `kind` and not wanted so: the others may
/// be scattered.
void StepTable::allReduce(ReduceKind kind) {
  SmallVector<unsigned> all;
  for (const Partial &partial : current->partial)
    if (partial.kind == kind && !isTime(partial.subAxis) &&
        !is_contained(to.partial, partial))
      all.push_back(partial.subAxis);
  SmallVector<SmallVector<unsigned, 2>> parts = runs.split(all);
  for (uint64_t subset = 1; subset < (uint64_t(1) << parts.size()); ++subset) {
    SmallVector<unsigned, 2> moved;
    for (const auto &[index, part] : enumerate(parts))
      if (subset >> index & 1)
        append_range(moved, part);
    llvm::sort(moved);
    ReshardStep step = start(ReshardKind::AllReduce, moved);
    step.reduce = kind;
    dropPartial(step.after, moved);
    finish(std::move(step), /*operandIsWider=*/true);
  }
}

/// Halos come last: everything else is already as the target has it.
void StepTable::halo() {
  if (current->partial != to.partial)
    return;
  for (const auto &[have, want] : zip_equal(current->dims, to.dims))
    if (have.subAxes != want.subAxes)
      return;
  for (const auto &[dim, want] : enumerate(to.dims)) {
    if (!want.interval || current->dims[dim].interval || anyTime(want.subAxes))
      continue;
    ReshardStep step = start(ReshardKind::Halo, want.subAxes, dim);
    step.after.dims[dim].interval = want.interval;
    step.bytes = haloBytes(dim);
    result.push_back(std::move(step));
    return;
  }
}

/// What the busiest device does not hold of its interval yet.
int64_t StepTable::haloBytes(unsigned dim) const {
  const Interval &interval = *to.dims[dim].interval;
  int64_t parts = mesh.product(to.dims[dim].subAxes), n = shape[dim];
  int64_t block = ceilDiv(n, parts), missing = 0;
  for (int64_t j = 0; j < parts; ++j) {
    int64_t low = std::max<int64_t>(0, j * interval.step + interval.offset);
    int64_t high =
        std::min(n, j * interval.step + interval.offset + interval.length);
    int64_t heldLow = std::max(low, j * block);
    int64_t heldHigh = std::min({high, (j + 1) * block, n});
    missing = std::max(missing, std::max<int64_t>(0, high - low) -
                                    std::max<int64_t>(0, heldHigh - heldLow));
  }
  int64_t bytes = missing * elementBytes;
  for (const auto &[other, size] : enumerate(shape))
    if (other != dim)
      bytes *= localSize(size, current->dims[other], mesh);
  return bytes;
}

} // namespace autopar
