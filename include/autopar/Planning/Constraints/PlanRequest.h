//===- PlanRequest.h - What a user asks of a plan -------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H
#define AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include <map>
#include <memory>
#include <variant>

namespace autopar {

class StoredTensors;

/// A plan whose decisions are kept as far as they fit.
struct OldPlan {
  std::string file; // the name for messages
  Plan plan;
};

/// A user's request for a plan. kRequestOptions, below, has the options that
/// set the fields.
struct PlanRequest {
  Cluster cluster; // without nodes: that of the plan file
  llvm::SmallVector<StrategyName> strategies{StrategyName::Auto};
  /// The axes that the user fixed, `layer` among them. If it is empty, the
  /// search chooses them.
  llvm::SmallVector<MeshAxis> mesh;
  /// The names of axes whose sizes the search chooses. If it is empty, `mesh`
  /// and `strategies` decide the names.
  llvm::SmallVector<std::string> axes;
  int64_t microBatches = 0;           // 0: searched
  std::optional<Objective> objective; // nullopt: latency
  /// Bytes per device; 0: the memory of the cluster's devices.
  int64_t memoryLimit = 0;
  /// Bytes of that which the search leaves free. It is no option of users.
  int64_t reservedBytes = 0;
  MemoryLimit limit() const { return {memoryLimit, reservedBytes}; }
  /// Use no more devices of the cluster than the fastest step needs.
  bool fewestDevices = false;
  Constraints constraints;
  /// The old plan, or null. Those of its decisions that fit are constraints,
  /// too; they yield to all others (KeepDecisions.h).
  std::shared_ptr<const OldPlan> from;
  /// The tensors that entries before this one store, or null. They are a
  /// constraint, too.
  const StoredTensors *stored = nullptr;
  /// The options `--bind` and `--state`, by which the graph is already shaped.
  /// A plan records them so that the same graph can be imported from the plan
  /// alone.
  std::map<std::string, std::string> bindings, states;
};

//===----------------------------------------------------------------------===//
// The table of options
//===----------------------------------------------------------------------===//

/// The kinds of options. Each is a text on the command line and as an option of
/// the pass autopar-plan, and a JSON value in the attribute `autopar.request`.
/// An option that is absent leaves its field as it is by default.
struct FlagOption {
  bool PlanRequest::*field; // JSON: true or false
};
struct CountOption {
  int64_t PlanRequest::*field; // 1 or more; JSON: an integer, 0 is absent
};
struct BytesOption {
  int64_t PlanRequest::*field; // `16GiB`; JSON: an integer, 0 is absent
};
struct TextOption {
  /// Parses the text into a field. An error says what the text is meant for.
  llvm::Error (*parse)(llvm::StringRef text, PlanRequest &into);
  /// Returns a text that `parse` takes, or "" if nothing is asked for.
  std::string (*print)(const PlanRequest &request);
};
/// The text is the path of a file. JSON: {file, text}. A plan that is given has
/// to meet what the file says; a plan that is searched records its hash.
struct ConstraintsOption {
  Constraints PlanRequest::*field;
};

/// One option by which a user asks something of a plan.
struct RequestOption {
  llvm::StringLiteral name;  // JSON has `_` in place of `-`
  llvm::StringLiteral value; // what help calls the text; "" for a flag
  llvm::StringLiteral help;
  std::variant<FlagOption, CountOption, BytesOption, TextOption,
               ConstraintsOption>
      kind;
  /// A plan records the answer in a field of its own. Otherwise it records the
  /// option in its `request`.
  bool isPlanField = false;
};

/// A TextOption::parse that sets a field to the result of a function.
template <auto field, auto parse>
llvm::Error parseField(llvm::StringRef text, PlanRequest &into) {
  auto value = parse(text);
  if (!value)
    return value.takeError();
  into.*field = std::move(*value);
  return llvm::Error::success();
}

/// All of them, in the order of the help.
inline constexpr RequestOption kRequestOptions[] = {
    {"strategy", "NAME[,NAME]",
     "auto (default), replicated, data, row, column, tensor, channel, spatial, "
     "layer",
     TextOption{parseField<&PlanRequest::strategies, parseStrategies>,
                [](const PlanRequest &request) {
                  return stringifyStrategies(request.strategies);
                }},
     /*isPlanField=*/true},
    {"mesh", "AXIS=N[,AXIS=N]",
     "fix the mesh; with several demands one axis each; layer=N counts stages",
     TextOption{parseField<&PlanRequest::mesh, parseMesh>,
                [](const PlanRequest &request) {
                  return stringifyMesh(request.mesh);
                }}},
    {"micro-batches", "K", "micro-batches of a pipeline (default: searched)",
     CountOption{&PlanRequest::microBatches}},
    {"objective", "NAME",
     "what the plan makes least: latency (default), a step's seconds; "
     "throughput, the\n"
     "seconds from one step to the next, begun before it ends; step, a "
     "training "
     "step\n"
     "(default with --train)",
     TextOption{parseField<&PlanRequest::objective, parseObjective>,
                [](const PlanRequest &request) {
                  return request.objective
                             ? stringifyObjective(*request.objective).str()
                             : "";
                }},
     /*isPlanField=*/true},
    {"fewest-devices", "",
     "use no more of the cluster's devices than the fastest step needs",
     FlagOption{&PlanRequest::fewestDevices}},
    {"memory-limit", "SIZE",
     "bytes per device, e.g. 16GiB (default: what the cluster says)",
     BytesOption{&PlanRequest::memoryLimit}},
    {"constraints", "FILE",
     "JSON that pins or forbids shardings, strategies, stages and meshes "
     "(docs/Constraints.md)",
     ConstraintsOption{&PlanRequest::constraints}},
};

/// Returns the option's key in JSON, such as `fewest_devices`.
std::string jsonKey(const RequestOption &option);
/// Reads an option as the command line has it; a flag's text is `true`, `1`,
/// `false` or `0`. An error about a number or a flag names the option.
llvm::Error parseOption(const RequestOption &option, llvm::StringRef text,
                        PlanRequest &into);
/// Returns nothing if the request does not ask for the option.
std::optional<llvm::json::Value> optionToJSON(const RequestOption &option,
                                              const PlanRequest &request);
/// Reads what optionToJSON returns. A value of another kind is an error
/// such as `'mesh' must be a string`.
llvm::Error optionFromJSON(const RequestOption &option,
                           const llvm::json::Value &value, PlanRequest &into);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_PLANREQUEST_H
