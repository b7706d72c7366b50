//===- OnnxFields.h - Fields of a message in a file -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_ONNXFIELDS_H
#define AUTOPAR_RUNTIME_CORE_ONNXFIELDS_H

#include "../files/FileReader.h"
#include "../files/OnnxWire.h"
#include "Status.h"

#include <algorithm>
#include <string>

namespace autopar::runtime::onnx_wire {

/// The bytes [begin, end) of the file.
struct FileRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// One field of a message.
struct FileField {
  uint64_t number = 0;
  unsigned wireType = 0;
  uint64_t value = 0; // of a Varint
  FileRange payload;  // of the other types

  bool is(uint64_t wanted, WireType type) const {
    return number == wanted && wireType == type;
  }
};

/// Reads the field at the beginning of `message`, which is not empty, and
/// removes it. `fault` describes what is wrong with it, or is null.
inline Status takeField(FileReader &file, FileRange &message, FileField &field,
                        const char *&fault) {
  char bytes[kMostHead];
  int64_t count = std::min<int64_t>(message.size(), sizeof(bytes));
  APRT_TRY(file.read(message.begin, count, bytes));
  std::string_view rest(bytes, size_t(count));
  FieldRef head;
  uint64_t length = 0;
  fault = takeHead(rest, head, length);
  int64_t begin = message.begin + count - int64_t(rest.size());
  if (!fault && length > uint64_t(message.end - begin))
    fault = kFieldTooLong;
  if (fault)
    return Status::success();
  message.begin = begin + int64_t(length);
  field = {head.number, head.wireType, head.value, {begin, message.begin}};
  return Status::success();
}

/// Calls visit(field) for each field of a message.
template <typename Visit>
Status forEachField(FileReader &file, FileRange message, Visit visit) {
  while (message.size() > 0) {
    FileField field;
    const char *fault = nullptr;
    APRT_TRY(takeField(file, message, field, fault));
    if (fault)
      return Status::error(fault);
    APRT_TRY(visit(field));
  }
  return Status::success();
}

inline Status readText(FileReader &file, FileRange range, std::string &text) {
  text.resize(size_t(range.size()));
  return file.read(range.begin, range.size(), text.data());
}

} // namespace autopar::runtime::onnx_wire

#endif // AUTOPAR_RUNTIME_CORE_ONNXFIELDS_H
