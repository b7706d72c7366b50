//===- ExternalData.h - Weights in files beside the model -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_EXTERNALDATA_H
#define AUTOPAR_LIB_FRONTEND_EXTERNALDATA_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class TensorProto;
}

namespace autopar {

namespace runtime {
class FileStamp;
}

/// The checked contents of a tensor's `external_data`: the file is a relative
/// path without `..`, and offset and length are not negative and do not
/// overflow.
struct ExternalPlace {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
llvm::Expected<ExternalPlace>
parseExternalPlace(const onnx::TensorProto &tensor);

/// The bytes of a file beneath `folder`. Nothing outside of the folder is ever
/// opened; symbolic and hard links are refused unless `allowLinks`, and then
/// may not lead out of the folder either. `stamp` is taken before the first
/// read.
llvm::Expected<std::vector<char>>
readBeneath(llvm::StringRef folder, llvm::StringRef file, uint64_t offset,
            uint64_t length, bool allowLinks, runtime::FileStamp &stamp);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_EXTERNALDATA_H
