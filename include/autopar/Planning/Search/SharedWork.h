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

/// A map whose values are computed once, by the first of any number of threads
/// that asks for the key.
template <typename Key, typename Value> class OnceMap {
public:
  /// Returns the value of `key`, whose address never changes.
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

/// Results that several problems of a search share because they do not depend
/// on the whole mesh. The first that needs a result computes it. Any number of
/// threads may ask, and their order does not change the results.
class SharedWork {
public:
  /// Returns the graph folded under these marks.
  const FoldedGraph &folded(const ModelGraph &graph,
                            const std::vector<unsigned> &marks);

  /// Returns the demands of all trials whose axes have these names.
  llvm::Expected<const OpDemands &>
  demands(const ModelGraph &graph, const std::string &names,
          llvm::function_ref<llvm::Expected<std::vector<OpDemand>>()> compute);

  /// Returns the prices of reshards across `whole` on such places, for all
  /// meshes with these sub-axes.
  std::shared_ptr<ReshardPrices> prices(const Cluster &whole,
                                        llvm::ArrayRef<Cluster> places,
                                        const Mesh &mesh);

private:
  struct Demanded {
    std::optional<OpDemands> demands;
    std::string complaint; // if there are no demands
  };
  OnceMap<std::vector<unsigned>, FoldedGraph> foldedByMarks;
  OnceMap<std::string, Demanded> demandsByNames;
  OnceMap<std::string, std::shared_ptr<ReshardPrices>> pricesOfPlaces;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_SHAREDWORK_H
