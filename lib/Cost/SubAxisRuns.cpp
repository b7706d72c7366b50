//===- SubAxisRuns.cpp - Sub-axes that move together ----------------------===//

#include "SubAxisRuns.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// A number for the place of each sub-axis in a sharding. Sub-axes in
/// neighbouring places of a dimension have numbers that follow each other. All
/// partial ones of a kind share a negative number, and so do all that are
/// nowhere.
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
                         const Mesh &mesh)
    : runOf(mesh.subAxes().size(), ~0u) {
  ArrayRef<SubAxis> subAxes = mesh.subAxes();
  SmallVector<int> fromPlaces = placesOf(from, subAxes.size());
  SmallVector<int> toPlaces = placesOf(to, subAxes.size());
  auto follows = [&](unsigned a, unsigned b) {
    return a != b && subAxes[a].time == subAxes[b].time &&
           sideBySide(fromPlaces[a], fromPlaces[b]) &&
           sideBySide(toPlaces[a], toPlaces[b]);
  };
  for (unsigned a = 0; a < subAxes.size(); ++a) {
    if (runOf[a] != ~0u || (fromPlaces[a] == -1 && toPlaces[a] == -1))
      continue;
    Run run{{a}, subAxes[a].size, subAxes[a].time};
    runOf[a] = runs.size();
    for (bool grown = true; grown;) {
      grown = false;
      for (unsigned b = 0; b < subAxes.size() && !grown; ++b) {
        if (runOf[b] != ~0u)
          continue;
        bool after = follows(run.subAxes.back(), b);
        if (!after && !follows(b, run.subAxes.front()))
          continue;
        run.subAxes.insert(after ? run.subAxes.end() : run.subAxes.begin(), b);
        run.size *= subAxes[b].size;
        runOf[b] = runs.size();
        grown = true;
      }
    }
    runs.push_back(std::move(run));
  }
}

int64_t SubAxisRuns::product(ArrayRef<unsigned> numbers) const {
  int64_t product = 1;
  for (unsigned number : numbers)
    product *= runs[number].size;
  return product;
}

void SubAxisRuns::append(ArrayRef<unsigned> numbers,
                         SmallVectorImpl<unsigned> &subAxes) const {
  for (unsigned number : numbers)
    append_range(subAxes, runs[number].subAxes);
}

static void sortPartial(Sharding &sharding) {
  llvm::sort(sharding.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
}

Sharding SubAxisRuns::ofRuns(const Sharding &sharding) const {
  Sharding result = Sharding::replicated(sharding.dims.size());
  for (auto [dim, of] : zip_equal(result.dims, sharding.dims)) {
    dim.interval = of.interval;
    for (unsigned subAxis : of.subAxes)
      if (dim.subAxes.empty() || dim.subAxes.back() != runOf[subAxis])
        dim.subAxes.push_back(runOf[subAxis]);
  }
  for (const Partial &partial : sharding.partial)
    if (Partial ofRun{runOf[partial.subAxis], partial.kind};
        !is_contained(result.partial, ofRun))
      result.partial.push_back(ofRun);
  sortPartial(result);
  return result;
}

Sharding SubAxisRuns::ofSubAxes(const Sharding &sharding) const {
  Sharding result = Sharding::replicated(sharding.dims.size());
  for (auto [dim, of] : zip_equal(result.dims, sharding.dims)) {
    dim.interval = of.interval;
    append(of.subAxes, dim.subAxes);
  }
  for (const Partial &partial : sharding.partial)
    for (unsigned subAxis : runs[partial.subAxis].subAxes)
      result.partial.push_back({subAxis, partial.kind});
  sortPartial(result);
  return result;
}

} // namespace autopar
