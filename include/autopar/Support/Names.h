//===- Names.h - Names that people write ------------------------*- C++ -*-===//

#ifndef AUTOPAR_SUPPORT_NAMES_H
#define AUTOPAR_SUPPORT_NAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace autopar {

/// Returns whether `name` matches `pattern`, in which `*` stands for any text
/// and `?` for any character. Every other character stands for itself, since
/// names have brackets, slashes and dots.
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);

/// `; nearest: 'wte.weight', 'wpe.weight'`: the names that `wanted` may have
/// meant, nearest first, ties in the given order; "" if none is near.
std::string nearestNames(llvm::StringRef wanted, size_t count,
                         llvm::function_ref<llvm::StringRef(size_t)> name);

/// A message about the first key of `object`, in alphabetic order, that is not
/// in `known`: `unknown key 'shard'; known: 'dims', 'partial'`. It is "" if all
/// keys are known.
std::string unknownKey(const llvm::json::Object &object,
                       llvm::ArrayRef<llvm::StringRef> known);

/// The keys of `object` in alphabetic order; the object itself keeps no order.
std::vector<llvm::StringRef> sortedKeys(const llvm::json::Object &object);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_NAMES_H
