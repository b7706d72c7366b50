//===- OnnxIndex.cpp - Tensors of an ONNX file by their names -------------===//
//
// The file comes from outside: every length, count and place is checked. It is
// read piece by piece and not mapped, so that one that is cut off meanwhile is
// an error.
//
//===----------------------------------------------------------------------===//

#include "OnnxIndex.h"

#include "DataType.h"
#include "OnnxFields.h"

#include <algorithm>
#include <map>

namespace autopar::runtime {

using namespace onnx_wire;

/// ONNX's number of an element type, our type, and the field that holds its
/// numbers if they are not raw.
struct TypeRow {
  uint64_t onnx;
  aprt_dtype dtype;
  uint64_t field;
};
static constexpr TypeRow typeTable[] = {
    {1, APRT_F32, TensorFloats},   {2, APRT_U8, TensorInt32s},
    {3, APRT_I8, TensorInt32s},    {4, APRT_U16, TensorInt32s},
    {5, APRT_I16, TensorInt32s},   {6, APRT_I32, TensorInt32s},
    {7, APRT_I64, TensorInt64s},   {9, APRT_BOOL, TensorInt32s},
    {10, APRT_F16, TensorInt32s},  {11, APRT_F64, TensorDoubles},
    {12, APRT_U32, TensorUint64s}, {13, APRT_U64, TensorUint64s},
    {16, APRT_BF16, TensorInt32s},
};

static const TypeRow *findType(uint64_t onnx) {
  for (const TypeRow &row : typeTable)
    if (row.onnx == onnx)
      return &row;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

namespace {
/// The fields of a TensorProto as they are in the file.
struct TensorMessage {
  uint64_t type = 0;
  std::vector<int64_t> dims;
  std::string name;
  FileRange raw;
  bool hasRaw = false, isExternal = false;
  std::map<std::string, std::string> places; // of external data

  Status read(FileReader &file, FileRange message);

private:
  Status take(FileReader &file, const FileField &field);
  Status addDims(FileReader &file, const FileField &field);
  Status addPlace(FileReader &file, FileRange entry);
};
} // namespace

static Status tooManyDims() {
  return Status::error("a tensor has more than " +
                       std::to_string(APRT_MAX_DIMS) + " dimensions");
}

Status TensorMessage::addDims(FileReader &file, const FileField &field) {
  if (field.wireType == Varint)
    dims.push_back(int64_t(field.value));
  std::string packed;
  if (field.wireType == Delimited) {
    if (field.payload.size() > int64_t(APRT_MAX_DIMS) * 10)
      return tooManyDims();
    APRT_TRY(readText(file, field.payload, packed));
  }
  for (std::string_view rest = packed; !rest.empty();) {
    uint64_t dim;
    if (!takeVarint(rest, dim))
      return Status::error("a tensor's shape is cut off");
    dims.push_back(int64_t(dim));
  }
  return dims.size() > APRT_MAX_DIMS ? tooManyDims() : Status::success();
}

Status TensorMessage::addPlace(FileReader &file, FileRange entry) {
  std::string key, value;
  APRT_TRY(forEachField(file, entry, [&](const FileField &field) {
    if (field.is(EntryKey, Delimited))
      return readText(file, field.payload, key);
    if (field.is(EntryValue, Delimited))
      return readText(file, field.payload, value);
    return Status::success();
  }));
  return places.emplace(key, value).second
             ? Status::success()
             : Status::error("a place of external data is given twice");
}

Status TensorMessage::take(FileReader &file, const FileField &field) {
  if (field.number == TensorDims)
    return addDims(file, field);
  if (field.is(TensorDataType, Varint))
    type = field.value;
  if (field.is(TensorLocation, Varint))
    isExternal = field.value == 1;
  if (field.is(TensorName, Delimited))
    return readText(file, field.payload, name);
  if (field.is(TensorExternal, Delimited))
    return addPlace(file, field.payload);
  if (field.is(TensorRaw, Delimited)) {
    raw = field.payload;
    hasRaw = true;
  }
  return Status::success();
}

Status TensorMessage::read(FileReader &file, FileRange message) {
  return forEachField(
      file, message, [&](const FileField &field) { return take(file, field); });
}

/// Parses a number of bytes. Returns false if the text is not such a number.
static bool parseBytes(const std::map<std::string, std::string> &places,
                       const char *key, int64_t &value) {
  auto found = places.find(key);
  if (found == places.end())
    return true;
  const std::string &text = found->second;
  if (text.empty() || text.size() > 18 ||
      text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  value = std::stoll(text);
  return true;
}

/// Finds the bytes of a tensor of a supported type.
static const char *findPlace(const TensorMessage &parsed, FileRange message,
                             NamedTensor &tensor) {
  if (!parsed.isExternal && !parsed.hasRaw) {
    tensor.messageOffset = message.begin;
    tensor.messageBytes = message.size();
    return nullptr;
  }
  if (!parsed.isExternal) {
    tensor.offset = parsed.raw.begin;
    return parsed.raw.size() == tensor.bytes
               ? nullptr
               : "a tensor's bytes do not fit its shape";
  }
  int64_t length = tensor.bytes;
  if (!parseBytes(parsed.places, "offset", tensor.offset) ||
      !parseBytes(parsed.places, "length", length) || length != tensor.bytes)
    return "a place of external data does not fit its tensor";
  auto location = parsed.places.find("location");
  if (location == parsed.places.end() || location->second.empty())
    return "external data has no location";
  tensor.external = location->second;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// Reads numbers of one field, packed or single, as elements.
struct NumberReader {
  size_t elementBytes;
  size_t limit; // in bytes
  std::vector<char> &bytes;

  const char *append(const void *element) {
    if (bytes.size() + elementBytes > limit)
      return "a tensor holds more numbers than its shape needs";
    const char *from = static_cast<const char *>(element);
    bytes.insert(bytes.end(), from, from + elementBytes);
    return nullptr;
  }
  const char *take(const FieldRef &field) {
    if (field.wireType == Varint)
      return append(&field.value); // little-endian: the low bytes
    if (field.wireType != Delimited)
      return field.payload.size() == elementBytes
                 ? append(field.payload.data())
                 : "a number has another size than its type";
    return nullptr;
  }
  const char *takeVarints(std::string_view packed) {
    while (!packed.empty()) {
      uint64_t value;
      if (!takeVarint(packed, value))
        return "a number is cut off";
      if (const char *fault = append(&value))
        return fault;
    }
    return nullptr;
  }
  const char *takeFixed(std::string_view packed) {
    if (packed.size() % elementBytes || packed.size() > limit - bytes.size())
      return "a tensor's numbers do not fit its shape";
    bytes.insert(bytes.end(), packed.begin(), packed.end());
    return nullptr;
  }
};
} // namespace

Status readOnnxNumbers(FileReader &file, const NamedTensor &tensor,
                       std::vector<char> &bytes) {
  FileRange message = {tensor.messageOffset,
                       tensor.messageOffset + tensor.messageBytes};
  TensorMessage parsed;
  APRT_TRY(parsed.read(file, message));
  const TypeRow *row = findType(parsed.type);
  if (!row)
    return Status::error("its type is not supported");
  bool isFixed = row->field == TensorFloats || row->field == TensorDoubles;
  NumberReader reader{size_t(elementBytes(row->dtype)), size_t(tensor.bytes),
                      bytes};
  APRT_TRY(forEachField(file, message, [&](const FileField &field) -> Status {
    if (field.number != row->field)
      return Status::success();
    std::string payload;
    APRT_TRY(readText(file, field.payload, payload));
    FieldRef whole;
    whole.wireType = field.wireType;
    whole.value = field.value;
    whole.payload = payload;
    const char *fault = field.wireType != Delimited ? reader.take(whole)
                        : isFixed ? reader.takeFixed(payload)
                                  : reader.takeVarints(payload);
    return fault ? Status::error(fault) : Status::success();
  }));
  return int64_t(bytes.size()) == tensor.bytes
             ? Status::success()
             : Status::error("it holds fewer numbers than its shape needs");
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
/// Walks a graph and adds its tensors to the index.
class GraphWalker {
public:
  GraphWalker(FileReader &file, TensorIndex &index)
      : file(file), index(index) {}

  Status walk(FileRange graph) {
    return forEachField(file, graph, [&](const FileField &field) {
      if (field.is(GraphInitializer, Delimited))
        return add(field.payload, "");
      return field.is(GraphNode, Delimited) ? walkNode(field.payload)
                                            : Status::success();
    });
  }

private:
  Status add(FileRange message, std::string name);
  Status walkNode(FileRange node);
  Status readAttribute(FileRange attribute, FileRange &value);

  FileReader &file;
  TensorIndex &index;
};
} // namespace

/// Adds a tensor. If its type is not supported, the type's number becomes its
/// name, and the tensor has no bytes.
Status GraphWalker::add(FileRange message, std::string name) {
  TensorMessage parsed;
  APRT_TRY(parsed.read(file, message));
  NamedTensor tensor;
  tensor.shape = parsed.dims;
  const TypeRow *row = findType(parsed.type);
  tensor.dtype =
      row ? dtypeName(row->dtype) : "ONNX type " + std::to_string(parsed.type);
  if (row && !tensorBytes(row->dtype, tensor.shape, tensor.bytes))
    return Status::error("a tensor's shape is negative or too large");
  if (const char *fault = row ? findPlace(parsed, message, tensor) : nullptr)
    return Status::error(fault);
  if (name.empty())
    name = parsed.name;
  return index.emplace(name, std::move(tensor)).second
             ? Status::success()
             : Status::error("two tensors have one name");
}

/// Reads the tensor of an attribute with the name "value".
Status GraphWalker::readAttribute(FileRange attribute, FileRange &value) {
  std::string name;
  FileRange tensor;
  APRT_TRY(forEachField(file, attribute, [&](const FileField &field) {
    if (field.is(AttributeName, Delimited))
      return readText(file, field.payload, name);
    if (field.is(AttributeTensor, Delimited))
      tensor = field.payload;
    return Status::success();
  }));
  if (name == "value")
    value = tensor;
  return Status::success();
}

/// Adds the tensor of a node if it is a Constant.
Status GraphWalker::walkNode(FileRange node) {
  std::string type, output;
  FileRange value;
  APRT_TRY(forEachField(file, node, [&](const FileField &field) {
    if (field.is(NodeOpType, Delimited))
      return readText(file, field.payload, type);
    if (field.is(NodeOutput, Delimited))
      return readText(file, field.payload, output);
    return field.is(NodeAttribute, Delimited)
               ? readAttribute(field.payload, value)
               : Status::success();
  }));
  if (type != "Constant" || output.empty() || value.size() == 0)
    return Status::success();
  return add(value, output);
}

Status readOnnxIndex(FileReader &file, TensorIndex &index, bool &isModel) {
  isModel = false;
  // A model consists of complete fields up to the end of the file; one of them
  // is its graph.
  unsigned graphs = 0;
  FileRange graph;
  for (FileRange rest = {0, file.size()}; rest.size() > 0;) {
    FileField field;
    const char *fault = nullptr;
    APRT_TRY(takeField(file, rest, field, fault));
    if (fault)
      return Status::success();
    if (!field.is(ModelGraph, Delimited))
      continue;
    graph = field.payload;
    ++graphs;
  }
  if (graphs != 1)
    return Status::success();
  isModel = true;
  Status status = GraphWalker(file, index).walk(graph);
  return status.ok()
             ? status
             : Status::error("'" + file.path() + "': " + status.message());
}

} // namespace autopar::runtime
