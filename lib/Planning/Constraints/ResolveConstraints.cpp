//===- ResolveConstraints.cpp - From names and axes to limits -------------===//

#include "autopar/Planning/Constraints/ResolveConstraints.h"
#include "Resolver.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

static constexpr StringLiteral kAllAxes = "all";

//===----------------------------------------------------------------------===//
// Names and axes
//===----------------------------------------------------------------------===//

Error Resolver::nobody(StringRef what, StringRef other, bool isOther,
                       const std::string &nearest) {
  if (isOther)
    return fail("no " + what + " has this name, but a " + other +
                " has: write "
                "\"" +
                (other == "tensor" ? "value" : "node") + "\"");
  return fail("no " + what +
              " of the model has this name; `autopar plan "
              "--json` lists them" +
              nearest);
}

Expected<SmallVector<unsigned>> Resolver::subAxesOfAxis(StringRef axis) {
  SmallVector<unsigned> all;
  for (const auto &[index, subAxis] : enumerate(mesh.subAxes()))
    if (!subAxis.time)
      all.push_back(index);
  if (axis == kAllAxes)
    return all;
  std::optional<SmallVector<unsigned>> subAxes = mesh.lookup(axis);
  if (subAxes &&
      all_of(*subAxes, [&](unsigned a) { return !mesh.subAxes()[a].time; }))
    return *subAxes;
  return fail("names axis '" + axis + "'; this mesh has '" +
              join(mesh.spell(all), "', '") +
              "': fix it with --mesh, or write \"all\"");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the pattern with one pattern per dimension of a value in place of
/// "...".
static std::optional<SmallVector<DimPattern>>
expand(const ShardingPattern &pattern, size_t rank) {
  SmallVector<DimPattern> dims;
  for (const DimPattern &dim : pattern.dims) {
    if (dim.kind != DimPattern::Rest) {
      dims.push_back(dim);
      continue;
    }
    size_t others = pattern.dims.size() - 1;
    for (size_t i = others; i < rank; ++i)
      dims.push_back({DimPattern::Any, {}});
  }
  if (dims.size() != rank)
    return std::nullopt;
  return dims;
}

static std::string shapeText(const GraphValue &value) {
  return join(
      map_range(value.shape, [](int64_t size) { return std::to_string(size); }),
      "x");
}

Expected<ShardingLimit> Resolver::limitOf(const GraphValue &value) {
  std::optional<SmallVector<DimPattern>> dims =
      expand(*current->sharding, value.shape.size());
  if (!dims)
    return fail("tensor " + value.name + " has " + Twine(value.shape.size()) +
                " dimensions (" + shapeText(value) + "), 'sharding' " +
                Twine(current->sharding->dims.size()) +
                "; \"...\" stands for all others");
  ShardingLimit limit;
  limit.from = place();
  std::vector<bool> used(mesh.subAxes().size(), false);
  auto use = [&](StringRef axis, ArrayRef<unsigned> subAxes) -> Error {
    for (unsigned subAxis : subAxes) {
      if (used[subAxis])
        return fail("axis '" + axis + "' is used twice");
      used[subAxis] = true;
    }
    return Error::success();
  };
  for (const DimPattern &dim : *dims) {
    std::optional<SmallVector<unsigned, 2>> &wanted = limit.dims.emplace_back();
    if (dim.kind == DimPattern::Any)
      continue;
    wanted.emplace();
    for (StringRef axis : dim.axes) {
      Expected<SmallVector<unsigned>> subAxes = subAxesOfAxis(axis);
      if (!subAxes)
        return subAxes.takeError();
      if (Error error = use(axis, *subAxes))
        return std::move(error);
      append_range(*wanted, *subAxes);
    }
  }
  for (const auto &[axis, kind] : current->sharding->partial) {
    Expected<SmallVector<unsigned>> subAxes = subAxesOfAxis(axis);
    if (!subAxes)
      return subAxes.takeError();
    if (Error error = use(axis, *subAxes))
      return std::move(error);
    for (unsigned subAxis : *subAxes)
      limit.partial.push_back({subAxis, kind});
  }
  llvm::sort(limit.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
  return limit;
}

Error Resolver::resolveValue() {
  SmallVector<unsigned> values = namedSo(graph.values, current->name);
  if (values.empty())
    return nobody("tensor", "node", !namedSo(graph.ops, current->name).empty(),
                  nearest(graph.values, current->name));
  for (unsigned index : values) {
    const GraphValue &value = graph.values[index];
    Expected<ShardingLimit> limit = limitOf(value);
    if (!limit)
      return limit.takeError();
    bool stored = value.source != ValueSource::Op || value.persistent;
    if (!current->forbid && stored && !limit->partial.empty())
      return fail("tensor " + value.name +
                  " is read in blocks: it cannot be partial");
    ValueLimit &of = limits.values[index];
    (current->forbid ? of.forbids : of.pins).push_back(std::move(*limit));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All constraints
//===----------------------------------------------------------------------===//

Error Resolver::resolveOne() {
  if (current->kind == Constraint::Value)
    return resolveValue();
  return current->kind == Constraint::Node ? resolveNode() : Error::success();
}

Expected<Limits> Resolver::run() {
  for (const Constraint &constraint : constraints.list) {
    current = &constraint;
    if (Error error = resolveOne())
      return std::move(error);
  }
  return std::move(limits);
}

Expected<Limits> resolve(const Constraints &constraints,
                         const ModelGraph &graph, const Mesh &mesh,
                         int64_t stages) {
  return Resolver(constraints, graph, mesh, stages).run();
}

} // namespace autopar
