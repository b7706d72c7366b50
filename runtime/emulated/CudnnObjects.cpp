//===- CudnnObjects.cpp - Backend descriptors of the emulated cuDNN -------===//

#include "CudnnObjects.h"

#include <algorithm>

namespace autopar::runtime::emulated {

CudnnState &cudnnState() {
  static CudnnState state;
  return state;
}

cudnnStatus_t refuseCudnn(cudnnStatus_t status, const std::string &text) {
  cudnnState().lastText = text;
  return status;
}

cudnnStatus_t deadCudnn(const char *what) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                     std::string(what) + " is not alive");
}

cudnnStatus_t noCudnnHandle() {
  return refuseCudnn(CUDNN_STATUS_NOT_INITIALIZED, "the handle is not alive");
}

cudnnStatus_t refusePlanted(Planted kind) {
  return refuseCudnn(cudnnStatus_t(planted(kind)),
                     "a refusal that a test asked for");
}

static cudnnStatus_t bad(const std::string &text) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM, text);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// An attribute that can be set.
struct AttributeRow {
  cudnnBackendDescriptorType_t descriptor;
  cudnnBackendAttributeName_t name;
  const char *text;
  cudnnBackendAttributeType_t type;
  int64_t mostElements;
  bool required;
};
} // namespace

static constexpr int64_t many = 1 << 20, dims = 8;
#define APEMU_ROW(descriptor, name, type, most, required)                      \
  {CUDNN_BACKEND_##descriptor##_DESCRIPTOR,                                    \
   CUDNN_ATTR_##name,                                                          \
   #name,                                                                      \
   CUDNN_TYPE_##type,                                                          \
   most,                                                                       \
   required}
#define APEMU_CONVOLUTION(name, type)                                          \
  APEMU_ROW(OPERATION_CONVOLUTION_FORWARD,                                     \
            OPERATION_CONVOLUTION_FORWARD_##name, type, 1, true)
#define APEMU_POINTWISE(name, required)                                        \
  APEMU_ROW(OPERATION_POINTWISE, OPERATION_POINTWISE_##name,                   \
            BACKEND_DESCRIPTOR, 1, required)
static constexpr AttributeRow attributeRows[] = {
    APEMU_ROW(TENSOR, TENSOR_UNIQUE_ID, INT64, 1, true),
    APEMU_ROW(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE, 1, true),
    APEMU_ROW(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64, 1, true),
    APEMU_ROW(TENSOR, TENSOR_DIMENSIONS, INT64, dims, true),
    APEMU_ROW(TENSOR, TENSOR_STRIDES, INT64, dims, true),
    APEMU_ROW(TENSOR, TENSOR_IS_VIRTUAL, BOOLEAN, 1, false),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, true),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, true),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_SPATIAL_DIMS, INT64, 1, true),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_DILATIONS, INT64, dims, true),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_FILTER_STRIDES, INT64, dims, true),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_PRE_PADDINGS, INT64, dims, true),
    APEMU_ROW(CONVOLUTION, CONVOLUTION_POST_PADDINGS, INT64, dims, true),
    APEMU_CONVOLUTION(CONV_DESC, BACKEND_DESCRIPTOR),
    APEMU_CONVOLUTION(X, BACKEND_DESCRIPTOR),
    APEMU_CONVOLUTION(W, BACKEND_DESCRIPTOR),
    APEMU_CONVOLUTION(Y, BACKEND_DESCRIPTOR),
    APEMU_CONVOLUTION(ALPHA, FLOAT),
    APEMU_CONVOLUTION(BETA, FLOAT),
    APEMU_ROW(POINTWISE, POINTWISE_MODE, POINTWISE_MODE, 1, true),
    APEMU_ROW(POINTWISE, POINTWISE_MATH_PREC, DATA_TYPE, 1, true),
    APEMU_POINTWISE(PW_DESCRIPTOR, true),
    APEMU_POINTWISE(XDESC, true),
    APEMU_POINTWISE(BDESC, false),
    APEMU_POINTWISE(YDESC, true),
    APEMU_ROW(OPERATIONGRAPH, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, many,
              true),
    APEMU_ROW(OPERATIONGRAPH, OPERATIONGRAPH_HANDLE, HANDLE, 1, true),
    APEMU_ROW(ENGINEHEUR, ENGINEHEUR_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1,
              true),
    APEMU_ROW(ENGINEHEUR, ENGINEHEUR_MODE, HEUR_MODE, 1, true),
    APEMU_ROW(EXECUTION_PLAN, EXECUTION_PLAN_HANDLE, HANDLE, 1, true),
    APEMU_ROW(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR,
              1, false),
    APEMU_ROW(EXECUTION_PLAN, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, many,
              false),
    APEMU_ROW(VARIANT_PACK, VARIANT_PACK_UNIQUE_IDS, INT64, many, true),
    APEMU_ROW(VARIANT_PACK, VARIANT_PACK_DATA_POINTERS, VOID_PTR, many, true),
    APEMU_ROW(VARIANT_PACK, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, false),
};
#undef APEMU_POINTWISE
#undef APEMU_CONVOLUTION
#undef APEMU_ROW

static size_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_BOOLEAN:
  case CUDNN_TYPE_CHAR:
    return 1;
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
    return 8;
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return sizeof(void *);
  default: // enumerations and floats
    return 4;
  }
}

cudnnStatus_t setCudnnAttribute(CudnnObject &object,
                                cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, int64_t count,
                                const void *elements) {
  if (object.isFinal)
    return refuseCudnn(CUDNN_STATUS_NOT_INITIALIZED,
                       "an attribute is set of a descriptor that is final");
  const AttributeRow *row =
      std::find_if(std::begin(attributeRows), std::end(attributeRows),
                   [&](const AttributeRow &each) {
                     return each.descriptor == object.type && each.name == name;
                   });
  if (row == std::end(attributeRows))
    return bad("attribute " + std::to_string(name) +
               " is none of a descriptor of type " +
               std::to_string(object.type));
  if (row->type != type)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                       std::string(row->text) + " is given another type");
  if (count < 1 || count > row->mostElements)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND,
                       std::string(row->text) + " is given " +
                           std::to_string(count) + " elements");
  if (!elements)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                       std::string(row->text) + " is given a null pointer");
  const char *bytes = static_cast<const char *>(elements);
  object.attributes[name] = {
      count, std::vector<char>(bytes, bytes + size_t(count) * sizeOf(type))};
  return CUDNN_STATUS_SUCCESS;
}

std::string missingCudnnAttribute(const CudnnObject &object) {
  for (const AttributeRow &row : attributeRows)
    if (row.descriptor == object.type && row.required &&
        object.attributes.find(row.name) == object.attributes.end())
      return row.text;
  return "";
}

} // namespace autopar::runtime::emulated
