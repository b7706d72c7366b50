//===- CountedRows.h - Rows that are alike, told once -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_COUNTEDROWS_H
#define AUTOPAR_LIB_REPORT_COUNTEDROWS_H

#include "autopar/Report/PlanFacts.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace autopar {

/// Collects rows and merges rows with the same key, as repeated layers have
/// them.
class CountedRows {
public:
  void add(std::string key, std::string text, double seconds, unsigned index) {
    auto [it, isNew] = places.try_emplace(std::move(key), rows.size());
    if (isNew)
      rows.push_back({std::move(text), seconds, 0, index, {}});
    ++rows[it->second].count;
  }
  /// Returns the rows, those with the largest total first.
  std::vector<CostRow> take() {
    llvm::stable_sort(rows, [](const CostRow &a, const CostRow &b) {
      return std::abs(a.allSeconds()) > std::abs(b.allSeconds());
    });
    return std::move(rows);
  }

private:
  std::map<std::string, size_t> places;
  std::vector<CostRow> rows;
};

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_COUNTEDROWS_H
