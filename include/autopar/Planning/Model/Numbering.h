//===- Numbering.h - Numbers of keys in order of appearance -----*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_MODEL_NUMBERING_H
#define AUTOPAR_PLANNING_MODEL_NUMBERING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace autopar {

/// Numbers keys in the order in which they come.
class Numbering {
public:
  unsigned operator()(llvm::StringRef key) {
    return numbers.try_emplace(key, numbers.size()).first->second;
  }
  unsigned operator()(llvm::ArrayRef<unsigned> key) {
    return (*this)(llvm::StringRef(reinterpret_cast<const char *>(key.data()),
                                   key.size() * sizeof(unsigned)));
  }
  size_t size() const { return numbers.size(); }

private:
  llvm::StringMap<unsigned> numbers;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_NUMBERING_H
