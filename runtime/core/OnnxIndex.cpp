//===- OnnxIndex.cpp - Tensors of an ONNX file by their names -------------===//
//
// The file comes from outside: every length, count and place is checked.
//
//===----------------------------------------------------------------------===//

#include "OnnxIndex.h"

#include "../files/OnnxWire.h"
#include "DataType.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

using namespace onnx_wire;

/// ONNX's number of an element type, ours, and the field that holds its numbers
/// where they are not raw.
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

/// Visits the fields of a message; what is wrong with it, or null.
template <typename Visit>
static const char *forEachField(std::string_view message, Visit visit) {
  FieldRef field;
  while (!message.empty()) {
    if (const char *fault = takeField(message, field))
      return fault;
    if (const char *fault = visit(field))
      return fault;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

/// A TensorProto as it stands.
struct TensorMessage {
  uint64_t type = 0;
  std::vector<int64_t> dims;
  std::string name;
  std::string_view raw;
  bool hasRaw = false, isExternal = false;
  std::map<std::string, std::string> places; // of external data

  const char *parse(std::string_view message);

private:
  const char *addDims(const FieldRef &field);
  const char *addPlace(std::string_view entry);
};

const char *TensorMessage::addDims(const FieldRef &field) {
  if (field.wireType == Varint)
    dims.push_back(int64_t(field.value));
  std::string_view rest = field.payload;
  while (field.wireType == Delimited && !rest.empty()) {
    uint64_t dim;
    if (!takeVarint(rest, dim))
      return "a tensor's shape is cut off";
    dims.push_back(int64_t(dim));
  }
  return dims.size() > 32 ? "a tensor has more than 32 dimensions" : nullptr;
}

const char *TensorMessage::addPlace(std::string_view entry) {
  std::string key, value;
  const char *fault = forEachField(entry, [&](const FieldRef &field) {
    if (field.wireType == Delimited && field.number == EntryKey)
      key = field.payload;
    if (field.wireType == Delimited && field.number == EntryValue)
      value = field.payload;
    return nullptr;
  });
  if (!fault && !places.emplace(key, value).second)
    return "a place of external data is given twice";
  return fault;
}

const char *TensorMessage::parse(std::string_view message) {
  return forEachField(message, [&](const FieldRef &field) -> const char * {
    if (field.number == TensorDims)
      return addDims(field);
    if (field.wireType == Varint && field.number == TensorDataType)
      type = field.value;
    if (field.wireType == Varint && field.number == TensorLocation)
      isExternal = field.value == 1;
    if (field.wireType != Delimited)
      return nullptr;
    if (field.number == TensorName)
      name = field.payload;
    if (field.number == TensorExternal)
      return addPlace(field.payload);
    if (field.number == TensorRaw) {
      raw = field.payload;
      hasRaw = true;
    }
    return nullptr;
  });
}

/// A number of bytes, as text; false if it is none.
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

/// Where the bytes of a tensor of a type that we have are.
const char *OnnxIndex::place(const TensorMessage &parsed,
                             std::string_view message, NamedTensor &tensor) {
  if (!parsed.isExternal && !parsed.hasRaw) {
    tensor.message = message;
    return nullptr;
  }
  if (!parsed.isExternal) {
    tensor.offset = parsed.raw.data() - file.data();
    return int64_t(parsed.raw.size()) == tensor.bytes
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

/// A tensor whose type we do not have keeps its number as the type's name, and
/// no bytes.
const char *OnnxIndex::add(std::string_view message, std::string name) {
  TensorMessage parsed;
  if (const char *fault = parsed.parse(message))
    return fault;
  NamedTensor tensor;
  tensor.shape = parsed.dims;
  const TypeRow *row = findType(parsed.type);
  tensor.dtype =
      row ? dtypeName(row->dtype) : "ONNX type " + std::to_string(parsed.type);
  if (row && !tensorBytes(row->dtype, tensor.shape, tensor.bytes))
    return "a tensor's shape is negative or too large";
  const char *fault = row ? place(parsed, message, tensor) : nullptr;
  if (fault)
    return fault;
  if (name.empty())
    name = parsed.name;
  return index.emplace(name, std::move(tensor)).second
             ? nullptr
             : "two tensors have one name";
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// Takes numbers of one field, packed or one by one, as elements.
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

Status OnnxIndex::convert(const NamedTensor &tensor, std::vector<char> &bytes) {
  TensorMessage parsed;
  const char *fault = parsed.parse(tensor.message);
  const TypeRow *row = findType(parsed.type);
  if (fault || !row)
    return Status::error(fault ? fault : "its type is not supported");
  bool isFixed = row->field == TensorFloats || row->field == TensorDoubles;
  NumberReader reader{size_t(elementBytes(row->dtype)), size_t(tensor.bytes),
                      bytes};
  fault = forEachField(tensor.message, [&](const FieldRef &f) -> const char * {
    if (f.number != row->field)
      return nullptr;
    if (f.wireType != Delimited)
      return reader.take(f);
    return isFixed ? reader.takeFixed(f.payload)
                   : reader.takeVarints(f.payload);
  });
  if (!fault && int64_t(bytes.size()) != tensor.bytes)
    fault = "it holds fewer numbers than its shape needs";
  return fault ? Status::error(fault) : Status::success();
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// The tensor of a Constant node, if that is what it is.
const char *OnnxIndex::walkNode(std::string_view node) {
  std::string_view type, output, value;
  const char *fault = forEachField(node, [&](const FieldRef &field) {
    if (field.wireType != Delimited)
      return static_cast<const char *>(nullptr);
    if (field.number == NodeOpType)
      type = field.payload;
    if (field.number == NodeOutput)
      output = field.payload;
    if (field.number != NodeAttribute)
      return static_cast<const char *>(nullptr);
    std::string_view name, tensor;
    const char *inner = forEachField(field.payload, [&](const FieldRef &f) {
      if (f.wireType == Delimited && f.number == AttributeName)
        name = f.payload;
      if (f.wireType == Delimited && f.number == AttributeTensor)
        tensor = f.payload;
      return static_cast<const char *>(nullptr);
    });
    if (name == "value")
      value = tensor;
    return inner;
  });
  if (fault || type != "Constant" || output.empty() || value.empty())
    return fault;
  return add(value, std::string(output));
}

const char *OnnxIndex::walkGraph(std::string_view graph) {
  return forEachField(graph, [&](const FieldRef &field) -> const char * {
    if (field.wireType != Delimited)
      return nullptr;
    if (field.number == GraphInitializer)
      return add(field.payload, "");
    return field.number == GraphNode ? walkNode(field.payload) : nullptr;
  });
}

OnnxIndex::~OnnxIndex() {
  if (mapped)
    munmap(mapped, file.size());
}

/// Maps a plain file that is not empty; null otherwise.
static void *mapFile(const std::string &path, size_t &bytes) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  void *result = nullptr;
  if (descriptor >= 0 && fstat(descriptor, &info) == 0 &&
      S_ISREG(info.st_mode) && info.st_size > 0) {
    bytes = size_t(info.st_size);
    result = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  }
  if (descriptor >= 0)
    close(descriptor);
  return result == MAP_FAILED ? nullptr : result;
}

Status OnnxIndex::open(const std::string &path, bool &isModel) {
  isModel = false;
  size_t bytes = 0;
  mapped = mapFile(path, bytes);
  if (!mapped)
    return Status::success();
  file = {static_cast<const char *>(mapped), bytes};
  // A model is whole fields to the end of the file, one of them its graph.
  unsigned graphs = 0;
  std::string_view graph;
  const char *fault = forEachField(file, [&](const FieldRef &field) {
    if (field.number == ModelGraph && field.wireType == Delimited) {
      graph = field.payload;
      ++graphs;
    }
    return static_cast<const char *>(nullptr);
  });
  if (fault || graphs != 1)
    return Status::success();
  isModel = true;
  fault = walkGraph(graph);
  return fault ? Status::error("'" + path + "': " + fault) : Status::success();
}

} // namespace autopar::runtime
