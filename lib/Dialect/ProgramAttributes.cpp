//===- ProgramAttributes.cpp - Verifiers of a manifest's rows -------------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

using EmitError = function_ref<InFlightDiagnostic()>;

/// Names in a program are there to be found again.
static LogicalResult verifyName(EmitError emitError, StringAttr name) {
  return name.empty() ? emitError() << "has no name" : success();
}

static LogicalResult verifyNotNegative(EmitError emitError, StringRef what,
                                       int64_t number) {
  return number < 0 ? emitError() << "has " << what << " " << number
                    : success();
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

LogicalResult FixedInputAttr::verify(EmitError emitError, StringAttr name,
                                     StringAttr, DenseElementsAttr) {
  return verifyName(emitError, name);
}

LogicalResult CheckAttr::verify(EmitError emitError, StringAttr output,
                                StringAttr, ArrayAttr places) {
  if (places && !llvm::all_of(places, llvm::IsaPred<StringAttr>))
    return emitError() << "has places " << places << ", which are no texts";
  return verifyName(emitError, output);
}

/// Each dimension of the part lies within the input's.
static LogicalResult verifyPart(EmitError emitError, ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> starts,
                                ArrayRef<int64_t> sizes) {
  bool fits = starts.size() == shape.size() && sizes.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = starts[d] >= 0 && sizes[d] >= 0 && sizes[d] <= shape[d] &&
           starts[d] <= shape[d] - sizes[d];
  if (fits)
    return success();
  return emitError() << "has starts [" << starts << "] and sizes [" << sizes
                     << "], which are no part of an input of shape [" << shape
                     << "]";
}

LogicalResult IndexBoundAttr::verify(EmitError emitError, StringAttr input,
                                     StringAttr table, IntegerAttr dim,
                                     StringAttr text, int64_t size, IntegerAttr,
                                     DenseI64ArrayAttr shape,
                                     DenseI64ArrayAttr starts,
                                     DenseI64ArrayAttr sizes) {
  if (bool(table) == bool(text) || bool(table) != bool(dim))
    return emitError() << "has to have either table and dim, or text";
  if (failed(verifyName(emitError, input)) ||
      failed(verifyNotNegative(emitError, "size", size)))
    return failure();
  return verifyPart(emitError, shape, starts, sizes);
}

LogicalResult HyperparameterAttr::verify(EmitError emitError, StringAttr name,
                                         FloatAttr least, FloatAttr above,
                                         FloatAttr, bool) {
  if (bool(least) == bool(above))
    return emitError() << "has to have either least or above";
  return verifyName(emitError, name);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult KnownTensorAttr::verify(EmitError emitError, StringAttr name,
                                      int64_t bytes, StringAttr) {
  if (failed(verifyNotNegative(emitError, "bytes", bytes)))
    return failure();
  return verifyName(emitError, name);
}

LogicalResult WeightFileAttr::verify(EmitError emitError, StringAttr file,
                                     StringAttr, IntegerAttr size,
                                     StringAttr structure, StringAttr content,
                                     bool made) {
  if (made && (size || structure || content))
    return emitError()
           << "is made by the compiler, and described as if it had been "
              "there";
  return verifyName(emitError, file);
}

LogicalResult MadeWeightAttr::verify(EmitError emitError, StringAttr name,
                                     int64_t offset, int64_t size) {
  if (failed(verifyNotNegative(emitError, "offset", offset)) ||
      failed(verifyNotNegative(emitError, "size", size)))
    return failure();
  return verifyName(emitError, name);
}

//===----------------------------------------------------------------------===//
// Kernels of a GPU
//===----------------------------------------------------------------------===//

LogicalResult GridKernelAttr::verify(EmitError emitError, StringAttr name,
                                     int64_t threads, int64_t sharedBytes,
                                     int64_t scalars, DenseI64ArrayAttr bytes,
                                     DenseI64ArrayAttr access) {
  if (bytes.size() != access.size())
    return emitError() << "has " << bytes.size() << " sizes and "
                       << access.size() << " accesses of buffers";
  for (auto [size, how] :
       llvm::zip_equal(bytes.asArrayRef(), access.asArrayRef()))
    if (size < 0 || how < 0 || how > 3)
      return emitError() << "has a buffer of " << size << " bytes and access "
                         << how;
  if (threads < 1)
    return emitError() << "has blocks of " << threads << " threads";
  if (failed(verifyNotNegative(emitError, "shared_bytes", sharedBytes)) ||
      failed(verifyNotNegative(emitError, "scalars", scalars)))
    return failure();
  return verifyName(emitError, name);
}

//===----------------------------------------------------------------------===//
// Arrays of rows
//===----------------------------------------------------------------------===//

namespace {
struct Rows {
  StringRef name;
  bool (*isRow)(Attribute);
  StringRef row;
};
} // namespace

template <typename RowAttr> static Rows rowsOf(StringRef name) {
  return {name, [](Attribute row) { return isa<RowAttr>(row); },
          RowAttr::getMnemonic()};
}

LogicalResult verifyRows(Operation *op, NamedAttribute attribute) {
  static const Rows table[] = {
      rowsOf<FixedInputAttr>(AutoparDialect::kFixedInputs),
      rowsOf<CheckAttr>(AutoparDialect::kChecks),
      rowsOf<IndexBoundAttr>(AutoparDialect::kIndexBounds),
      rowsOf<HyperparameterAttr>(AutoparDialect::kHyperparameters),
      rowsOf<KnownTensorAttr>(AutoparDialect::kKnownTensors),
      rowsOf<WeightFileAttr>(AutoparDialect::kWeightFiles),
      rowsOf<MadeWeightAttr>(AutoparDialect::kMadeWeights),
      rowsOf<GridKernelAttr>(AutoparDialect::kKernels)};
  for (const Rows &rows : table) {
    if (attribute.getName() != rows.name)
      continue;
    auto list = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!list || !llvm::all_of(list, rows.isRow))
      return op->emitError()
             << rows.name << " must be an array of #autopar." << rows.row;
  }
  return success();
}

} // namespace autopar
