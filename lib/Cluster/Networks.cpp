//===- Networks.cpp - The table of networks -------------------------------===//

#include "autopar/Cluster/Cluster.h"
#include "autopar/Support/Csv.h"
#include "data/networks.csv.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

using Row = CsvTable::Row;

static const CsvTable &networkTable() {
  static const CsvTable table = cantFail(CsvTable::parse(kNetworkTable));
  return table;
}

static Network networkOfRow(const Row &row) {
  const CsvTable &table = networkTable();
  return {table.text(row, "kind").str(), table.number(row, "latency_us") * 1e-6,
          table.number(row, "in_order") != 0};
}

std::optional<Network> lookupNetwork(StringRef kind) {
  for (const Row &row : networkTable().rows())
    if (networkTable().text(row, "kind") == kind)
      return networkOfRow(row);
  return std::nullopt;
}

std::optional<Network> networkOfDescription(StringRef description) {
  SmallVector<StringRef> parts;
  std::string lower = description.lower();
  SplitString(lower, parts, " ,;:()/-");
  for (const Row &row : networkTable().rows()) {
    SmallVector<StringRef> words;
    SplitString(networkTable().text(row, "words"), words);
    if (any_of(words,
               [&](StringRef word) { return is_contained(parts, word); }))
      return networkOfRow(row);
  }
  return std::nullopt;
}

} // namespace autopar
