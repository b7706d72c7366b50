//===- LibraryKinds.cpp - The rows of the kinds of library calls ----------===//

#include "autopar/Interfaces/LibraryKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

namespace autopar {

static const std::vector<LibraryKind> &rows() {
  // The table names the enumerators. NOLINTBEGIN(readability-identifier-naming)
  constexpr EpilogueStep Bias = EpilogueStep::Bias,
                         Activation = EpilogueStep::Activation,
                         Addend = EpilogueStep::Addend;
  // NOLINTEND(readability-identifier-naming)
  static const std::vector<LibraryKind> table = {
#define AUTOPAR_LIST(...) {__VA_ARGS__}
#define AUTOPAR_LIBRARY_KIND(kind, name, title, roles, required, packed,       \
                             packedBy, epilogue, images, ...)                  \
  {CallKind::kind,                                                             \
   name,                                                                       \
   title,                                                                      \
   AUTOPAR_LIST roles,                                                         \
   required,                                                                   \
   packed,                                                                     \
   LibraryKind::packedBy,                                                      \
   AUTOPAR_LIST epilogue,                                                      \
   images},
#include "autopar/Interfaces/LibraryKinds.def"
#undef AUTOPAR_LIST
  };
  return table;
}

std::optional<unsigned> LibraryKind::find(llvm::StringRef role) const {
  const auto *found = llvm::find(roles, role);
  if (found == roles.end())
    return std::nullopt;
  return found - roles.begin();
}

const LibraryKind &libraryKind(CallKind kind) { return rows()[unsigned(kind)]; }

llvm::StringRef stringifyCallKind(CallKind kind) {
  return libraryKind(kind).name;
}

std::optional<CallKind> symbolizeCallKind(llvm::StringRef name) {
  for (const LibraryKind &row : rows())
    if (row.name == name)
      return row.kind;
  return std::nullopt;
}

} // namespace autopar
