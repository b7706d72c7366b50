//===- Constraints.h - What a user demands of a plan ----------------------===//
//
// `--constraints FILE` (docs/Constraints.md) pins or forbids shardings of
// values, strategies and stages of ops, and meshes; the search fills in the
// rest. A constraint in the file names ops, values and axes; `resolve` turns it
// into limits on the ops and values of a graph for one mesh.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_CONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_CONSTRAINTS_H

#include "autopar/Interfaces/Sharding.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// One dimension of a pattern. Axes: it is split over exactly these axes (if
/// there are none: it is whole). Any: it may be split in any way. Rest: any
/// number of dimensions, each of which may be split in any way.
struct DimPattern {
  enum Kind { Axes, Any, Rest } kind = Axes;
  llvm::SmallVector<std::string, 2> axes; // "all": every axis of the mesh
};

/// A pattern for shardings, such as `[["data"], "*", []]`, and the axes over
/// which the value is partial.
struct ShardingPattern {
  llvm::SmallVector<DimPattern> dims;
  llvm::SmallVector<std::pair<std::string, ReduceKind>> partial;
};

struct Constraint {
  /// A constraint of kind Kept stands for all that is kept of an old plan;
  /// `name` is the file of the plan. One of kind Stored stands for all that
  /// entries before this one store; `name` is the first of these entries.
  enum Kind { Value, Node, MeshOfPlan, Kept, Stored } kind = Value;
  unsigned number = 0; // its place in the file, from 1
  std::string name;    // its op or value; may have `*` and `?`
  bool forbid = false; // the plan must not be as it says
  std::optional<ShardingPattern> sharding;
  /// Pairs of an axis and `split N`, `pass N`, `dimension D` or the name of a
  /// strategy.
  llvm::SmallVector<std::pair<std::string, std::string>> strategy;
  std::optional<int64_t> stage;
  llvm::SmallVector<MeshAxis> mesh;
};

struct Constraints {
  std::string file; // the name for messages
  std::vector<Constraint> list;
  llvm::json::Value text = nullptr; // as it was read
  bool empty() const { return list.empty(); }
  /// Returns an error that names the file and the constraint.
  llvm::Error fail(const Constraint &constraint, const llvm::Twine &what) const;
};

llvm::Expected<Constraints> constraintsFromJSON(const llvm::json::Value &value,
                                                llvm::StringRef name);
llvm::Expected<Constraints> readConstraintsFile(llvm::StringRef path);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_CONSTRAINTS_H
