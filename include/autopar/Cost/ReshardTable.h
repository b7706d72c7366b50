//===- ReshardTable.h - Prices of reshards, remembered ----------*- C++ -*-===//

#ifndef AUTOPAR_COST_RESHARDTABLE_H
#define AUTOPAR_COST_RESHARDTABLE_H

#include "autopar/Cost/Reshard.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"
#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace autopar {

class ReshardGraph;

/// Prices of changes of shardings. A price depends on the sub-axes of a mesh
/// and not on its axes, so the tables of meshes with the same sub-axes on the
/// same devices may share prices. All functions may be called from any number
/// of threads.
class ReshardPrices {
public:
  ReshardPrices();
  ~ReshardPrices();
  /// A number for `text`; keys hold the number in place of the text.
  uint64_t numberOf(llvm::StringRef text);

  /// The known prices of a change.
  struct Change {
    std::mutex mutex;
    llvm::SmallDenseMap<int64_t, double, 4> seconds; // by bytes of an element
    /// Made when the first price is asked for; null if the change has too many
    /// steps.
    std::optional<std::unique_ptr<const ReshardGraph>> graph;
    Change();
    ~Change();
  };
  /// The change that the key stands for. The reference stays valid.
  Change &changeOf(llvm::ArrayRef<uint64_t> key);

private:
  /// A part of the table with its own lock: threads seldom need the same one of
  /// many parts.
  struct Part {
    std::mutex mutex;
    llvm::StringMap<Change, llvm::BumpPtrAllocator> changes; // by keys' bytes
  };
  std::array<Part, 32> parts; // by hash
  std::mutex mutex;
  llvm::StringMap<uint64_t> numbers;
};

/// Prices of reshards on one mesh. Shardings and types are numbered, so that
/// asking for a known price is one look-up. A new price is computed once for
/// all reshards that cost the same: a dimension whose sharding stays, or whose
/// size divides evenly however it is split, only scales the bytes, and the
/// order of the other dimensions does not matter unless several of them get
/// halos.
class ReshardTable {
public:
  /// `cost` decides which path is shortest, and `price` what its steps cost. If
  /// `price` is null, it is `cost`.
  ReshardTable(
      const Mesh &mesh, ReshardCost cost,
      std::shared_ptr<ReshardPrices> shared = std::make_shared<ReshardPrices>(),
      ReshardCost price = nullptr)
      : mesh(mesh), cost(std::move(cost)), price(std::move(price)),
        shared(std::move(shared)) {}

  unsigned numberOf(const Sharding &sharding);
  unsigned typeOf(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
  /// The seconds of the path from one numbered sharding to another; infinity if
  /// there is no path.
  double seconds(unsigned from, unsigned to, unsigned type) {
    return seconds(from, to, type, prices);
  }
  /// Prices by the numbers of both shardings and of the type.
  using Prices = llvm::DenseMap<uint64_t, double>;
  /// Does the same and remembers prices in `known`. Several threads may call
  /// it, each with its own `known`.
  double seconds(unsigned from, unsigned to, unsigned type,
                 Prices &known) const;
  double seconds(const Sharding &from, const Sharding &to,
                 llvm::ArrayRef<int64_t> shape, int64_t elementBytes) {
    return seconds(numberOf(from), numberOf(to), typeOf(shape, elementBytes));
  }
  /// Returns a path with the seconds of its steps by `price`.
  ReshardPath priced(ReshardPath path) const;

private:
  struct Numbered {
    llvm::SmallVector<unsigned, 6> dims; // places in `dims` of the table
    unsigned partial;                    // place in `partials`
  };
  struct Type {
    llvm::SmallVector<int64_t> shape;
    int64_t elementBytes;
  };
  struct DimChange {
    int64_t size;
    unsigned from, to; // places in `dims`
  };
  /// A change without the parts that do not influence its price.
  struct Reduced {
    llvm::SmallVector<DimChange, 6> dims;
    unsigned from, to; // places in `partials`
    int64_t bytes;     // of an element
  };
  /// nullopt: there is no path.
  std::optional<Reduced> reduce(const Numbered &from, const Numbered &to,
                                const Type &type) const;
  void scaleDown(DimChange &dim, int64_t &bytes) const;
  llvm::SmallVector<uint64_t, 16> keyOf(const Reduced &change) const;
  double secondsOf(const Reduced &reduced, ReshardPrices::Change &known) const;

  Mesh mesh;
  ReshardCost cost, price;
  std::shared_ptr<ReshardPrices> shared;
  llvm::StringMap<unsigned> shardingNumbers, dimNumbers, partialNumbers,
      typeNumbers;
  std::vector<Numbered> shardings;
  template <typename What> struct Part {
    std::string text;
    uint64_t number; // in keys
    What what;
  };
  std::vector<Part<DimSharding>> dims;
  std::vector<Part<llvm::SmallVector<Partial, 2>>> partials;
  std::vector<Type> types;
  Prices prices;
};

} // namespace autopar

#endif // AUTOPAR_COST_RESHARDTABLE_H
