//===- WireWalker.cpp - Where tensor bytes lie in an ONNX file ------------===//

#include "WireWalker.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace autopar {
namespace {

/// Data of at most this many bytes stays in the skeleton.
constexpr uint64_t kSmallData = 1024;

enum WireType { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

/// Field numbers of onnx-ml.proto on the way to tensor data.
enum Field {
  ModelGraph = 7,
  GraphNode = 1,
  GraphInitializer = 5,
  NodeAttribute = 5,
  AttributeTensor = 5,
  TensorFloats = 4,
  TensorRaw = 9,
  TensorDoubles = 10
};

/// One field of a message.
struct FieldRef {
  uint64_t number = 0;
  unsigned wireType = 0;
  StringRef whole;   // tag, length and payload
  StringRef payload; // of a Delimited field
};

Error malformed(const char *what) {
  return createStringError(inconvertibleErrorCode(), "not an ONNX model: %s",
                           what);
}

/// Reads a varint from the front of `rest`; false if it is cut or too long.
bool takeVarint(StringRef &rest, uint64_t &value) {
  value = 0;
  for (unsigned i = 0; i < 10 && i < rest.size(); ++i) {
    uint8_t byte = rest[i];
    value |= uint64_t(byte & 0x7f) << (7 * i);
    if (byte & 0x80)
      continue;
    rest = rest.drop_front(i + 1);
    return true;
  }
  return false;
}

Expected<FieldRef> takeField(StringRef &rest) {
  StringRef begin = rest;
  uint64_t tag, length = 0;
  if (!takeVarint(rest, tag) || tag >> 3 == 0)
    return malformed("a field's tag is cut off");
  FieldRef field;
  field.number = tag >> 3;
  field.wireType = tag & 7;
  switch (field.wireType) {
  case Varint:
    if (!takeVarint(rest, length))
      return malformed("a number is cut off");
    length = 0;
    break;
  case Fixed64:
    length = 8;
    break;
  case Fixed32:
    length = 4;
    break;
  case Delimited:
    if (!takeVarint(rest, length))
      return malformed("a field's length is cut off");
    break;
  default:
    return malformed("a field has an unknown wire type");
  }
  if (length > rest.size())
    return malformed("a field reaches past the end of its message (is the file "
                     "cut off?)");
  field.payload = rest.take_front(length);
  rest = rest.drop_front(length);
  field.whole = begin.take_front(rest.begin() - begin.begin());
  return field;
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

void appendDelimited(std::string &out, uint64_t number, StringRef payload) {
  appendVarint(out, number << 3 | Delimited);
  appendVarint(out, payload.size());
  out += payload;
}

DataRange::Field dataField(uint64_t number) {
  return number == TensorRaw      ? DataRange::Raw
         : number == TensorFloats ? DataRange::Floats
                                  : DataRange::Doubles;
}

bool isPlainData(const FieldRef &field) {
  return field.wireType == Delimited &&
         (field.number == TensorRaw || field.number == TensorFloats ||
          field.number == TensorDoubles);
}

class Walker {
public:
  explicit Walker(StringRef file) : file(file) {}

  Error model() {
    bool seen = false;
    return each(file, skeleton.bytes,
                [&](const FieldRef &field, std::string &out) -> Error {
                  if (field.number != ModelGraph || field.wireType != Delimited)
                    return copy(field, out);
                  if (std::exchange(seen, true))
                    return malformed("it holds two graphs");
                  return nested(field, out,
                                [&](const FieldRef &f, std::string &o) {
                                  return graphField(f, o);
                                });
                });
  }

  Skeleton skeleton;

private:
  template <typename Visit>
  Error each(StringRef message, std::string &out, Visit visit) {
    while (!message.empty()) {
      Expected<FieldRef> field = takeField(message);
      if (!field)
        return field.takeError();
      if (Error error = visit(*field, out))
        return error;
    }
    return Error::success();
  }

  template <typename Visit>
  Error nested(const FieldRef &field, std::string &out, Visit visit) {
    std::string inner;
    if (Error error = each(field.payload, inner, visit))
      return error;
    appendDelimited(out, field.number, inner);
    return Error::success();
  }

  Error copy(const FieldRef &field, std::string &out) {
    out += field.whole;
    return Error::success();
  }

  Error graphField(const FieldRef &field, std::string &out) {
    if (field.wireType != Delimited)
      return copy(field, out);
    if (field.number == GraphInitializer)
      return tensor(field, out, skeleton.initializers.emplace_back());
    if (field.number != GraphNode)
      return copy(field, out);
    unsigned attributes = 0;
    Error error =
        nested(field, out, [&](const FieldRef &f, std::string &o) -> Error {
          if (f.number != NodeAttribute || f.wireType != Delimited)
            return copy(f, o);
          return attribute(f, o, attributes++);
        });
    ++nodes;
    return error;
  }

  Error attribute(const FieldRef &field, std::string &out, unsigned index) {
    bool seen = false;
    return nested(field, out, [&](const FieldRef &f, std::string &o) -> Error {
      if (f.number != AttributeTensor || f.wireType != Delimited)
        return copy(f, o);
      if (std::exchange(seen, true))
        return malformed("an attribute holds two tensors");
      std::optional<DataRange> range;
      Error error = tensor(f, o, range);
      if (range)
        skeleton.attributes[{nodes, index}] = *range;
      return error;
    });
  }

  /// Copies a tensor; large data that lies in one run of plain bytes is left
  /// out.
  Error tensor(const FieldRef &field, std::string &out,
               std::optional<DataRange> &range) {
    SmallVector<FieldRef> fields;
    StringRef rest = field.payload;
    unsigned plain = 0, pieces = 0;
    while (!rest.empty()) {
      Expected<FieldRef> inner = takeField(rest);
      if (!inner)
        return inner.takeError();
      plain += isPlainData(*inner);
      pieces += inner->number == TensorRaw || inner->number == TensorFloats ||
                inner->number == TensorDoubles;
      fields.push_back(*inner);
    }
    std::string copied;
    for (const FieldRef &inner : fields) {
      bool known = isPlainData(inner) && plain == 1 && pieces == 1;
      if (known)
        range = DataRange{uint64_t(inner.payload.begin() - file.begin()),
                          inner.payload.size(), dataField(inner.number)};
      if (!known || inner.payload.size() <= kSmallData)
        copied += inner.whole;
    }
    appendDelimited(out, field.number, copied);
    return Error::success();
  }

  StringRef file;
  unsigned nodes = 0;
};
} // namespace

Expected<Skeleton> walkModel(StringRef file) {
  Walker walker(file);
  if (Error error = walker.model())
    return std::move(error);
  return std::move(walker.skeleton);
}

} // namespace autopar
