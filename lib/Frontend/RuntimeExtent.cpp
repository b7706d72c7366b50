//===- RuntimeExtent.cpp - How much of a buffer is in use -----------------===//

#include "RuntimeExtent.h"
#include "autopar/Dialect/Interpreter/Tensor.h"
#include "autopar/Frontend/OnnxImporter.h"

using namespace mlir;
using autopar::interpreter::Tensor;
using llvm::Twine;

namespace autopar {

RuntimeExtent::RuntimeExtent(SizedSteps &sized)
    : sized(sized), builder(sized.step().getContext()),
      stateName(builder.getStringAttr(sized.growing.symbol + "/extent")) {
  func::FuncOp step = sized.step();
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Attribute source =
      StateAttr::get(builder.getContext(), stateName,
                     builder.getI64IntegerAttr(0), StateRole::Extent);
  unsigned index = step.getNumArguments();
  (void)step.insertArgument(index, type,
                            builder.getDictionaryAttr(builder.getNamedAttr(
                                AutoparDialect::kSource, source)),
                            NameLoc::get(stateName));
  extent = step.getArgument(index);
  deficit = hoisted([&](TensorBuilder &b) {
    Value size = b.splat(type, double(sized.sizes[0]));
    return b.sub(size, extent);
  });
}

Value RuntimeExtent::hoisted(llvm::function_ref<Value(TensorBuilder &)> build) {
  if (lastHoisted)
    builder.setInsertionPointAfter(lastHoisted);
  else
    builder.setInsertionPointToStart(extent.getParentBlock());
  TensorBuilder b(builder, extent.getLoc());
  Value value = build(b);
  lastHoisted = &*std::prev(builder.getInsertionPoint());
  return value;
}

Value RuntimeExtent::number(int64_t first, int64_t slope) {
  return hoisted([&](TensorBuilder &b) {
    auto type = cast<RankedTensorType>(deficit.getType());
    Value lost = slope == 1 ? deficit : b.mul(deficit, double(slope));
    Value base = b.splat(type, double(first));
    return b.sub(base, lost);
  });
}

Value RuntimeExtent::inUse(int64_t size) {
  Value &known = inUseOf[size];
  if (!known) {
    Value end = number(size, 1);
    known = hoisted([&](TensorBuilder &b) {
      Value position = b.iota({size}, b.builder.getI64Type(), 0);
      Value bound = b.broadcast(end, {size});
      return b.compare(ComparePredicate::Lt, position, bound);
    });
  }
  return known;
}

Value RuntimeExtent::masked(OpBuilder &at, Value value, int64_t dim,
                            double neutral) {
  auto type = cast<RankedTensorType>(value.getType());
  Value used = inUse(type.getDimSize(dim));
  TensorBuilder b(at, value.getLoc());
  Value condition = b.broadcast(used, type.getShape(), {dim});
  Value filled = b.splat(type, neutral);
  return b.select(condition, value, filled);
}

/// Broadcast along `dim`, of which there is one element.
static Value spreadAlong(TensorBuilder &b, Value one, RankedTensorType type,
                         int64_t dim) {
  SmallVector<int64_t> dims, shape;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim) {
      dims.push_back(i);
      shape.push_back(type.getDimSize(i));
    }
  return b.broadcast(b.reshape(one, shape), type.getShape(), dims);
}

Value RuntimeExtent::withPart(OpBuilder &at, Value all, Value part, int64_t dim,
                              int64_t begin) {
  auto type = cast<RankedTensorType>(all.getType());
  int64_t size = type.getDimSize(dim);
  int64_t rows = cast<ShapedType>(part.getType()).getDimSize(dim);
  Value first = number(begin, 1);
  Value row = hoisted([&](TensorBuilder &b) {
    Value place = b.iota({size}, b.builder.getI64Type(), 0);
    Value start = b.broadcast(first, {size});
    return b.sub(place, start);
  });
  Value isPart = hoisted([&](TensorBuilder &b) {
    Value notBefore = b.compare(ComparePredicate::Ge, row, 0);
    Value notAfter = b.compare(ComparePredicate::Lt, row, double(rows));
    return b.binary(BinaryKind::And, notBefore, notAfter);
  });
  TensorBuilder b(at, all.getLoc());
  Value placed = rows == 1 ? spreadAlong(b, part, type, dim)
                           : GatherOp::create(at, b.loc, type, part, row,
                                              Value(), dim, IntegerAttr());
  Value condition = b.broadcast(isPart, type.getShape(), {dim});
  return b.select(condition, placed, all);
}

Value RuntimeExtent::fromStart(OpBuilder &at, Value indices, int64_t size) {
  Value end = number(size, 1);
  auto type = cast<RankedTensorType>(indices.getType());
  TensorBuilder b(at, indices.getLoc());
  Value wide = b.convert(indices, at.getI64Type());
  Value ends = type.getRank() ? b.broadcast(end, type.getShape()) : end;
  Value counted = b.add(wide, ends);
  Value isNegative = b.compare(ComparePredicate::Lt, wide, 0);
  Value chosen = b.select(isNegative, counted, wide);
  return b.convert(chosen, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void RuntimeExtent::addResult(Value value, Attribute what) {
  func::FuncOp step = sized.step();
  (void)step.insertResult(step.getNumResults(), value.getType(),
                          builder.getDictionaryAttr(builder.getNamedAttr(
                              AutoparDialect::kResult, what)));
  Operation *end = step.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
  step.setType(builder.getFunctionType(
      step.getBody().front().getArgumentTypes(), end->getOperandTypes()));
}

void RuntimeExtent::addCheckedResult(Value violated, StringRef name,
                                     const Twine &message) {
  StringAttr output = builder.getStringAttr(Twine(stateName.getValue()) + name);
  addResult(violated,
            OutputAttr::get(builder.getContext(), output, OutputRole::Check));
  addCheck(sized.step()->getParentOfType<ModuleOp>(), output, message);
}

void RuntimeExtent::addResults() {
  const GrowingSize &growing = sized.growing;
  const SizedSteps::LeastExtent &least = sized.leastExtent();
  int64_t rows = sized.sizes[0] + growing.growth;
  Value next = hoisted([&](TensorBuilder &b) {
    return b.binary(BinaryKind::Add, extent, double(growing.growth));
  });
  Value isFull = hoisted([&](TensorBuilder &b) {
    return b.compare(ComparePredicate::Gt, next, double(rows));
  });
  Value isShort = hoisted([&](TensorBuilder &b) {
    return b.compare(ComparePredicate::Lt, extent, double(least.rows));
  });
  addCheckedResult(isFull, "/full",
                   "the states that grow along '" + growing.symbol +
                       "' are full: they hold " + Twine(rows) +
                       " rows (--bind " + growing.symbol + "=" + Twine(rows) +
                       ")");
  std::string tooShort = "the number of rows in use is negative";
  if (least.rows)
    tooShort = ("node '" + Twine(least.node) + "' needs " + Twine(least.rows) +
                " rows of the states that grow along '" + growing.symbol +
                "'; begin with arrays of them")
                   .str();
  addCheckedResult(isShort, "/short", tooShort);
  addResult(next, NextStateAttr::get(builder.getContext(), stateName,
                                     StateRole::Extent));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Returns whether `part` is the elements of `whole` at its indices.
static bool isPrefixOf(const Tensor &part, const Tensor &whole) {
  SmallVector<int64_t> strides = interpreter::stridesOf(whole.shape());
  bool isPrefix = true;
  interpreter::forEachIndex(
      part.shape(), [&](ArrayRef<int64_t> index, int64_t position) {
        int64_t at = 0;
        for (auto [place, stride] : llvm::zip_equal(index, strides))
          at += place * stride;
        isPrefix &= whole.getDouble(at) == part.getDouble(position);
      });
  return isPrefix;
}

static FailureOr<Sample<Tensor>>
readAll(const Sample<DenseElementsAttr> &constants) {
  Sample<Tensor> values;
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Tensor> read = interpreter::fromElements(constants[i]);
    if (failed(read))
      return failure();
    values[i] = std::move(*read);
  }
  return values;
}

FailureOr<Value>
RuntimeExtent::prefix(const Sample<DenseElementsAttr> &constants,
                      Operation *op) {
  Value first = hoisted([&](TensorBuilder &b) -> Value {
    return ConstantOp::create(b.builder, b.loc, constants[0]);
  });
  if (failed(sized.noteGrowth(first,
                              {constants[0].getType(), constants[1].getType(),
                               constants[2].getType()},
                              op->getLoc())))
    return failure();
  FailureOr<Sample<Tensor>> values = readAll(constants);
  if (failed(values) || !isPrefixOf((*values)[1], (*values)[0]) ||
      !isPrefixOf((*values)[2], (*values)[0]))
    return sized.refuse(op, "the elements of a constant operand change");
  return first;
}

FailureOr<Value>
RuntimeExtent::affine(const Sample<DenseElementsAttr> &constants,
                      Operation *op) {
  auto type = cast<RankedTensorType>(constants[0].getType());
  FailureOr<Sample<Tensor>> values = readAll(constants);
  if (failed(values) || type.getElementType().isInteger(1))
    return sized.refuse(op, "a constant operand changes");
  Tensor slopes(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    std::optional<double> slope =
        sized.slope({(*values)[0].getDouble(i), (*values)[1].getDouble(i),
                     (*values)[2].getDouble(i)});
    if (!slope)
      return sized.refuse(op, "a constant operand is not affine in it");
    slopes.set(i, *slope);
  }
  return hoisted([&](TensorBuilder &b) -> Value {
    Value first = ConstantOp::create(b.builder, b.loc, constants[0]);
    Value slope =
        ConstantOp::create(b.builder, b.loc, interpreter::toElements(slopes));
    Value lost = b.convert(deficit, type.getElementType());
    if (type.getRank() > 0)
      lost = b.broadcast(lost, type.getShape());
    Value moved = b.mul(slope, lost);
    return b.sub(first, moved);
  });
}

FailureOr<Value>
RuntimeExtent::constant(const Sample<DenseElementsAttr> &constants,
                        Operation *op) {
  SmallVector<Attribute> key(constants.begin(), constants.end());
  Value &known = constantsOf[builder.getArrayAttr(key)];
  if (known)
    return known;
  bool sameTypes = constants[0].getType() == constants[1].getType() &&
                   constants[0].getType() == constants[2].getType();
  FailureOr<Value> made =
      sameTypes ? affine(constants, op) : prefix(constants, op);
  if (succeeded(made))
    known = *made;
  return made;
}

} // namespace autopar
