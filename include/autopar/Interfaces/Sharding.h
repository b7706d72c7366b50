//===- Sharding.h - Meshes, shardings and sharding rules as plain data ----===//
//
// This header uses no MLIR: Planning's problems and solvers work on these
// structs alone.
//
// A mesh has named axes. Each axis is held as its prime factors, major first:
// the *sub-axes* of the mesh. `"tensor"=4` has the sub-axes `tensor.0` and
// `tensor.1`, each of size 2; an axis of prime size has one sub-axis with the
// axis's own name. Half an axis is a subset of its sub-axes, and there is no
// other way to use a part of an axis.
//
// A dimension of n elements over k devices is k blocks of B = ceil(n/k); device
// j owns [j*B, min(n, (j+1)*B)), possibly nothing. A device has room for B
// elements; the bytes past its part are unspecified.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_SHARDING_H
#define AUTOPAR_INTERFACES_SHARDING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>

#include "autopar/Interfaces/Enums.h"

namespace autopar {

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

struct MeshAxis {
  std::string name;
  int64_t size;
  bool operator==(const MeshAxis &o) const {
    return name == o.name && size == o.size;
  }
};

/// The axis of this name counts micro-batches, not devices. It comes first.
inline constexpr llvm::StringLiteral kTimeAxis = "time";

/// A prime factor of an axis. An axis of size 1 has no sub-axes.
struct SubAxis {
  std::string name;
  unsigned axis;   // index of its axis
  int64_t size;    // a prime
  int64_t divisor; // digit = (coordinate along the axis / divisor) % size
  int64_t stride;  // digit = (point / stride) % size, point over all axes
  bool time;       // belongs to the time axis
};

/// Named axes, row-major: the last axis varies fastest over device numbers.
/// A *point* numbers (time, device) pairs over all axes; without a time axis a
/// point is a device.
class Mesh {
public:
  Mesh() = default;
  explicit Mesh(llvm::ArrayRef<MeshAxis> axes);

  llvm::ArrayRef<MeshAxis> axes() const { return axisList; }
  llvm::ArrayRef<SubAxis> subAxes() const { return subAxisList; }
  int64_t deviceCount() const; // without the time axis
  int64_t timeCount() const;   // 1 without a time axis
  int64_t pointCount() const { return deviceCount() * timeCount(); }

  /// The sub-axes that a name stands for: "tensor" is the whole axis,
  /// "tensor.1" one of its sub-axes. It is nullopt if there is no such axis.
  std::optional<llvm::SmallVector<unsigned>> lookup(llvm::StringRef ref) const;
  /// Names sub-axes; the inverse of lookup. Whole axes are written by their own
  /// name.
  llvm::SmallVector<std::string> spell(llvm::ArrayRef<unsigned> subAxes) const;

  /// Number of blocks that the sub-axes make together.
  int64_t product(llvm::ArrayRef<unsigned> subAxes) const;
  /// The linear index of `point` over the sub-axes; the first sub-axis is the
  /// most significant.
  int64_t linearIndex(llvm::ArrayRef<unsigned> subAxes, int64_t point) const;
  /// The points that differ from `point` in these sub-axes only, ordered by
  /// linearIndex. They are the members of the communicator of `point`.
  llvm::SmallVector<int64_t> group(llvm::ArrayRef<unsigned> subAxes,
                                   int64_t point) const;

  bool operator==(const Mesh &o) const { return axisList == o.axisList; }

private:
  llvm::SmallVector<MeshAxis> axisList;
  llvm::SmallVector<SubAxis> subAxisList;
};

//===----------------------------------------------------------------------===//
// Sharding of a value
//===----------------------------------------------------------------------===//

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// An interval in place of a plain block; intervals of neighbours may overlap.
/// Device j holds the positions [j*step + offset, j*step + offset + length) of
/// the dimension; positions outside the dimension hold a fill value.
struct Interval {
  int64_t step = 0, offset = 0, length = 0;
  bool operator==(const Interval &o) const {
    return step == o.step && offset == o.offset && length == o.length;
  }
};

/// The sub-axes over which a dimension is split, major to minor. Without
/// sub-axes each device has the whole dimension.
struct DimSharding {
  llvm::SmallVector<unsigned, 2> subAxes;
  std::optional<Interval> interval;
  bool operator==(const DimSharding &o) const {
    return subAxes == o.subAxes && interval == o.interval;
  }
};

struct Partial {
  unsigned subAxis;
  ReduceKind kind;
  bool operator==(const Partial &o) const {
    return subAxis == o.subAxis && kind == o.kind;
  }
};

/// A value's sharding over the mesh. A value that is partial over a sub-axis is
/// the reduction of the terms that the devices along that sub-axis hold.
struct Sharding {
  llvm::SmallVector<DimSharding, 3> dims;
  llvm::SmallVector<Partial, 2> partial; // ordered by sub-axis

  static Sharding replicated(size_t rank) {
    Sharding s;
    s.dims.resize(rank);
    return s;
  }
  bool isReplicated() const;
  bool usesSubAxis(unsigned subAxis) const; // by a dimension or as partial
  bool operator==(const Sharding &o) const {
    return dims == o.dims && partial == o.partial;
  }
  bool operator!=(const Sharding &o) const { return !(*this == o); }
};

/// The size of the local block of a dimension.
int64_t localSize(int64_t size, const DimSharding &dim, const Mesh &mesh);
llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> shape,
                                      const Sharding &sharding,
                                      const Mesh &mesh);
/// Returns whether some block is not full: the size is no multiple of the
/// number of blocks.
bool isUneven(int64_t size, const DimSharding &dim, const Mesh &mesh);
/// `[{"data"}, {}] partial {"tensor": sum}`: stable text, for keys and
/// messages.
std::string toString(const Sharding &sharding, const Mesh &mesh);

//===----------------------------------------------------------------------===//
// Sharding rule of an op
//===----------------------------------------------------------------------===//

enum class FactorKind {
  Parallel,  // in results: a block of the results needs that block of the
             // operands
  Reduce,    // in operands only: splitting it makes the results partial
  Decompose, // the op must be decomposed (DecomposeOpInterface) before this
             // factor is split; it is named so that the plan can choose it
};

/// An index of an op, as the letters of an einsum are.
struct Factor {
  int64_t size;
  FactorKind kind = FactorKind::Parallel;
  ReduceKind reduce = ReduceKind::Sum; // of a Reduce factor
  /// Set if the operands' bytes past the extent would enter the result. If
  /// blocks are uneven, these bytes are overwritten with this neutral element
  /// first.
  std::optional<double> mask;
};

/// Operand index = result index * stride + k * dilation - padLow, 0 <= k <
/// size.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1, padLow = 0;
  double fill = 0; // the number that positions outside of the operand read as
};

/// The factors that make up one dimension, major to minor. A dimension without
/// factors is never split.
struct DimFactors {
  llvm::SmallVector<unsigned, 2> factors;
  std::optional<Window> window; // only on operand dimensions of one factor
  DimFactors() = default;
  DimFactors(unsigned factor) : factors{factor} {}
};
using TensorFactors = llvm::SmallVector<DimFactors>;

/// A way in which the op lets partial values through: if all these operands are
/// partial over a sub-axis, and the others replicated along it, the results are
/// partial, too. For sums the op is additive in these operands, for max and min
/// it is monotone.
struct PartialPass {
  llvm::SmallVector<unsigned, 2> operands;
  ReduceKind kind = ReduceKind::Sum;
};

struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands;
  llvm::SmallVector<TensorFactors> results;
  llvm::SmallVector<PartialPass> passes;

  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back(Factor{size, kind, ReduceKind::Sum, std::nullopt});
    return factors.size() - 1;
  }
};

/// The rule as stable text: `([0, 2], [2, 1]) -> ([0, 1]) {0 = 4, 1 = 3, 2 = 5
/// sum mask 0} passes (0) sum, (1) sum`. A whole dimension is `-`, a compound
/// one `0*1`.
std::string toString(const ShardingRule &rule);

/// The decision about one sub-axis of the mesh in an op: it splits a factor,
/// lets a partial value through, or does nothing.
struct Choice {
  enum Kind : uint8_t { None, Split, Pass } kind = None;
  unsigned index = 0; // of the factor or of the pass
  bool operator==(const Choice &o) const {
    return kind == o.kind && (kind == None || index == o.index);
  }
};
/// One choice per sub-axis of the mesh. Nothing else is decided about an op.
using Assignment = llvm::SmallVector<Choice>;

/// Sub-axes that split `factor`, in mesh order.
llvm::SmallVector<unsigned, 2> subAxesOf(const Assignment &assignment,
                                         unsigned factor);

/// Returns whether `factor` may be split into `parts` blocks. A factor that
/// shares a dimension with others must be the major one of those that have more
/// than one element, and `parts` must divide its size.
bool canSplit(const ShardingRule &rule, unsigned factor, int64_t parts);

struct OpShardings {
  llvm::SmallVector<Sharding> operands, results;
};
/// The shardings in which an assignment wants the operands and gives the
/// results. It is nullopt if the assignment is not legal: a factor cannot be
/// split (canSplit), two factors of one dimension are split, a value is partial
/// in two ways, or an index is unknown. An operand dimension with a window gets
/// an Interval when its factor is split.
std::optional<OpShardings> shardingsOf(const ShardingRule &rule,
                                       const Assignment &assignment,
                                       const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_SHARDING_H
