//===- BoundValues.cpp - Values that --bind gives inputs ------------------===//

#include "BoundValues.h"
#include "autopar/Dialect/Bytes.h"
#include "core/DataType.h"
#include "core/Npy.h"
#include "files/ContentHash.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <charconv>
#include <cmath>

using namespace mlir;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

namespace autopar {

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

namespace {

/// `[[0, 1], [2, 3]]`: its shape and the texts of its elements in row-major
/// order.
struct List {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> elements;
};

/// Reads one list; false if the text is none, or is ragged.
class ListReader {
public:
  explicit ListReader(StringRef text) : rest(text.trim()) {}

  bool read(List &list) {
    return rest.starts_with("[") && readLevel(list, 0) && rest.empty();
  }

private:
  static constexpr unsigned kMaxRank = 16;

  bool take(char c) {
    rest = rest.ltrim();
    return rest.consume_front(StringRef(&c, 1));
  }
  bool readLevel(List &list, unsigned depth);
  bool readElement(List &list, unsigned depth);

  StringRef rest;
};

} // namespace

bool ListReader::readElement(List &list, unsigned depth) {
  if (list.shape.size() > depth)
    return false; // other elements of this level are lists
  StringRef element = rest.ltrim().take_until(
      [](char c) { return c == ',' || c == ']' || c == '['; });
  rest = rest.ltrim().drop_front(element.size());
  list.elements.push_back(element.trim());
  return !list.elements.back().empty();
}

bool ListReader::readLevel(List &list, unsigned depth) {
  bool isFirst = list.shape.size() == depth;
  if (depth == kMaxRank || !take('[') || (isFirst && !list.elements.empty()))
    return false;
  if (isFirst)
    list.shape.push_back(0);
  int64_t size = 0;
  if (!take(']')) {
    do {
      rest = rest.ltrim();
      bool isList = rest.starts_with("[");
      if (!(isList ? readLevel(list, depth + 1) : readElement(list, depth + 1)))
        return false;
      ++size;
    } while (take(','));
    if (!take(']'))
      return false;
  }
  if (isFirst)
    list.shape[depth] = size;
  return list.shape[depth] == size;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The numbers of an array's elements as C++ writes them shortest.
template <typename T> static std::string textOfNumber(T value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

static std::string textOfElement(aprt_dtype dtype, const char *bytes) {
  uint64_t bits = 0;
  int64_t width = runtime::elementBytes(dtype);
  std::memcpy(&bits, bytes, width);
  switch (dtype) {
  case APRT_BOOL:
    return bits ? "true" : "false";
  case APRT_U8:
  case APRT_U16:
  case APRT_U32:
  case APRT_U64:
    return textOfNumber(bits);
  case APRT_F64:
    return textOfNumber(llvm::bit_cast<double>(bits));
  case APRT_F32:
    return textOfNumber(llvm::bit_cast<float>(uint32_t(bits)));
  case APRT_F16:
  case APRT_BF16: {
    const auto &semantics =
        dtype == APRT_F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
    llvm::APFloat number(semantics, llvm::APInt(16, bits));
    return textOfNumber(float(number.convertToDouble()));
  }
  default:
    return textOfNumber(llvm::SignExtend64(bits, 8 * width));
  }
}

static std::string listOf(const runtime::Array &array, aprt_dtype dtype,
                          size_t depth, const char *&at) {
  if (depth == array.shape.size()) {
    std::string text = textOfElement(dtype, at);
    at += runtime::elementBytes(dtype);
    return text;
  }
  std::string text = "[";
  for (int64_t i = 0; i < array.shape[depth]; ++i)
    text += (i ? "," : "") + listOf(array, dtype, depth + 1, at);
  return text + "]";
}

/// A list, or of a long array `i64[1000]#hash`.
static std::string textOfArray(const runtime::Array &array) {
  int64_t elements = 1;
  for (int64_t size : array.shape)
    elements *= size;
  const char *at = array.data.data();
  // A list does not show the inner sizes if an outer size is 0.
  if (elements <= kWrittenElements && (elements > 0 || array.shape.size() == 1))
    return listOf(array, array.dtype, 0, at);
  runtime::ContentHash hash;
  hash.add(array.data.data(), array.data.size());
  return runtime::describeTensor(array.dtype, array.shape) + "#" +
         runtime::formatHash(hash.value());
}

/// The array of a `.npy` file, or the one of that name of a `.npz` file.
static Expected<runtime::Array> readArray(StringRef path, StringRef name) {
  runtime::NamedArrays arrays;
  bool isArchive = llvm::sys::path::extension(path) != ".npy";
  runtime::Status status =
      isArchive ? runtime::readNpz(path.str(), arrays)
                : runtime::readNpy(path.str(), arrays[name.str()]);
  if (status.failed())
    return createStringError(status.message());
  auto found = arrays.find(name.str());
  if (found != arrays.end())
    return std::move(found->second);
  std::string known;
  for (const auto &[other, array] : arrays)
    known += (known.empty() ? "" : ", ") + other;
  return createStringError("'" + path + "' has no array '" + name +
                           "'; it has " + (known.empty() ? "none" : known));
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// `NAME=VALUE` cut in two: names of sizes may contain `=`, values too if they
/// are paths.
static std::pair<StringRef, StringRef> cutBinding(StringRef text) {
  size_t at = text.find("=@");
  return at == StringRef::npos ? text.rsplit('=') : text.split("=@");
}

static bool isValue(StringRef text) {
  double number;
  List list;
  return text == "true" || text == "false" || !text.getAsDouble(number) ||
         ListReader(text).read(list);
}

Error ImportOptions::bind(StringRef text) {
  auto [name, value] = cutBinding(text);
  bool isFile = text.contains("=@");
  if (!isFile && value.contains('#') && value.contains('['))
    return createStringError(
        "a plan has the hash of a long value; give it with --bind " + name +
        "=@FILE, from the file that the plan was made with");
  if (name.empty() || value.empty() || (!isFile && !isValue(value)))
    return createStringError("write NAME=INT, INPUT.DIM=INT, INPUT=VALUE (a "
                             "number), INPUT=[0,2] (a list) or INPUT=@FILE (of "
                             "an .npz or .npy)");
  std::string written = value.str();
  if (isFile) {
    Expected<runtime::Array> array = readArray(value, name);
    if (!array)
      return array.takeError();
    written = textOfArray(*array);
    arrays[name.str()] = {runtime::dtypeName(array->dtype),
                          array->shape,
                          {array->data.begin(), array->data.end()}};
  }
  auto [known, isNew] = bindings.try_emplace(name.str(), written);
  if (isNew || known->second == written)
    return Error::success();
  return createStringError("'" + name + "' has two values, " + known->second +
                           " and " + written);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> shapeOfBound(const ImportOptions &options,
                                                 StringRef input) {
  if (auto array = options.arrays.find(input.str());
      array != options.arrays.end())
    return llvm::to_vector(array->second.shape);
  auto text = options.bindings.find(input.str());
  List list;
  if (text == options.bindings.end() || !ListReader(text->second).read(list))
    return std::nullopt;
  return list.shape;
}

/// Gives element `i` the value that a text says; what is wrong with the text,
/// or "".
static std::string setElement(interpreter::Tensor &tensor, int64_t i,
                              StringRef text) {
  double number = text == "true";
  bool isWord = text == "true" || text == "false";
  if (!isWord && text.getAsDouble(number))
    return "'" + text.str() + "' is no number";
  if (tensor.isFloat()) {
    tensor.set(i, number);
    return "";
  }
  int64_t integer = int64_t(isWord && number);
  uint64_t large;
  if (!isWord && text.getAsInteger(10, integer)) {
    if (text.getAsInteger(10, large) || !tensor.element().isInteger(64))
      return "'" + text.str() + "': the input holds integers";
    integer = int64_t(large);
  }
  tensor.setInt(i, integer);
  bool isNegative = text.starts_with("-") && integer != 0;
  return tensor.ints[i] == integer &&
                 !(isNegative && tensor.element().isUnsignedInteger())
             ? ""
             : "'" + text.str() + "': the input's type cannot hold it";
}

/// The runtime's name of an element type: "bool", "i64", "u8", "bf16".
static std::string dtypeOf(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  if (element.isInteger(1))
    return "bool";
  return StringRef(text).starts_with("ui") ? "u" + text.substr(2) : text;
}

static Expected<interpreter::Tensor> valueOfArray(const BoundArray &array,
                                                  RankedTensorType type) {
  interpreter::Tensor tensor(type);
  int64_t width = elementBytes(type.getElementType());
  std::string dtype = dtypeOf(type.getElementType());
  if (dtype != array.dtype)
    return createStringError("the file's array is of " + array.dtype +
                             ", the input of " + dtype +
                             "; convert it, nothing is cast here");
  for (int64_t i = 0; i < tensor.size(); ++i)
    interpreter::loadElement(
        tensor, i,
        reinterpret_cast<const uint8_t *>(array.bytes.data()) + i * width);
  return tensor;
}

Expected<interpreter::Tensor> boundValue(const ImportOptions &options,
                                         StringRef input,
                                         RankedTensorType type) {
  if (auto array = options.arrays.find(input.str());
      array != options.arrays.end())
    return valueOfArray(array->second, type);
  StringRef text = options.bindings.at(input.str());
  List list;
  if (!ListReader(text).read(list))
    list.elements = {text};
  interpreter::Tensor tensor(type);
  for (auto [i, element] : llvm::enumerate(list.elements))
    if (std::string problem = setElement(tensor, i, element); !problem.empty())
      return createStringError(problem);
  return tensor;
}

} // namespace autopar
