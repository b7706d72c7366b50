//===- ExportedModule.h - The module that a file came from ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_EXPORTEDMODULE_H
#define AUTOPAR_LIB_FRONTEND_EXPORTEDMODULE_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {

/// The facts about the exported PyTorch module in the metadata of a file.
/// autopar.export_for_training lists the parameters that are trained.
/// torch.onnx.export with dynamo=True lists all parameters and buffers, and for
/// each node the module and the call that it came from.
struct ExportedModule {
  explicit ExportedModule(const onnx::ModelProto &model);

  /// Tells whether tensors are parameters, of those that the file tells it of.
  llvm::StringMap<bool> tensors;
  /// Tells whether `tensors` has all initializers of floats; otherwise the
  /// names of others are made up.
  bool tellsAll = false;
  /// The tensors that no training changes: all but parameters and running
  /// statistics.
  llvm::StringSet<> untrained;
  /// Parameters by what calls on nodes name them: p_fc_weight is fc.weight.
  llvm::StringMap<std::string> called;

private:
  void readList(llvm::StringRef text, const onnx::GraphProto &graph);
  void readSignature(llvm::StringRef text);
};

/// The value of a key of the metadata; "" if there is none.
template <typename Message>
llvm::StringRef metadataOf(const Message &message, llvm::StringRef key) {
  for (const onnx::StringStringEntryProto &entry : message.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return {};
}

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_EXPORTEDMODULE_H
