//===- SharedWork.h - What problems of a graph have in common ---*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_SHAREDWORK_H
#define AUTOPAR_PLANNING_SEARCH_SHAREDWORK_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/ReshardTable.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Model/FoldedGraph.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <mutex>

namespace autopar {

/// What the first who asks computes, of any number of threads.
template <typename Key, typename Value> class OnceMap {
public:
  /// It stays where it is.
  const Value &get(const Key &key, llvm::function_ref<Value()> compute) {
    Entry *entry;
    {
      std::lock_guard<std::mutex> lock(mutex);
      entry = &entries[key];
    }
    std::call_once(entry->once, [&] { entry->value.emplace(compute()); });
    return *entry->value;
  }

private:
  struct Entry {
    std::once_flag once;
    std::optional<Value> value;
  };
  std::mutex mutex;
  std::map<Key, Entry> entries;
};

/// What does not depend on the mesh of a problem alone, computed for the first
/// that needs it; from any number of threads. Whoever comes first, the answers
/// are the same.
class SharedWork {
public:
  /// The graph under these marks.
  const FoldedGraph &folded(const ModelGraph &graph,
                            const std::vector<unsigned> &marks);

  /// Of all trials whose axes are named so.
  llvm::Expected<const OpDemands &>
  demands(const ModelGraph &graph, const std::string &names,
          llvm::function_ref<llvm::Expected<std::vector<OpDemand>>()> compute);

  /// Of all meshes with these sub-axes: of paths across `whole` on such places.
  std::shared_ptr<ReshardPrices> prices(const Cluster &whole,
                                        llvm::ArrayRef<Cluster> places,
                                        const Mesh &mesh);

private:
  struct Demanded {
    std::optional<OpDemands> demands;
    std::string complaint; // where there are none
  };
  OnceMap<std::vector<unsigned>, FoldedGraph> foldedByMarks;
  OnceMap<std::string, Demanded> demandsByNames;
  OnceMap<std::string, std::shared_ptr<ReshardPrices>> pricesOfPlaces;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_SHAREDWORK_H
