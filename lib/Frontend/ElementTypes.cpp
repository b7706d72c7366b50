//===- ElementTypes.cpp - Types of elements, by ONNX's names --------------===//

#include "ElementTypes.h"
#include "OnnxTensor.h"
#include "autopar/Frontend/OnnxSupport.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx-ml.pb.h"

using onnx::TensorProto;

namespace autopar {

mlir::Type onnxElementType(int64_t dataType, mlir::MLIRContext *context) {
  mlir::Builder b(context);
  switch (dataType) {
  case TensorProto::FLOAT:
    return b.getF32Type();
  case TensorProto::DOUBLE:
    return b.getF64Type();
  case TensorProto::FLOAT16:
    return b.getF16Type();
  case TensorProto::BFLOAT16:
    return b.getBF16Type();
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::INT8:
  case TensorProto::INT16:
  case TensorProto::INT32:
  case TensorProto::INT64:
    return b.getIntegerType(8 * onnxElementBytes(int32_t(dataType)));
  case TensorProto::UINT8:
  case TensorProto::UINT16:
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return b.getIntegerType(8 * onnxElementBytes(int32_t(dataType)), false);
  default:
    return {};
  }
}

std::string onnxElementText(mlir::Type element) {
  for (int type = TensorProto::DataType_MIN; type <= TensorProto::DataType_MAX;
       ++type)
    if (onnxElementType(type, element.getContext()) == element)
      return onnxElementName(type).str();
  return "unknown";
}

std::vector<std::string> onnxElementTypes() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> names;
  for (int type = TensorProto::DataType_MIN; type <= TensorProto::DataType_MAX;
       ++type)
    if (TensorProto::DataType_IsValid(type) && onnxElementType(type, &context))
      names.push_back(onnxElementName(type).str());
  return names;
}

std::string elementText(OnnxNode &node, unsigned input) {
  return onnxElementText(OnnxNode::elementOf(node.input(input)));
}

mlir::LogicalResult wrongElement(OnnxNode &node, unsigned input,
                                 const llvm::Twine &what) {
  return node.error("its input " + llvm::Twine(input) + " " + what +
                    "; it is " + elementText(node, input));
}

mlir::LogicalResult differentElements(OnnxNode &node, unsigned a, unsigned b) {
  return node.error("its inputs " + llvm::Twine(a) + " and " + llvm::Twine(b) +
                    " have different element types: " + elementText(node, a) +
                    " and " + elementText(node, b));
}

} // namespace autopar
