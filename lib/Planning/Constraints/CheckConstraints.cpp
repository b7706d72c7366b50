//===- CheckConstraints.cpp - Meshes and plans under constraints ----------===//

#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/ResolveConstraints.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

/// Returns the axes of more than one device within a stage, and the number of
/// stages.
static std::pair<SmallVector<MeshAxis>, int64_t>
splitOff(ArrayRef<MeshAxis> axes) {
  std::pair<SmallVector<MeshAxis>, int64_t> parts{{}, 1};
  for (const MeshAxis &axis : axes) {
    if (axis.name == kStageAxis)
      parts.second *= axis.size;
    else if (axis.size > 1)
      parts.first.push_back(axis);
  }
  return parts;
}

bool allowsMesh(const Constraints &constraints, ArrayRef<MeshAxis> axes,
                int64_t stages) {
  return all_of(constraints.list, [&](const Constraint &constraint) {
    if (constraint.kind != Constraint::MeshOfPlan)
      return true;
    auto [wanted, wantedStages] = splitOff(constraint.mesh);
    bool same = wanted == splitOff(axes).first && wantedStages == stages;
    return same != constraint.forbid;
  });
}

Expected<SmallVector<MeshAxis>> pinnedMesh(const Constraints &constraints) {
  const Constraint *first = nullptr;
  for (const Constraint &constraint : constraints.list) {
    if (constraint.kind != Constraint::MeshOfPlan || constraint.forbid)
      continue;
    if (first && first->mesh != constraint.mesh)
      return constraints.fail(constraint, "constraint " + Twine(first->number) +
                                              " pins another mesh");
    first = &constraint;
  }
  return first ? first->mesh : SmallVector<MeshAxis>();
}

Error checkForbiddenAxes(const Constraints &constraints,
                         const std::set<std::string> &names) {
  for (const Constraint &constraint : constraints.list) {
    if (constraint.kind != Constraint::MeshOfPlan || !constraint.forbid)
      continue;
    for (const MeshAxis &axis : splitOff(constraint.mesh).first)
      if (!names.count(axis.name))
        return constraints.fail(
            constraint,
            "constraint " + Twine(constraint.number) +
                " forbids a mesh with an axis '" + axis.name +
                "', which no mesh of this search has; its meshes have " +
                (names.empty() ? "stages alone" : "axes " + join(names, ", ")));
  }
  return Error::success();
}

Error verify(const Plan &plan, const ModelGraph &graph,
             const Constraints &constraints) {
  SmallVector<MeshAxis> axes = deviceAxes(plan.mesh);
  for (const Constraint &constraint : constraints.list)
    if (!allowsMesh({constraints.file, {constraint}}, axes, plan.stages))
      return constraints.fail(constraint, "the plan has another mesh or a "
                                          "forbidden one");
  Expected<Limits> limits = resolve(constraints, graph, plan.mesh, plan.stages);
  if (!limits)
    return limits.takeError();
  for (const auto &[index, op] : enumerate(plan.ops)) {
    if (!limits->ops[index].allows(op.assignment))
      return constraints.fail(constraints.list[limits->ops[index].from.back()],
                              "the plan does not meet it at op " + op.name);
    if (!limits->stages[index].allows(op.stage))
      return constraints.fail(constraints.list[limits->stages[index].from],
                              "the plan has op " + op.name + " in stage " +
                                  Twine(op.stage));
  }
  for (const auto &[index, value] : enumerate(plan.values)) {
    const ValueLimit &limit = limits->values[index];
    if (limit.allows(value.sharding, plan.mesh))
      continue;
    unsigned from =
        limit.pins.empty() ? limit.forbids[0].from : limit.pins[0].from;
    return constraints.fail(constraints.list[from],
                            "in the plan tensor " + value.name +
                                " is sharded " +
                                toString(value.sharding, plan.mesh));
  }
  return Error::success();
}

} // namespace autopar
