//===- OnnxSupport.h - What of ONNX can be compiled -------------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_ONNXSUPPORT_H
#define AUTOPAR_FRONTEND_ONNXSUPPORT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace autopar {

/// An operator of the standard, as `autopar ops` lists it.
struct OnnxOpSupport {
  llvm::StringRef name;
  /// The versions of the standard that changed it; empty if it is not compiled.
  std::vector<int64_t> versions;
  /// The uses of it that are not compiled, or why it is not compiled at all.
  llvm::StringRef leftOut;
};
/// All operators by name; those that are compiled come first.
std::vector<OnnxOpSupport> onnxOpSupport();
/// The oldest and newest version of the standard operators.
std::pair<int64_t, int64_t> onnxOpsets();
/// The types of tensors that are compiled, as ONNX names them.
std::vector<std::string> onnxElementTypes();

} // namespace autopar

#endif // AUTOPAR_FRONTEND_ONNXSUPPORT_H
