//===- MadeUpNames.h - Tensors that an exporter named -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_MADEUPNAMES_H
#define AUTOPAR_RUNTIME_FILES_MADEUPNAMES_H

#include <algorithm>
#include <string_view>

namespace autopar::runtime {

/// Whether an exporter gives such a name to a tensor that it computed, as a
/// transposed weight or a filter with a batch norm folded into it:
/// - torch.onnx.export with dynamo=True: `val_12`, `slice_3`;
/// - with dynamo=False: `onnx::MatMul_496`, `/layer/Slice_output_0`, `123`;
/// - tf2onnx: `const_fold_opt__12`.
inline bool isMadeUpName(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kWords[] = {
      "add",     "cat",     "chunk",     "clone",     "const_fold_opt_",
      "div",     "expand",  "flatten",   "getitem",   "mul",
      "permute", "reshape", "select",    "slice",     "split",
      "squeeze", "sub",     "transpose", "unsqueeze", "val",
      "view"};
  if (name.substr(0, 6) == "onnx::" || name.substr(0, 1) == "/")
    return true;
  size_t end = name.find_last_not_of(kDigits);
  if (end == std::string_view::npos)
    return !name.empty();
  return end + 1 < name.size() && name[end] == '_' &&
         std::find(std::begin(kWords), std::end(kWords), name.substr(0, end)) !=
             std::end(kWords);
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_MADEUPNAMES_H
