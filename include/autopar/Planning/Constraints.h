//===- Constraints.h - What a user demands of a plan ----------------------===//
//
// `--constraints FILE` (docs/Constraints.md) pins or forbids shardings of
// values, strategies and stages of ops, and meshes; the search fills in the
// rest. What is read from the file speaks of names and axes; `resolve` turns it
// into limits of a graph's ops and values on one mesh.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_H

#include "autopar/Interfaces/Sharding.h"
#include "autopar/Planning/ModelGraph.h"
#include "autopar/Planning/Plan.h"
#include "llvm/Support/JSON.h"

namespace autopar {

//===----------------------------------------------------------------------===//
// As written
//===----------------------------------------------------------------------===//

/// One dimension of a pattern: split over exactly these axes (none: whole),
/// split anyhow, or as many dimensions as there are, split anyhow.
struct DimPattern {
  enum Kind { Axes, Any, Rest } kind = Axes;
  llvm::SmallVector<std::string, 2> axes; // "all": every axis of the mesh
};

/// `[["data"], "*", []]` and the axes over which the value is partial.
struct ShardingPattern {
  llvm::SmallVector<DimPattern> dims;
  llvm::SmallVector<std::pair<std::string, ReduceKind>> partial;
};

struct Constraint {
  /// Kept stands for all that is kept of an old plan; `name` is its file.
  /// Stored stands for all that entries before this one store; `name` is the
  /// first of them.
  enum Kind { Value, Node, MeshOfPlan, Kept, Stored } kind = Value;
  unsigned number = 0; // in the file, from 1
  std::string name;    // where it applies; may have `*` and `?`
  bool forbid = false; // what is said must not be
  std::optional<ShardingPattern> sharding;
  /// Per axis `split N`, `pass N`, `dimension D` or the name of a strategy; by
  /// name of the axis.
  llvm::SmallVector<std::pair<std::string, std::string>> strategy;
  std::optional<int64_t> stage;
  llvm::SmallVector<MeshAxis> mesh;
};

struct Constraints {
  std::string file; // what messages call it
  std::vector<Constraint> list;
  llvm::json::Value text = nullptr; // as it was read
  bool empty() const { return list.empty(); }
  /// An error that names the file and the constraint.
  llvm::Error fail(const Constraint &constraint, const llvm::Twine &what) const;
};

llvm::Expected<Constraints> constraintsFromJSON(const llvm::json::Value &value,
                                                llvm::StringRef name);
llvm::Expected<Constraints> readConstraintsFile(llvm::StringRef path);

//===----------------------------------------------------------------------===//
// On a graph and a mesh
//===----------------------------------------------------------------------===//

/// What one sub-axis may do in an op.
struct SubAxisLimit {
  std::optional<llvm::SmallVector<Choice, 2>> only; // nullopt: anything
  llvm::SmallVector<Choice, 2> never;
  bool allows(const Choice &choice) const {
    return (!only || llvm::is_contained(*only, choice)) &&
           !llvm::is_contained(never, choice);
  }
};

struct OpLimit {
  llvm::SmallVector<SubAxisLimit> subAxes; // empty: no limit
  llvm::SmallVector<unsigned> from;        // places in Constraints::list
  bool allows(const Assignment &assignment) const;
};

/// A ShardingPattern for one value: per dimension its sub-axes, or nullopt.
struct ShardingLimit {
  llvm::SmallVector<std::optional<llvm::SmallVector<unsigned, 2>>> dims;
  llvm::SmallVector<Partial, 2> partial; // ordered by sub-axis
  unsigned from = 0;
  /// Whether `sharding`, its time sub-axes aside, is so.
  bool matches(const Sharding &sharding, const Mesh &mesh) const;
};

struct ValueLimit {
  llvm::SmallVector<ShardingLimit, 1> pins, forbids;
  bool empty() const { return pins.empty() && forbids.empty(); }
  bool allows(const Sharding &sharding, const Mesh &mesh) const;
  /// `sharding` with all that the pins say put in its place.
  Sharding fit(Sharding sharding, const Mesh &mesh) const;
};

struct StageLimit {
  std::optional<int64_t> only;
  llvm::SmallVector<int64_t, 1> never;
  unsigned from = 0;
  bool allows(int64_t stage) const {
    return (!only || *only == stage) && !llvm::is_contained(never, stage);
  }
};

/// Limits of every op and value of a graph on one mesh. Empty lists: none.
struct Limits {
  const Constraints *constraints = nullptr;
  std::vector<OpLimit> ops;
  std::vector<ValueLimit> values;
  std::vector<StageLimit> stages; // per op
  /// Text that differs for ops whose own limits or those of their operands and
  /// results differ; "" without any.
  std::string markOf(const ModelGraph &graph, unsigned op) const;
};

/// An error names the constraint and why it cannot be met: a name that nothing
/// has, an axis that the mesh has not, a wrong number of dimensions, an op
/// whose rule does not allow it, two constraints that exclude each other.
llvm::Expected<Limits> resolve(const Constraints &constraints,
                               const ModelGraph &graph, const Mesh &mesh,
                               int64_t stages);

/// Whether a mesh (of one stage's devices) with so many stages is allowed.
bool allowsMesh(const Constraints &constraints, llvm::ArrayRef<MeshAxis> axes,
                int64_t stages);
/// Axes that a constraint pins, `layer` among them; empty: none does. An error
/// where two differ.
llvm::Expected<llvm::SmallVector<MeshAxis>>
pinnedMesh(const Constraints &constraints);

/// Whether a finished plan meets the constraints.
llvm::Error verify(const Plan &plan, const ModelGraph &graph,
                   const Constraints &constraints);

/// No assignment of the op is left. The message says what it could do.
llvm::Error cannotMeet(const Limits &limits, const ModelGraph &graph,
                       unsigned op, const Mesh &mesh);
llvm::Error cannotShard(const Limits &limits, const GraphValue &value,
                        const ValueLimit &limit, const Mesh &mesh,
                        llvm::ArrayRef<Sharding> known);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_H
