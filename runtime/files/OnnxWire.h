//===- OnnxWire.h - Fields of a serialized ONNX model -----------*- C++ -*-===//
//
// The compiler, which skips weights, and the runtime, which finds them by name,
// walk a model's message with these; every length is checked.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_FILES_ONNXWIRE_H
#define AUTOPAR_RUNTIME_FILES_ONNXWIRE_H

#include <cstdint>
#include <string_view>

namespace autopar::runtime::onnx_wire {

enum WireType { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

/// Field numbers of onnx-ml.proto on the way to tensor data.
enum ModelField { ModelGraph = 7 };
enum GraphField { GraphNode = 1, GraphInitializer = 5 };
enum NodeField { NodeOutput = 2, NodeOpType = 4, NodeAttribute = 5 };
enum AttributeField { AttributeName = 1, AttributeTensor = 5 };
enum TensorField {
  TensorDims = 1,
  TensorDataType = 2,
  TensorFloats = 4,
  TensorInt32s = 5,
  TensorInt64s = 7,
  TensorName = 8,
  TensorRaw = 9,
  TensorDoubles = 10,
  TensorUint64s = 11,
  TensorExternal = 13,
  TensorLocation = 14
};
enum EntryField { EntryKey = 1, EntryValue = 2 };

/// One field of a message.
struct FieldRef {
  uint64_t number = 0;
  unsigned wireType = 0;
  uint64_t value = 0;       // of a Varint
  std::string_view whole;   // tag, length and payload
  std::string_view payload; // of the other types
};

/// Takes a varint from the front of `rest`; false if it is cut or too long.
inline bool takeVarint(std::string_view &rest, uint64_t &value) {
  value = 0;
  for (unsigned i = 0; i < 10 && i < rest.size(); ++i) {
    auto byte = static_cast<unsigned char>(rest[i]);
    value |= uint64_t(byte & 0x7f) << (7 * i);
    if (byte & 0x80)
      continue;
    rest.remove_prefix(i + 1);
    return true;
  }
  return false;
}

/// The most bytes of a field before its payload.
constexpr unsigned kMostHead = 20;

/// Takes the head of a field from the front of `rest`, which is not empty:
/// number and type, the value of a Varint, else the length of the payload that
/// follows. What is wrong with it, or null.
inline const char *takeHead(std::string_view &rest, FieldRef &field,
                            uint64_t &length) {
  uint64_t tag;
  length = 0;
  if (!takeVarint(rest, tag) || tag >> 3 == 0)
    return "a field's tag is cut off";
  field = FieldRef();
  field.number = tag >> 3;
  field.wireType = tag & 7;
  switch (field.wireType) {
  case Varint:
    if (!takeVarint(rest, field.value))
      return "a number is cut off";
    break;
  case Fixed64:
    length = 8;
    break;
  case Fixed32:
    length = 4;
    break;
  case Delimited:
    if (!takeVarint(rest, length))
      return "a field's length is cut off";
    break;
  default:
    return "a field has an unknown wire type";
  }
  return nullptr;
}

inline constexpr const char *kFieldTooLong =
    "a field reaches past the end of its message (is the file cut off?)";

/// Takes a field from the front of `rest`, which is not empty. What is wrong
/// with it, or null.
inline const char *takeField(std::string_view &rest, FieldRef &field) {
  std::string_view begin = rest;
  uint64_t length = 0;
  if (const char *fault = takeHead(rest, field, length))
    return fault;
  if (length > rest.size())
    return kFieldTooLong;
  field.payload = rest.substr(0, length);
  rest.remove_prefix(length);
  field.whole = begin.substr(0, begin.size() - rest.size());
  return nullptr;
}

} // namespace autopar::runtime::onnx_wire

#endif // AUTOPAR_RUNTIME_FILES_ONNXWIRE_H
