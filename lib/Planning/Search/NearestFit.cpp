//===- NearestFit.cpp - What would do where memory is short ---------------===//

#include "NearestFit.h"
#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "autopar/Support/Text.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

namespace {

/// A number of bytes with its text as --memory-limit takes it.
struct Size {
  int64_t bytes;
  std::string text;
};

struct Fit {
  Size limit;
  int64_t peakBytes; // of the plan that was found
};

} // namespace

/// Returns the least size with one decimal that is not below `bytes`.
static Size roundedUp(int64_t bytes) {
  constexpr StringLiteral kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return {bytes, std::to_string(bytes)};
  double unit = 1024;
  size_t index = 0;
  for (; index + 1 < std::size(kUnits) && bytes >= 1024 * unit; ++index)
    unit *= 1024;
  double value = std::ceil(double(bytes) / unit * 10) / 10;
  return {int64_t(value * unit), formatv("{0:f1}{1}", value, kUnits[index])};
}

/// Tries limits, beginning with the least bytes that a search reached. At last
/// tries the bytes of a plan that was found without a limit.
static std::optional<Fit> leastLimit(PlanRequest request, int64_t least,
                                     AnyPlan search) {
  constexpr unsigned kTries = 4;
  constexpr double kStep = 1.15;
  constexpr int64_t kNoLimit = int64_t(1) << 50;
  auto tryAt = [&](int64_t bytes) -> std::optional<Fit> {
    Size limit = roundedUp(bytes);
    request.memoryLimit = limit.bytes;
    Expected<Plan> plan = search(request);
    if (plan)
      return Fit{limit, plan->predictedPeakMemoryBytes + request.reservedBytes};
    handleAllErrors(
        plan.takeError(),
        [&](const NotEnoughMemory &shortage) {
          least = shortage.leastBytes + request.reservedBytes;
        },
        [](const ErrorInfoBase &) {});
    return std::nullopt;
  };
  // A plan that was found may need less than it was allowed to take.
  auto lowered = [&](std::optional<Fit> fit) {
    std::optional<Fit> lower = fit ? tryAt(fit->peakBytes) : std::nullopt;
    return lower ? lower : fit;
  };
  int64_t bytes = least;
  for (unsigned attempt = 0; least > 0 && attempt < kTries; ++attempt) {
    if (std::optional<Fit> fit = tryAt(bytes))
      return lowered(fit);
    bytes = std::max(least, int64_t(kStep * double(bytes)));
  }
  std::optional<Fit> unlimited = tryAt(kNoLimit);
  return unlimited ? lowered(tryAt(unlimited->peakBytes)) : std::nullopt;
}

/// Returns a cluster with `factor` times the nodes; for one node of CPUs, with
/// `factor` times the ranks.
static Cluster timesDevices(Cluster cluster, int64_t factor) {
  NodeGroup &first = cluster.nodes.front();
  if (cluster.nodes.size() == 1 && first.count == 1 && first.type.kind == "cpu")
    first.devices *= factor;
  else
    for (NodeGroup &group : cluster.nodes)
      group.count *= factor;
  return cluster;
}

/// Returns the smallest of a few larger clusters that has a plan, as `4 devices
/// (2x2:a100-80gb)`; "" if none has, or if the mesh is fixed.
static std::string moreDevices(PlanRequest request, const Fit &fit,
                               int64_t limitBytes, AnyPlan search) {
  constexpr unsigned kTries = 2;
  constexpr int64_t kMostTimes = 8, kMostDevices = 1 << 12;
  Expected<SmallVector<MeshAxis>> pinned = pinnedMesh(request.constraints);
  if (!request.mesh.empty() || !pinned || !pinned->empty()) {
    consumeError(pinned.takeError());
    return "";
  }
  const Cluster cluster = request.cluster;
  int64_t factor =
      std::max<int64_t>(2, PowerOf2Ceil(ceilDiv(fit.peakBytes, limitBytes)));
  for (unsigned attempt = 0; attempt < kTries; ++attempt, factor *= 2) {
    if (factor > kMostTimes || cluster.deviceCount() * factor > kMostDevices)
      return "";
    request.cluster = timesDevices(cluster, factor);
    Expected<Plan> plan = search(request);
    if (plan)
      return formatv("{0} devices ({1})", request.cluster.deviceCount(),
                     StringRef(describe(request.cluster)).split(", ").first);
    consumeError(plan.takeError());
  }
  return "";
}

/// Returns, for a training step, the advice that blocks of fewer rows need less
/// memory. Returns "" for inference, and if weights and states alone exceed the
/// limit on all devices together.
static std::string smallerBlocks(const ModelGraph &graph,
                                 const PlanRequest &request,
                                 int64_t limitBytes) {
  bool trains = any_of(graph.states, [&](const GraphState &state) {
    return graph.values[state.argument].isWeight;
  });
  if (!trains)
    return "";
  double persistent = 0;
  for (unsigned argument : graph.stepArguments) {
    const GraphValue &value = graph.values[argument];
    double bytes = double(value.elementBytes);
    for (int64_t size : value.shape)
      bytes *= double(size);
    persistent += value.persistent ? bytes : 0;
  }
  if (persistent > double(limitBytes) * double(request.cluster.deviceCount()))
    return "";
  return "; a training step in smaller blocks needs less: raise "
         "\"accumulation\" in the recipe and make the model's batch as much "
         "smaller (--bind, where its size is symbolic)";
}

Error nearestFit(const ModelGraph &graph, const PlanRequest &request,
                 const NotEnoughMemory &shortage, AnyPlan search) {
  // Limits are those of users, with the bytes that the search leaves free.
  int64_t limit = shortage.limitBytes + request.reservedBytes;
  std::optional<Fit> fit = leastLimit(
      request,
      shortage.leastBytes ? shortage.leastBytes + request.reservedBytes : 0,
      search);
  std::string blocks = smallerBlocks(graph, request, limit);
  if (!fit)
    return createStringError(
        toString(make_error<NotEnoughMemory>(
            limit, shortage.leastBytes
                       ? shortage.leastBytes + request.reservedBytes
                       : 0)) +
        blocks);
  std::string devices = moreDevices(request, *fit, limit, search);
  return createStringError(
      "no plan found within the memory limit of " + bytesText(double(limit)) +
      " per device; the least found is " + bytesText(double(fit->peakBytes)) +
      ", " + bytesText(double(fit->peakBytes - limit)) +
      " more: there is a plan with a limit of " + fit->limit.text +
      (devices.empty() ? "" : ", and with " + devices) + blocks);
}

Error keptDoNotFit(const ModelGraph &graph, const PlanRequest &request,
                   const NotEnoughMemory &shortage, AnyPlan search) {
  PlanRequest free = request;
  free.from = nullptr;
  Expected<Plan> plan = search(free);
  std::string without = "one does: leave --from out";
  if (!plan)
    without =
        "neither: " + toString(handleErrors(
                          plan.takeError(), [&](const NotEnoughMemory &found) {
                            return nearestFit(graph, free, found, search);
                          }));
  return createStringError(
      "with what is kept of " + request.from->file +
      " no plan fits the memory limit of " +
      bytesText(double(shortage.limitBytes + request.reservedBytes)) +
      " per device; without it " + without);
}

} // namespace autopar
