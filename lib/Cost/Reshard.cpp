//===- Reshard.cpp - Steps from one sharding to another -------------------===//

#include "autopar/Cost/Reshard.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace llvm;

namespace autopar {

StringRef stringifyReshardKind(ReshardKind kind) {
  static constexpr StringLiteral names[] = {
      "slice_block", "keep_first", "all_gather", "reduce_scatter",
      "all_to_all",  "all_reduce", "halo"};
  return names[unsigned(kind)];
}

void appendKey(std::string &key, const Sharding &sharding) {
  auto number = [&](int64_t value) {
    key += std::to_string(value);
    key += ',';
  };
  for (const DimSharding &dim : sharding.dims) {
    for (unsigned atom : dim.atoms)
      key += char('A' + atom);
    if (dim.interval) {
      number(dim.interval->step);
      number(dim.interval->offset);
      number(dim.interval->length);
    }
    key += ';';
  }
  for (const Partial &partial : sharding.partial) {
    key += char('A' + partial.atom);
    key += char('0' + unsigned(partial.kind));
  }
  key += '.';
}

double secondsOf(const ReshardPath &path) {
  double seconds = 0;
  for (const ReshardStep &step : path)
    seconds += step.seconds;
  return seconds;
}

//===----------------------------------------------------------------------===//
// The table: legal steps from a sharding towards a target
//===----------------------------------------------------------------------===//

namespace {

using Atoms = SmallVector<unsigned, 2>;

/// Lists the steps that lead from a sharding towards the target. A dimension
/// only ever holds a prefix of its atoms at the start or in the target: no
/// other place brings a value nearer.
class StepTable {
public:
  StepTable(const Sharding &to, ArrayRef<int64_t> shape, int64_t elementBytes,
            const Mesh &mesh)
      : to(to), shape(shape), elementBytes(elementBytes), mesh(mesh) {}

  SmallVector<ReshardStep> steps(const Sharding &from) {
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
    return std::move(result);
  }

private:
  bool isTime(unsigned atom) const { return mesh.atoms()[atom].time; }
  bool anyTime(ArrayRef<unsigned> atoms) const {
    return any_of(atoms, [&](unsigned atom) { return isTime(atom); });
  }
  ArrayRef<unsigned> atoms(unsigned dim) const {
    return current->dims[dim].atoms;
  }
  const Partial *partialOver(const Sharding &sharding, unsigned atom) const {
    const Partial *found = llvm::find_if(
        sharding.partial, [&](const Partial &p) { return p.atom == atom; });
    return found == sharding.partial.end() ? nullptr : found;
  }

  /// Whether splitting blocks over `major` again over `minor` gives the blocks
  /// that splitting the whole over both gives.
  bool nests(unsigned dim, ArrayRef<unsigned> major,
             ArrayRef<unsigned> minor) const {
    if (major.empty())
      return true;
    int64_t k = mesh.product(major), m = mesh.product(minor);
    return ceilDiv(shape[dim], k) == m * ceilDiv(shape[dim], k * m);
  }

  /// What the target still wants in `dim` after what is there; empty where what
  /// is there is in the way.
  ArrayRef<unsigned> wanted(unsigned dim) const {
    ArrayRef<unsigned> have = atoms(dim), want = to.dims[dim].atoms;
    if (have.size() >= want.size() || want.take_front(have.size()) != have)
      return {};
    return want.drop_front(have.size());
  }

  int64_t localBytes(const Sharding &sharding) const {
    int64_t bytes = elementBytes;
    for (auto [size, dim] : zip_equal(shape, sharding.dims))
      bytes *= localSize(size, dim, mesh);
    return bytes;
  }

  static void sortPartial(Sharding &sharding) {
    llvm::sort(sharding.partial, [](const Partial &a, const Partial &b) {
      return a.atom < b.atom;
    });
  }
  static void dropPartial(Sharding &sharding, ArrayRef<unsigned> atoms) {
    llvm::erase_if(sharding.partial, [&](const Partial &p) {
      return is_contained(atoms, p.atom);
    });
  }

  ReshardStep start(ReshardKind kind, ArrayRef<unsigned> atoms,
                    unsigned dim = 0) const {
    ReshardStep step;
    step.kind = kind;
    step.atoms.assign(atoms.begin(), atoms.end());
    step.dim = dim;
    step.after = *current;
    return step;
  }
  void finish(ReshardStep step, bool operandIsWider) {
    step.bytes = localBytes(operandIsWider ? *current : step.after);
    result.push_back(std::move(step));
  }

  void slice();
  void keepFirst();
  void gather();
  void reduceScatter();
  void allToAll();
  void allReduce();
  void allReduce(ReduceKind kind);
  void halo();
  int64_t haloBytes(unsigned dim) const;

  const Sharding &to;
  ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const Mesh &mesh;
  const Sharding *current = nullptr;
  SmallVector<ReshardStep> result;
};

} // namespace

void StepTable::slice() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (size_t count = 1; count <= want.size(); ++count) {
      ArrayRef<unsigned> added = want.take_front(count);
      if (current->usesAtom(added.back()))
        break;
      if (!nests(dim, atoms(dim), added))
        continue;
      ReshardStep step = start(ReshardKind::SliceBlock, added, dim);
      append_range(step.after.dims[dim].atoms, added);
      finish(std::move(step), /*operandIsWider=*/false);
    }
  }
}

void StepTable::keepFirst() {
  for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind) {
    Atoms added;
    for (const Partial &partial : to.partial)
      if (unsigned(partial.kind) == kind && !current->usesAtom(partial.atom) &&
          !isTime(partial.atom))
        added.push_back(partial.atom);
    // Reductions of two kinds do not commute: the first one must end before.
    bool mixed = any_of(current->partial, [&](const Partial &partial) {
      return unsigned(partial.kind) != kind;
    });
    if (added.empty() || mixed)
      continue;
    ReshardStep step = start(ReshardKind::KeepFirst, added);
    step.reduce = ReduceKind(kind);
    for (unsigned atom : added)
      step.after.partial.push_back({atom, step.reduce});
    sortPartial(step.after);
    finish(std::move(step), /*operandIsWider=*/false);
  }
}

void StepTable::gather() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> have = atoms(dim);
    for (size_t kept = have.size(); kept-- > 0;) {
      ArrayRef<unsigned> removed = have.drop_front(kept);
      if (anyTime(removed))
        break;
      if (!nests(dim, have.take_front(kept), removed))
        continue;
      ReshardStep step = start(ReshardKind::AllGather, removed, dim);
      step.after.dims[dim].atoms.truncate(kept);
      finish(std::move(step), /*operandIsWider=*/false);
    }
  }
}

void StepTable::reduceScatter() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (size_t count = 1; count <= want.size(); ++count) {
      ArrayRef<unsigned> moved = want.take_front(count);
      const Partial *first = partialOver(*current, moved.front());
      const Partial *last = partialOver(*current, moved.back());
      if (!first || !last || first->kind != last->kind || isTime(moved.back()))
        break;
      if (!nests(dim, atoms(dim), moved))
        continue;
      ReshardStep step = start(ReshardKind::ReduceScatter, moved, dim);
      step.reduce = first->kind;
      append_range(step.after.dims[dim].atoms, moved);
      dropPartial(step.after, moved);
      finish(std::move(step), /*operandIsWider=*/true);
    }
  }
}

void StepTable::allToAll() {
  for (unsigned dim = 0; dim < to.dims.size(); ++dim) {
    ArrayRef<unsigned> want = wanted(dim);
    for (unsigned concat = 0; concat < to.dims.size(); ++concat) {
      ArrayRef<unsigned> have = atoms(concat);
      if (concat == dim || anyTime(have))
        continue;
      for (size_t count = 1; count <= std::min(want.size(), have.size());
           ++count) {
        ArrayRef<unsigned> moved = want.take_front(count);
        if (have.take_back(count) != moved || !nests(dim, atoms(dim), moved) ||
            !nests(concat, have.drop_back(count), moved))
          continue;
        ReshardStep step = start(ReshardKind::AllToAll, moved, dim);
        step.concatDim = concat;
        append_range(step.after.dims[dim].atoms, moved);
        step.after.dims[concat].atoms.truncate(have.size() - count);
        finish(std::move(step), /*operandIsWider=*/true);
      }
    }
  }
}

void StepTable::allReduce() {
  for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind)
    allReduce(ReduceKind(kind));
}

/// Every subset of what is partial by `kind` and not wanted so: the others may
/// be scattered.
void StepTable::allReduce(ReduceKind kind) {
  Atoms all;
  for (const Partial &partial : current->partial)
    if (partial.kind == kind && !isTime(partial.atom) &&
        !is_contained(to.partial, partial))
      all.push_back(partial.atom);
  for (unsigned subset = 1; subset < (1u << all.size()); ++subset) {
    Atoms moved;
    for (const auto &[index, atom] : enumerate(all))
      if (subset >> index & 1)
        moved.push_back(atom);
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
    if (have.atoms != want.atoms)
      return;
  for (const auto &[dim, want] : enumerate(to.dims)) {
    if (!want.interval || current->dims[dim].interval || anyTime(want.atoms))
      continue;
    ReshardStep step = start(ReshardKind::Halo, want.atoms, dim);
    step.after.dims[dim].interval = want.interval;
    step.bytes = haloBytes(dim);
    result.push_back(std::move(step));
    return;
  }
}

/// What the busiest device does not hold of its interval yet.
int64_t StepTable::haloBytes(unsigned dim) const {
  const Interval &interval = *to.dims[dim].interval;
  int64_t parts = mesh.product(to.dims[dim].atoms), n = shape[dim];
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

//===----------------------------------------------------------------------===//
// The shortest path
//===----------------------------------------------------------------------===//

namespace {

/// A sharding that the search has reached, and by which step.
struct Reached {
  Sharding sharding;
  ReshardStep step;
  int previous = -1;
  double seconds = 0;
  int64_t bytes = 0;
  unsigned steps = 0;
  bool done = false;

  bool betterThan(const Reached &o) const {
    if (seconds != o.seconds)
      return seconds < o.seconds;
    return bytes != o.bytes ? bytes < o.bytes : steps < o.steps;
  }
};

/// Dijkstra; the few reached shardings are scanned, so that ties go to the one
/// that was found first.
class PathSearch {
public:
  PathSearch(const Sharding &from, const Sharding &to, StepTable table,
             const ReshardCost &cost)
      : to(to), table(std::move(table)), cost(cost) {
    Reached first;
    first.sharding = from;
    add(std::move(first));
  }

  std::optional<ReshardPath> run() {
    while (true) {
      int next = nearest();
      if (next < 0)
        return std::nullopt;
      if (reached[next].sharding == to)
        return pathTo(next);
      expand(next);
    }
  }

private:
  void add(Reached item) {
    std::string key;
    appendKey(key, item.sharding);
    auto [it, inserted] = index.try_emplace(key, reached.size());
    if (inserted)
      reached.push_back(std::move(item));
    else if (item.betterThan(reached[it->second]))
      reached[it->second] = std::move(item);
  }

  int nearest() const {
    int best = -1;
    for (const auto &[i, item] : enumerate(reached))
      if (!item.done && (best < 0 || item.betterThan(reached[best])))
        best = i;
    return best;
  }

  void expand(int from) {
    reached[from].done = true;
    for (ReshardStep &step : table.steps(reached[from].sharding)) {
      step.seconds = cost(step);
      Reached item;
      item.previous = from;
      item.sharding = step.after;
      item.seconds = reached[from].seconds + step.seconds;
      item.bytes = reached[from].bytes + (isLocal(step.kind) ? 0 : step.bytes);
      item.steps = reached[from].steps + 1;
      item.step = std::move(step);
      add(std::move(item));
    }
  }

  ReshardPath pathTo(int last) {
    ReshardPath path;
    for (; reached[last].previous >= 0; last = reached[last].previous)
      path.push_back(std::move(reached[last].step));
    std::reverse(path.begin(), path.end());
    return path;
  }

  const Sharding &to;
  StepTable table;
  const ReshardCost &cost;
  std::vector<Reached> reached;
  StringMap<int> index;
};

} // namespace

std::optional<ReshardPath> reshardPath(const Sharding &from, const Sharding &to,
                                       ArrayRef<int64_t> shape,
                                       int64_t elementBytes, const Mesh &mesh,
                                       const ReshardCost &cost) {
  if (from == to)
    return ReshardPath();
  if (any_of(from.dims,
             [](const DimSharding &dim) { return dim.interval.has_value(); }))
    return std::nullopt;
  StepTable table(to, shape, elementBytes, mesh);
  return PathSearch(from, to, std::move(table), cost).run();
}

const std::optional<ReshardPath> &ReshardCache::get(const Sharding &from,
                                                    const Sharding &to,
                                                    ArrayRef<int64_t> shape,
                                                    int64_t elementBytes) {
  std::string key;
  appendKey(key, from);
  appendKey(key, to);
  for (int64_t size : shape)
    key += std::to_string(size) + ",";
  key += std::to_string(elementBytes);
  auto [it, inserted] = paths.try_emplace(key);
  if (inserted)
    it->second = reshardPath(from, to, shape, elementBytes, mesh, cost);
  return it->second;
}

} // namespace autopar
