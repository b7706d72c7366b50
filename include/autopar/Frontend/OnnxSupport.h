//===- OnnxSupport.h - What of ONNX can be compiled -------------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_ONNXSUPPORT_H
#define AUTOPAR_FRONTEND_ONNXSUPPORT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace autopar {

/// An operator of the standard, for people.
struct OnnxOpSupport {
  llvm::StringRef name;
  std::vector<int64_t> versions; // of the standard; none: it is not compiled
  llvm::StringRef leftOut;       // of it, or why it is not compiled
};
/// By name; those that are compiled come first.
std::vector<OnnxOpSupport> onnxOpSupport();
/// The oldest and newest version of the standard operators.
std::pair<int64_t, int64_t> onnxOpsets();
/// Types of tensors, as ONNX names them.
std::vector<std::string> onnxElementTypes();

} // namespace autopar

#endif // AUTOPAR_FRONTEND_ONNXSUPPORT_H
