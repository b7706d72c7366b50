//===- OnnxTensor.cpp - A tensor of the file, validated -------------------===//

#include "OnnxTensor.h"
#include "ExternalData.h"
#include "core/DataType.h"
#include "onnx-ml.pb.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using onnx::TensorProto;

namespace autopar {

/// ONNX's number of an element type, and the runtime's.
static constexpr std::pair<int32_t, aprt_dtype> kElementTypes[] = {
    {TensorProto::BOOL, APRT_BOOL},     {TensorProto::INT8, APRT_I8},
    {TensorProto::UINT8, APRT_U8},      {TensorProto::INT16, APRT_I16},
    {TensorProto::UINT16, APRT_U16},    {TensorProto::INT32, APRT_I32},
    {TensorProto::UINT32, APRT_U32},    {TensorProto::INT64, APRT_I64},
    {TensorProto::UINT64, APRT_U64},    {TensorProto::FLOAT16, APRT_F16},
    {TensorProto::BFLOAT16, APRT_BF16}, {TensorProto::FLOAT, APRT_F32},
    {TensorProto::DOUBLE, APRT_F64},
};

static const aprt_dtype *findDtype(int32_t dataType) {
  for (const auto &[onnx, dtype] : kElementTypes)
    if (onnx == dataType)
      return &dtype;
  return nullptr;
}

unsigned onnxElementBytes(int32_t dataType) {
  const aprt_dtype *dtype = findDtype(dataType);
  return dtype ? unsigned(runtime::elementBytes(*dtype)) : 0;
}

StringRef onnxElementDtype(int32_t dataType) {
  const aprt_dtype *dtype = findDtype(dataType);
  return dtype ? runtime::dtypeName(*dtype) : "";
}

StringRef onnxElementName(int32_t dataType) {
  if (!onnx::TensorProto_DataType_IsValid(dataType))
    return "unknown";
  return onnx::TensorProto_DataType_Name(
      static_cast<onnx::TensorProto_DataType>(dataType));
}

std::optional<uint64_t> countElements(ArrayRef<int64_t> dims,
                                      unsigned elementBytes) {
  // A dimension of zero does not excuse an overflow of the others.
  uint64_t nonZero = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return std::nullopt;
    empty |= dim == 0;
    bool overflow = false;
    nonZero = SaturatingMultiply<uint64_t>(nonZero, dim ? dim : 1, &overflow);
    if (overflow || nonZero > uint64_t(INT64_MAX) / std::max(1u, elementBytes))
      return std::nullopt;
  }
  return empty ? 0 : nonZero;
}

std::string rankFault(size_t rank) {
  if (rank <= APRT_MAX_DIMS)
    return "";
  return ("has " + Twine(rank) +
          " dimensions; inputs, outputs and parameters " + "have at most " +
          Twine(APRT_MAX_DIMS) +
          ": join some of those of size 1 in the model (Reshape)")
      .str();
}

static Error error(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

/// Number of elements in the typed field that `dataType` uses.
static uint64_t countTyped(const TensorProto &proto) {
  switch (proto.data_type()) {
  case TensorProto::FLOAT:
    return proto.float_data_size();
  case TensorProto::DOUBLE:
    return proto.double_data_size();
  case TensorProto::INT64:
    return proto.int64_data_size();
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return proto.uint64_data_size();
  default:
    return proto.int32_data_size();
  }
}

static Error placeExternal(OnnxTensor &tensor, const TensorProto &proto) {
  Expected<ExternalPlace> place = parseExternalPlace(proto);
  if (!place)
    return place.takeError();
  if (place->length.value_or(tensor.bytes) != tensor.bytes)
    return error("external data: length " + Twine(*place->length) +
                 " does not fit the shape, which needs " + Twine(tensor.bytes));
  if (place->offset > uint64_t(INT64_MAX) - tensor.bytes)
    return error("external data: offset and length overflow");
  tensor.place = OnnxTensor::External;
  tensor.file = place->file;
  tensor.offset = place->offset;
  return Error::success();
}

static Error placeInline(OnnxTensor &tensor, const TensorProto &proto,
                         std::optional<DataRange> range) {
  if (range) {
    if (range->length != tensor.bytes)
      return error("it holds " + Twine(range->length) +
                   " bytes, but its shape needs " + Twine(tensor.bytes));
    tensor.place = OnnxTensor::InFile;
    tensor.offset = range->offset;
    return Error::success();
  }
  tensor.place = OnnxTensor::InMessage;
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != tensor.bytes)
      return error("it holds " + Twine(proto.raw_data().size()) +
                   " bytes, but its shape needs " + Twine(tensor.bytes));
    return Error::success();
  }
  if (countTyped(proto) != tensor.elements)
    return error("it holds " + Twine(countTyped(proto)) +
                 " elements, but its shape needs " + Twine(tensor.elements));
  return Error::success();
}

/// The walker knows no element types: float_data of a DOUBLE is not its data.
static bool rangeHoldsType(int32_t dataType, std::optional<DataRange> range) {
  if (!range || range->field == DataRange::Raw)
    return true;
  return dataType == (range->field == DataRange::Floats ? TensorProto::FLOAT
                                                        : TensorProto::DOUBLE);
}

Expected<OnnxTensor> checkTensor(const TensorProto &proto,
                                 std::optional<DataRange> range) {
  OnnxTensor tensor;
  tensor.name = proto.name();
  tensor.dataType = proto.data_type();
  tensor.proto = &proto;
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  unsigned elementBytes = onnxElementBytes(tensor.dataType);
  if (elementBytes == 0)
    return error("element type " + onnxElementName(tensor.dataType) + " (" +
                 Twine(tensor.dataType) + ") is not supported");
  if (std::string fault = rankFault(tensor.dims.size()); !fault.empty())
    return error("it " + fault);
  std::optional<uint64_t> elements = countElements(tensor.dims, elementBytes);
  if (!elements)
    return error("its shape is negative or too large");
  tensor.elements = *elements;
  tensor.bytes = *elements * elementBytes;
  if (proto.has_segment())
    return error("it is cut into segments, which is not supported");

  if (proto.data_location() == TensorProto::EXTERNAL) {
    if (range && range->length)
      return error("it has data both in the model and outside");
    if (Error failed = placeExternal(tensor, proto))
      return std::move(failed);
    return tensor;
  }
  if (!rangeHoldsType(tensor.dataType, range))
    return error("its data is of another type than " +
                 onnxElementName(tensor.dataType));
  if (Error failed = placeInline(tensor, proto, range))
    return std::move(failed);
  return tensor;
}

template <typename Element, typename Field>
static std::vector<char> convert(const Field &field) {
  std::vector<char> bytes(field.size() * sizeof(Element));
  char *out = bytes.data();
  for (auto value : field) {
    Element element = static_cast<Element>(value);
    memcpy(out, &element, sizeof(Element));
    out += sizeof(Element);
  }
  return bytes;
}

std::vector<char> bytesInMessage(const OnnxTensor &tensor) {
  const TensorProto &proto = *tensor.proto;
  if (proto.has_raw_data())
    return {proto.raw_data().begin(), proto.raw_data().end()};
  switch (tensor.dataType) {
  case TensorProto::FLOAT:
    return convert<float>(proto.float_data());
  case TensorProto::DOUBLE:
    return convert<double>(proto.double_data());
  case TensorProto::INT64:
    return convert<int64_t>(proto.int64_data());
  case TensorProto::UINT64:
    return convert<uint64_t>(proto.uint64_data());
  case TensorProto::UINT32:
    return convert<uint32_t>(proto.uint64_data());
  case TensorProto::INT32:
    return convert<int32_t>(proto.int32_data());
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return convert<uint16_t>(proto.int32_data());
  default:
    return convert<uint8_t>(proto.int32_data());
  }
}

} // namespace autopar
