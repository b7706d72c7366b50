//===- WireWalker.cpp - Where tensor bytes are in an ONNX file ------------===//

#include "WireWalker.h"
#include "files/OnnxWire.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace autopar {
namespace {

/// Data of at most this many bytes stays in the skeleton.
constexpr uint64_t kSmallData = 1024;
/// Each node and initializer of a message takes a hundred times the bytes of
/// the smallest one; large models have some 100,000.
constexpr size_t kMostParts = 1 << 22;

using namespace runtime::onnx_wire;

Error malformed(const char *what) {
  return createStringError(inconvertibleErrorCode(), "not an ONNX model: %s",
                           what);
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
    std::string_view rest = message;
    FieldRef field;
    while (!rest.empty()) {
      if (const char *fault = takeField(rest, field))
        return malformed(fault);
      if (Error error = visit(field, out))
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
    if (nodes >= kMostParts || skeleton.initializers.size() >= kMostParts)
      return createStringError(
          inconvertibleErrorCode(),
          "its graph has more than %zu nodes or initializers, which no model "
          "needs: is the file meant?",
          kMostParts);
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

  /// Copies a tensor; large data that is one run of plain bytes is left
  /// out.
  Error tensor(const FieldRef &field, std::string &out,
               std::optional<DataRange> &range) {
    SmallVector<FieldRef> fields;
    std::string_view rest = field.payload;
    unsigned plain = 0, pieces = 0;
    while (!rest.empty()) {
      FieldRef &inner = fields.emplace_back();
      if (const char *fault = takeField(rest, inner))
        return malformed(fault);
      plain += isPlainData(inner);
      pieces += inner.number == TensorRaw || inner.number == TensorFloats ||
                inner.number == TensorDoubles;
    }
    std::string copied;
    for (const FieldRef &inner : fields) {
      bool known = isPlainData(inner) && plain == 1 && pieces == 1;
      if (known)
        range = DataRange{uint64_t(inner.payload.data() - file.data()),
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
