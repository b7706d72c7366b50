//===- CudaHostTables.h - Tables of a host program as C++ -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_CUDAHOSTTABLES_H
#define AUTOPAR_LIB_LOWERING_GPU_CUDAHOSTTABLES_H

#include "../Common/RuntimeAbi.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace autopar::gpu {

/// Descriptors of one kind: an array in the program.
class Descriptors {
public:
  static Descriptors ofGemms();
  static Descriptors ofConvs();

  bool areOf(const abi::Descriptor *other) const { return other == &type; }
  llvm::StringRef name() const { return array; }
  /// The place in the array of the descriptor whose first word this is.
  int64_t number(int64_t word) {
    return numbers.try_emplace(word, numbers.size()).first->second;
  }
  /// The array with all that were asked for; empty without any.
  std::string text(llvm::ArrayRef<int64_t> words) const;

private:
  /// Makes the comment about a descriptor from its words and its number.
  using Title = std::string (*)(llvm::ArrayRef<int64_t> words, int64_t number);
  Descriptors(const abi::Descriptor &type, llvm::StringRef array, Title title)
      : type(type), array(array), title(title) {}

  const abi::Descriptor &type;
  llvm::StringRef array;
  Title title;
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
