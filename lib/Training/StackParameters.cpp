//===- StackParameters.cpp - Packed parameters become stacks --------------===//

#include "Optimizers.h"
#include "StepFunction.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Training/Passes.h"
#include "autopar/Training/TrainedStates.h"

namespace autopar {
#define GEN_PASS_DEF_STACKPARAMETERS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {

namespace {

/// The reads of a parameter: slices of it, or of its conversion.
struct Reads {
  SmallVector<SliceOp> slices;
  SmallVector<ConvertOp> converts;
};

/// Dimension `dim` is read as pieces of `size`.
struct Pieces {
  int64_t dim, size;
};

} // namespace

/// Collects all readers of `value`. It returns false if one is of another kind.
static bool collectReads(Value value, Reads &reads) {
  for (Operation *user : value.getUsers()) {
    if (auto slice = dyn_cast<SliceOp>(user)) {
      reads.slices.push_back(slice);
      continue;
    }
    auto convert = dyn_cast<ConvertOp>(user);
    if (!convert || !collectReads(convert.getResult(), reads))
      return false;
    reads.converts.push_back(convert);
  }
  return true;
}

/// Each slice is one piece whole. A piece of one index has nothing to split.
static std::optional<Pieces> piecesOf(ArrayRef<SliceOp> slices) {
  std::optional<Pieces> pieces;
  for (SliceOp slice : slices) {
    std::optional<int64_t> dim = slice.cutDim();
    if (!dim)
      return std::nullopt;
    int64_t size = slice.getType().getDimSize(*dim);
    if (!pieces)
      pieces = Pieces{*dim, size};
    if (*dim != pieces->dim || size != pieces->size || size < 2 ||
        slice.getStarts()[*dim] % size != 0 ||
        shapeOf(slice.getInput())[*dim] % size != 0)
      return std::nullopt;
  }
  return pieces;
}

static SmallVector<int64_t> stackedShape(ArrayRef<int64_t> shape,
                                         Pieces pieces) {
  SmallVector<int64_t> stacked(shape);
  stacked[pieces.dim] = pieces.size;
  stacked.insert(stacked.begin() + pieces.dim, shape[pieces.dim] / pieces.size);
  return stacked;
}

static void setShape(Value value, ArrayRef<int64_t> shape) {
  value.setType(cast<RankedTensorType>(value.getType()).clone(shape));
}

/// The piece that the slice takes, of its stacked operand.
static void takePiece(SliceOp slice, Pieces pieces) {
  OpBuilder builder(slice);
  TensorBuilder b(builder, slice.getLoc());
  int64_t number = slice.getStarts()[pieces.dim] / pieces.size;
  Value piece = b.slice(slice.getInput(), pieces.dim, number, 1);
  slice.replaceAllUsesWith(b.reshape(piece, slice.getType().getShape()));
  slice.erase();
}

static void stack(StepFunction &step, BlockArgument argument) {
  auto source = dyn_cast_or_null<ParameterAttr>(step.source(argument));
  Reads reads;
  if (!source || !source.getFileShape().empty() ||
      !collectReads(argument, reads))
    return;
  std::optional<Pieces> pieces = piecesOf(reads.slices);
  if (!pieces)
    return;
  SmallVector<int64_t> shape(shapeOf(argument));
  SmallVector<int64_t> stacked = stackedShape(shape, *pieces);
  setShape(argument, stacked);
  for (ConvertOp convert : reads.converts)
    setShape(convert.getResult(), stacked);
  for (SliceOp slice : reads.slices)
    takePiece(slice, *pieces);
  step.setSource(argument,
                 ParameterAttr::get(source.getContext(), source.getName(),
                                    shape, source.getFile(), source.getOffset(),
                                    source.getLength(), source.getConstant()));
}

namespace {
struct StackParameters : impl::StackParametersBase<StackParameters> {
  void runOnOperation() final {
    if (auto other = getOperation()->getAttrOfType<DictionaryAttr>(
            AutoparDialect::kTrainedStates))
      return stackAs(other);
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    if (!*trained ||
        findOptimizer((*trained)->recipe.optimizer.kind)->readsDims)
      return;
    StepFunction step((*trained)->step);
    for (BlockArgument argument : step.body().getArguments())
      stack(step, argument);
    step.finish();
  }

  /// The parameters that the entry which trains them has as stacks.
  void stackAs(DictionaryAttr trained) {
    auto function = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!function)
      return;
    StepFunction step(function);
    for (BlockArgument argument : step.body().getArguments())
      if (auto source = dyn_cast_or_null<ParameterAttr>(step.source(argument)))
        if (auto type = trained.getAs<TypeAttr>(source.getName());
            type && type.getValue() != argument.getType())
          stack(step, argument);
    step.finish();
  }
};
} // namespace

} // namespace autopar
