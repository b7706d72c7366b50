//===- Constraints.h - What a user demands of a plan ----------------------===//
//
// `--constraints FILE` (docs/Constraints.md) pins or forbids shardings of
// values, strategies and stages of ops, and meshes; the search fills in the
// rest. What is read from the file speaks of names and axes; `resolve` turns it
// into limits of a graph's ops and values on one mesh.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_CONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_CONSTRAINTS_H

#include "autopar/Interfaces/Sharding.h"
#include "llvm/Support/JSON.h"

namespace autopar {

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

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_CONSTRAINTS_H
