//===- MeshCandidates.cpp - Meshes that a request allows ------------------===//

#include "MeshCandidates.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// Meshes that the user fixes
//===----------------------------------------------------------------------===//

/// Returns the mesh with one name per axis. If the axes are called like the
/// strategies, these names count, else their order. In a searched mesh an axis
/// may also be `replicated`.
static Expected<MeshCandidate> nameAxes(ArrayRef<MeshAxis> axes,
                                        ArrayRef<StrategyName> strategies) {
  MeshCandidate candidate;
  SmallVector<StrategyName> rest(strategies.begin(), strategies.end());
  bool searchAll = strategies.size() == 1 && rest[0] == StrategyName::Auto;
  auto byName = [&](const MeshAxis &axis) {
    return llvm::find_if(rest, [&](StrategyName name) {
      return stringifyStrategy(name) == axis.name;
    });
  };
  bool allNamed = !searchAll && all_of(axes, [&](const MeshAxis &axis) {
    return byName(axis) != rest.end();
  });
  if (!searchAll && axes.size() != strategies.size())
    return createStringError("--strategy names " + Twine(strategies.size()) +
                             ", --mesh has " + Twine(axes.size()) +
                             " axes: give one name per axis");
  for (const auto &[index, axis] : enumerate(axes)) {
    StrategyName name = searchAll ? StrategyName::Auto : strategies[index];
    if (allNamed)
      name = *byName(axis);
    if (searchAll && axis.name == stringifyStrategy(StrategyName::Replicated))
      name = StrategyName::Replicated;
    if (axis.name == kStageAxis || name == StrategyName::Layer) {
      candidate.stages *= axis.size;
      continue;
    }
    candidate.axes.push_back(axis);
    candidate.names.push_back(name);
  }
  return candidate;
}

static Expected<std::vector<MeshCandidate>>
fixedMesh(const PlanRequest &request) {
  int64_t devices = request.cluster.deviceCount(), product = 1;
  for (const MeshAxis &axis : request.mesh)
    product *= axis.size;
  if (product != devices)
    return createStringError("the mesh has " + Twine(product) +
                             " devices, the cluster " + Twine(devices) +
                             ": make them equal");
  Expected<MeshCandidate> candidate =
      nameAxes(request.mesh, request.strategies);
  if (!candidate)
    return candidate.takeError();
  return std::vector<MeshCandidate>{*candidate};
}

//===----------------------------------------------------------------------===//
// Meshes that the search chooses
//===----------------------------------------------------------------------===//

/// Adds all ways to write `devices` as a product of `count` factors of `least`
/// or more. If `count` is 1 and there are no factors yet, `devices` may be less
/// than `least`.
static void factorise(int64_t devices, size_t count, int64_t least,
                      SmallVector<int64_t> &prefix,
                      std::vector<SmallVector<int64_t>> &result) {
  if (count == 1) {
    if (devices >= least || prefix.empty()) {
      prefix.push_back(devices);
      result.push_back(prefix);
      prefix.pop_back();
    }
    return;
  }
  for (int64_t size = least; size <= devices; ++size) {
    if (devices % size != 0)
      continue;
    prefix.push_back(size);
    factorise(devices / size, count - 1, least, prefix, result);
    prefix.pop_back();
  }
}

static std::vector<SmallVector<int64_t>>
factorisations(int64_t devices, size_t count, int64_t least = 2) {
  std::vector<SmallVector<int64_t>> result;
  SmallVector<int64_t> prefix;
  factorise(devices, count, least, prefix, result);
  return result;
}

/// Returns even meshes first. They are likely to be best and cut off others.
static std::vector<SmallVector<int64_t>> evenFirst(int64_t devices,
                                                   size_t count) {
  std::vector<SmallVector<int64_t>> list = factorisations(devices, count);
  llvm::stable_sort(list, [](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return std::max(a.front(), a.back()) < std::max(b.front(), b.back());
  });
  return list;
}

static MeshCandidate freeAxes(ArrayRef<int64_t> sizes) {
  MeshCandidate candidate;
  for (const auto &[name, size] : zip(kFreeAxes, sizes)) {
    candidate.axes.push_back({name.str(), size});
    candidate.names.push_back(StrategyName::Auto);
  }
  return candidate;
}

/// Returns the few largest numbers of devices, at most the batch, that leave
/// two axes of 2 or more for the other devices.
static SmallVector<int64_t> batchAxes(int64_t devices, int64_t batch) {
  constexpr size_t kFew = 2;
  SmallVector<int64_t> sizes;
  for (int64_t size = std::min(batch, devices / 4);
       size > 1 && sizes.size() < kFew; --size)
    if (devices % size == 0)
      sizes.push_back(size);
  return sizes;
}

/// Returns meshes of one free axis, of two, and of two beside one that splits
/// the batch. Three free axes would give too many choices.
static std::vector<MeshCandidate> searchedMeshes(int64_t devices,
                                                 int64_t batch) {
  std::vector<MeshCandidate> candidates;
  for (size_t count : {1, 2})
    for (ArrayRef<int64_t> sizes : evenFirst(devices, count))
      candidates.push_back(freeAxes(sizes));
  for (int64_t size : batchAxes(devices, batch))
    for (ArrayRef<int64_t> sizes : evenFirst(devices / size, 2)) {
      MeshCandidate &candidate = candidates.emplace_back(freeAxes(sizes));
      candidate.axes.insert(
          candidate.axes.begin(),
          {stringifyStrategy(StrategyName::Data).str(), size});
      candidate.names.insert(candidate.names.begin(), StrategyName::Data);
      candidate.strict = true;
    }
  return candidates;
}

/// Returns how different two meshes of the same number of axes are: the sum of
/// the logarithms of their sizes' ratios.
static double distance(ArrayRef<MeshAxis> a, ArrayRef<int64_t> sizes) {
  double sum = 0;
  for (const auto &[axis, size] : zip_equal(a, sizes))
    sum += std::abs(std::log(double(axis.size) / double(size)));
  return sum;
}

int64_t smallestFactor(int64_t number) {
  int64_t factor = 2;
  while (number % factor != 0)
    ++factor;
  return factor;
}

int64_t replicasOf(const MeshCandidate &candidate) {
  int64_t replicas = 1;
  for (const auto &[axis, name] : zip_equal(candidate.axes, candidate.names))
    if (name == StrategyName::Replicated)
      replicas *= axis.size;
  return replicas;
}

void addReplicas(MeshCandidate &candidate, int64_t factor) {
  if (replicasOf(candidate) > 1) {
    candidate.axes.front().size *= factor;
    return;
  }
  candidate.axes.insert(
      candidate.axes.begin(),
      {stringifyStrategy(StrategyName::Replicated).str(), factor});
  candidate.names.insert(candidate.names.begin(), StrategyName::Replicated);
}

/// Returns the number of replicated axes, which come first.
static size_t replicatedAxes(const MeshCandidate &candidate) {
  return replicasOf(candidate) > 1 ? 1 : 0;
}

/// Returns a mesh with other sizes for the axes that are not replicated. Axes
/// of one device are removed.
static MeshCandidate resized(MeshCandidate candidate, ArrayRef<int64_t> sizes) {
  size_t kept = replicatedAxes(candidate);
  for (size_t axis = sizes.size(); axis-- > 0;) {
    candidate.axes[kept + axis].size = sizes[axis];
    if (sizes[axis] > 1)
      continue;
    candidate.axes.erase(candidate.axes.begin() + kept + axis);
    candidate.names.erase(candidate.names.begin() + kept + axis);
  }
  candidate.strict &= is_contained(candidate.names, StrategyName::Data);
  return candidate;
}

/// Returns whether an axis vanishes before one of the same name that stays.
/// Such meshes are left out: the last axes of a name vanish first.
static bool hasGap(const MeshCandidate &candidate, ArrayRef<int64_t> sizes) {
  ArrayRef<StrategyName> names =
      ArrayRef(candidate.names).drop_front(replicatedAxes(candidate));
  for (size_t axis = 0; axis + 1 < sizes.size(); ++axis)
    if (sizes[axis] == 1 && sizes[axis + 1] > 1 &&
        names[axis] == names[axis + 1])
      return true;
  return false;
}

SmallerMeshes smallerMeshes(const MeshCandidate &candidate) {
  constexpr size_t kNearest = 4;
  SmallerMeshes result;
  ArrayRef<MeshAxis> axes =
      ArrayRef(candidate.axes).drop_front(replicatedAxes(candidate));
  int64_t devices = 1;
  for (const MeshAxis &axis : axes)
    devices *= axis.size;
  if (devices == 1)
    return result;
  result.factor = smallestFactor(devices);
  std::vector<SmallVector<int64_t>> list =
      factorisations(devices / result.factor, axes.size(), /*least=*/1);
  erase_if(list,
           [&](ArrayRef<int64_t> sizes) { return hasGap(candidate, sizes); });
  llvm::stable_sort(list, [&](const auto &a, const auto &b) {
    return distance(axes, a) < distance(axes, b);
  });
  for (ArrayRef<int64_t> sizes : ArrayRef(list).take_front(kNearest))
    result.meshes.push_back(resized(candidate, sizes));
  return result;
}

std::vector<MeshCandidate> shorterAxes(const MeshCandidate &candidate) {
  std::vector<MeshCandidate> meshes;
  SmallVector<int64_t> whole;
  for (const MeshAxis &axis :
       ArrayRef(candidate.axes).drop_front(replicatedAxes(candidate)))
    whole.push_back(axis.size);
  for (size_t axis = 0; axis < whole.size(); ++axis)
    for (int64_t size = whole[axis] / 2; size > 0; --size) {
      if (whole[axis] % size != 0)
        continue;
      SmallVector<int64_t> sizes = whole;
      sizes[axis] = size;
      if (hasGap(candidate, sizes))
        continue;
      MeshCandidate &mesh = meshes.emplace_back(resized(candidate, sizes));
      addReplicas(mesh, whole[axis] / size);
    }
  return meshes;
}

/// Returns meshes of one axis or two for the devices of each stage. They are
/// too many to try if the model fits in one stage.
static std::vector<MeshCandidate> stagedMeshes(int64_t devices) {
  std::vector<MeshCandidate> candidates;
  for (int64_t stages = 2; stages <= devices; ++stages) {
    if (devices % stages != 0)
      continue;
    for (size_t count : {1, 2})
      for (ArrayRef<int64_t> sizes : evenFirst(devices / stages, count)) {
        if (count == 1 && sizes.front() == 1)
          sizes = {}; // each stage has one device
        candidates.push_back(freeAxes(sizes));
        candidates.back().stages = stages;
        candidates.back().lastResort = true;
      }
  }
  return candidates;
}

/// Names axes by their strategies; a repeated name gets a number.
static SmallVector<std::string> axisNames(ArrayRef<StrategyName> strategies) {
  SmallVector<std::string> names;
  for (StrategyName strategy : strategies) {
    std::string name = stringifyStrategy(strategy).str();
    size_t before = llvm::count(strategies.take_front(names.size()), strategy);
    names.push_back(before ? name + std::to_string(before + 1) : name);
  }
  return names;
}

static Expected<std::vector<MeshCandidate>>
namedMeshes(ArrayRef<StrategyName> strategies, int64_t devices) {
  std::vector<MeshCandidate> candidates;
  SmallVector<std::string> names = axisNames(strategies);
  for (ArrayRef<int64_t> sizes : factorisations(devices, strategies.size())) {
    MeshCandidate &candidate = candidates.emplace_back();
    for (const auto &[index, size] : enumerate(sizes)) {
      if (strategies[index] == StrategyName::Layer) {
        candidate.stages *= size;
        continue;
      }
      candidate.axes.push_back({names[index], size});
      candidate.names.push_back(strategies[index]);
    }
  }
  if (candidates.empty())
    return createStringError(
        Twine(devices) + " devices are no product of " +
        Twine(strategies.size()) +
        " axes of 2 or more: name fewer strategies or give --mesh");
  return candidates;
}

/// Returns meshes whose axes have these names. If there are too few devices for
/// all axes, some axes have one device.
static Expected<std::vector<MeshCandidate>>
meshesOfAxes(const PlanRequest &request) {
  int64_t devices = request.cluster.deviceCount();
  size_t count = request.axes.size();
  std::vector<SmallVector<int64_t>> list = factorisations(devices, count);
  if (list.empty())
    list = factorisations(devices, count, /*least=*/1);
  std::vector<MeshCandidate> candidates;
  for (ArrayRef<int64_t> sizes : list) {
    SmallVector<MeshAxis> axes;
    for (const auto &[name, size] : zip_equal(request.axes, sizes))
      axes.push_back({name, size});
    Expected<MeshCandidate> candidate = nameAxes(axes, request.strategies);
    if (!candidate)
      return candidate.takeError();
    candidates.push_back(std::move(*candidate));
  }
  return candidates;
}

std::set<std::string> namesInSearch(ArrayRef<MeshCandidate> candidates) {
  std::set<std::string> names;
  for (const MeshCandidate &candidate : candidates) {
    for (const MeshAxis &axis : candidate.axes)
      names.insert(axis.name);
    if (is_contained(candidate.names, StrategyName::Auto))
      names.merge(searchedAxes());
  }
  return names;
}

Expected<std::vector<MeshCandidate>> meshCandidates(const PlanRequest &request,
                                                    int64_t batch) {
  int64_t devices = request.cluster.deviceCount();
  if (!request.mesh.empty())
    return fixedMesh(request);
  if (!request.axes.empty())
    return meshesOfAxes(request);
  if (request.strategies.size() == 1 &&
      request.strategies[0] == StrategyName::Auto) {
    std::vector<MeshCandidate> candidates = searchedMeshes(devices, batch);
    append_range(candidates, stagedMeshes(devices));
    // The replicated mesh needs no memory for reshards.
    if (devices > 1) {
      MeshCandidate &replicated = candidates.emplace_back();
      addReplicas(replicated, devices);
      replicated.lastResort = true;
    }
    return candidates;
  }
  return namedMeshes(request.strategies, devices);
}

} // namespace autopar
