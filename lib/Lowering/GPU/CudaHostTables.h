//===- CudaHostTables.h - Tables of a host program as C++ -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_CUDAHOSTTABLES_H
#define AUTOPAR_LIB_LOWERING_GPU_CUDAHOSTTABLES_H

#include "../Common/LibraryCalls.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace autopar::gpu {

/// Descriptors of one kind: an array in the program.
class Descriptors {
public:
  /// The empty arrays of all descriptors of library calls, in the order of
  /// LibraryKinds.def.
  static std::vector<Descriptors> all();

  bool areOf(const abi::Descriptor *other) const { return other == &type; }
  llvm::StringRef name() const { return array; }
  /// The place in the array of the descriptor whose first word this is.
  int64_t number(int64_t word) {
    return numbers.try_emplace(word, numbers.size()).first->second;
  }
  /// Returns the array of all descriptors that were asked for; empty text if
  /// none was.
  std::string text(llvm::ArrayRef<int64_t> words) const;

private:
  explicit Descriptors(const LibraryFunctions &row);

  const abi::Descriptor &type;
  std::string array; // its name
  /// Makes the comment about a descriptor from its words.
  std::string (*title)(llvm::ArrayRef<int64_t> words);
  std::map<int64_t, int64_t> numbers; // by first word
};

/// The places that differ in the repetitions of a layer. Columns that move
/// alike are one.
class PlaceTable {
public:
  explicit PlaceTable(int64_t rows) : rows(rows) {}

  /// "at.NAME + n" for a place with these values, or a number where it is the
  /// same in all rows.
  std::string place(llvm::StringRef kind, const std::vector<int64_t> &values);
  std::string structText(llvm::StringRef name) const;
  std::string rowsText() const;

private:
  int64_t rows;
  std::map<std::vector<int64_t>, size_t> known; // by moves from the first row
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> columns;
};

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_CUDAHOSTTABLES_H
