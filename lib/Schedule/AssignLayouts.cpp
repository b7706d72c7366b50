//===- AssignLayouts.cpp - Choose the layouts of buffers ------------------===//

#include "CopyKernel.h"
#include "Layouts.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/GemmLayouts.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>
#include <map>

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "autopar/Schedule/Passes.h.inc"

namespace {

using KnownLayouts = llvm::DenseMap<Value, Layout>;

/// Layouts of what passes between stages, by channel and number.
using Messages = std::map<int64_t, SmallVector<Layout>>;

/// Chooses layouts in program order: those in which each op wants its operands,
/// and those that it gives its results.
class LayoutChoice {
public:
  LayoutChoice(func::FuncOp func, Messages &messages)
      : func(func), messages(messages), table(targetTable(func)) {}
  void run();

private:
  void findImages();
  bool maybeImage(OpOperand &use);
  bool mayStayRowMajor(Operation *root);
  bool staysRowMajor(KernelOp kernel, Operation *root);
  void assign(Operation *op);
  void assignLibrary(KernelOp kernel, Operation *root);
  void assignInputs(KernelOp kernel);
  void assignLoops(KernelOp kernel);
  void keepRowsOutermost(KernelOp kernel);
  void assignCommunication(Operation *op);
  void rowMajorOperands(Operation *op);
  void want(OpOperand &operand, ArrayRef<int64_t> layout);
  /// The layout of a value that is defined before the op at hand.
  Layout layoutOf(Value value) { return *layouts.get(value); }
  bool runsAlong(Value output, Value input);
  bool mayOverwrite(KernelOp kernel, Value output, Value input);
  void keepInPlace(KernelOp kernel);

  func::FuncOp func;
  Messages &messages;
  const TargetTable &table;
  std::map<int64_t, size_t> received; // messages so far, by channel
  llvm::DenseSet<Value> images;       // see findImages
  ValueLayouts layouts;
  /// Copies made so far of a value, with their layouts.
  llvm::DenseMap<Value, SmallVector<std::pair<Layout, Value>, 1>> copies;
};
} // namespace

static Operation *yieldOf(KernelOp kernel) {
  return kernel.getBody().front().getTerminator();
}

/// Makes `operand` read a copy of its value if that has another layout.
void LayoutChoice::want(OpOperand &operand, ArrayRef<int64_t> layout) {
  Value value = operand.get();
  if (sameMemory(shapeOf(value), layoutOf(value), layout))
    return;
  for (auto &[known, copy] : copies[value])
    if (sameMemory(shapeOf(value), known, layout))
      return operand.set(copy);
  OpBuilder builder(operand.getOwner());
  KernelOp copy = createCopy(builder, value);
  ValueLayouts::set(copy, Layout(layout));
  copies[value].push_back({Layout(layout), copy.getResult(0)});
  operand.set(copy.getResult(0));
}

void LayoutChoice::rowMajorOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    want(operand, {});
}

//===----------------------------------------------------------------------===//
// What images become
//===----------------------------------------------------------------------===//

/// The op of a library kernel that cares for the layout of images.
static Operation *imageOpOf(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel || !kernel.getLibrary())
    return nullptr;
  for (Operation &inner : kernel.getBody().front())
    if (imageOperandOf(&inner))
      return &inner;
  return nullptr;
}

/// Returns whether the library has good loops for the convolution on row-major
/// images.
bool LayoutChoice::mayStayRowMajor(Operation *root) {
  std::optional<int64_t> terms = depthwiseTerms(root);
  auto type = cast<RankedTensorType>(root->getResult(0).getType());
  return terms && *terms <= table.mostRowMajorTerms &&
         type.getElementType().isF32() && type.getRank() <= 4 &&
         innermostSize(type.getShape().drop_front(2)) >= table.leastRowMajorRow;
}

/// Returns whether `use` reads the value as an image that had better have its
/// channels last. A value that is sent may be such an image in another stage.
bool LayoutChoice::maybeImage(OpOperand &use) {
  Operation *op = use.getOwner();
  if (Operation *root = imageOpOf(op); root && !mayStayRowMajor(root))
    return true;
  return isa<SendOp>(op) || llvm::any_of(op->getResults(), [&](Value result) {
           return images.contains(result);
         });
}

/// Collects the values that later ops make such images of.
void LayoutChoice::findImages() {
  for (Operation &op : llvm::reverse(func.getBody().front()))
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUses(),
                       [&](OpOperand &use) { return maybeImage(use); }))
        images.insert(result);
}

//===----------------------------------------------------------------------===//
// Inside of kernels
//===----------------------------------------------------------------------===//

/// Gives `value` the layout that `op` carries to it from a value that has one.
static void carryTo(Operation *op, Value value, KnownLayouts &known) {
  if (known.count(value) || !isa<RankedTensorType>(value.getType()))
    return;
  SmallVector<Value> others(op->getOperands());
  llvm::append_range(others, op->getResults());
  for (Value other : others) {
    auto from = known.find(other);
    if (from == known.end())
      continue;
    if (auto layout = carryLayout(op, other, from->second, value)) {
      known[value] = *layout;
      return;
    }
  }
}

/// Carries layouts to the results of the body's ops and, with `backward`, to
/// their operands. `root` carries none.
static void carryThrough(Block &body, Operation *root, bool backward,
                         KnownLayouts &known) {
  for (Operation &op : body.without_terminator())
    if (&op != root)
      for (Value result : op.getResults())
        carryTo(&op, result, known);
  if (!backward)
    return;
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (&op != root)
      for (Value operand : op.getOperands())
        carryTo(&op, operand, known);
}

/// Returns whether the convolution leaves its tensors row-major, because copies
/// before and after would cost more than channels last save.
bool LayoutChoice::staysRowMajor(KernelOp kernel, Operation *root) {
  return mayStayRowMajor(root) && !images.contains(kernel.getResult(0)) &&
         llvm::all_of(kernel.getInputs(), [&](Value input) {
           return sameMemory(shapeOf(input), layoutOf(input), {});
         });
}

/// The library takes the image, the result and what is added to it with
/// channels last, or all of them row-major. A filter's gradient is row-major
/// where the filter is.
void LayoutChoice::assignLibrary(KernelOp kernel, Operation *root) {
  Block &body = kernel.getBody().front();
  KnownLayouts known;
  SmallVector<Value, 2> images{*imageOperandOf(root)};
  size_t rank = shapeOf(root->getResult(0)).size();
  known[root->getResult(0)] = channelsLast(rank);
  if (kernel.getLibraryAttr().getKind() == CallKind::FilterGradient) {
    FilterGradient filter = *filterGradientOf(root);
    images = {filter.images.getInput(), filter.gradient.getInput()};
    known[root->getResult(0)] = batchExchanged(rank);
  }
  for (Value image : images)
    known[image] = channelsLast(rank);
  carryThrough(body, root, /*backward=*/true, known);
  Value result = yieldOf(kernel)->getOperand(0);
  if (!known.count(result))
    return rowMajorOperands(kernel);
  for (auto [operand, argument] :
       llvm::zip_equal(kernel.getInputsMutable(), body.getArguments()))
    want(operand, known.lookup(argument));
  ValueLayouts::set(kernel, known.lookup(result));
  kernel.setLibraryAttr(
      kernel.getLibraryAttr().withMemory(/*channelsLast=*/true, /*packed=*/-1));
}

/// Gives the operands of a library call the layouts that its root chooses; its
/// results are row-major.
void LayoutChoice::assignInputs(KernelOp kernel) {
  SmallVector<Layout> wanted = libraryRootOf(kernel).chooseInputLayouts(
      kernel, [&](Value value) { return layoutOf(value); });
  for (auto [operand, layout] :
       llvm::zip_equal(kernel.getInputsMutable(), wanted))
    want(operand, layout);
}

/// A kernel that reduces rows and then computes their elements goes row by row:
/// what it reads has rows outermost, or is copied.
void LayoutChoice::keepRowsOutermost(KernelOp kernel) {
  auto rank = kernel->getAttrOfType<IntegerAttr>(AutoparDialect::kRowRank);
  if (!rank)
    return;
  auto rowsOf = [&](Value value) {
    return ShapedType::getNumElements(shapeOf(value).take_front(rank.getInt()));
  };
  bool computesElements = llvm::any_of(kernel.getResults(), [&](Value result) {
    return elementsOf(result) > rowsOf(result);
  });
  for (OpOperand &input : kernel.getInputsMutable()) {
    ArrayRef<int64_t> shape = shapeOf(input.get());
    Layout wide = layoutOf(input.get());
    llvm::erase_if(wide, [&](int64_t dim) { return shape[dim] == 1; });
    bool outermost =
        std::is_partitioned(wide.begin(), wide.end(),
                            [&](int64_t dim) { return dim < rank.getInt(); });
    if (computesElements && !outermost)
      want(input, {});
  }
}

/// Loops take any layout: results follow the largest operands, those that are
/// not row-major first.
void LayoutChoice::assignLoops(KernelOp kernel) {
  keepRowsOutermost(kernel);
  Block &body = kernel.getBody().front();
  struct Source {
    Value argument;
    Layout layout;
  };
  SmallVector<Source> sources;
  int64_t largest = 1;
  for (auto [input, argument] :
       llvm::zip_equal(kernel.getInputs(), body.getArguments())) {
    sources.push_back({argument, layoutOf(input)});
    largest = std::max(largest, elementsOf(argument));
  }
  llvm::erase_if(sources, [&](const Source &source) {
    return source.layout.empty() || elementsOf(source.argument) * 2 < largest;
  });
  llvm::stable_sort(sources, [](const Source &a, const Source &b) {
    return elementsOf(a.argument) > elementsOf(b.argument);
  });
  KnownLayouts known;
  for (const Source &source : sources) {
    known.try_emplace(source.argument, source.layout);
    carryThrough(body, nullptr, /*backward=*/false, known);
  }
  SmallVector<Layout> results;
  for (Value result : yieldOf(kernel)->getOperands())
    results.push_back(known.lookup(result));
  ValueLayouts::set(kernel, results);
}

/// Returns whether a kernel that visits the elements of `output` in the order
/// of their memory visits those of `input` so too.
bool LayoutChoice::runsAlong(Value output, Value input) {
  std::optional<Layout> order =
      viewLayout(shapeOf(output), layoutOf(output), shapeOf(input));
  return order && sameMemory(shapeOf(input), *order, layoutOf(input));
}

/// Returns whether `output` may be stored over `input` as far as layouts go:
/// each element is read by all outputs before one is written over it only if
/// all of them run along the input, and a row is read before it is overwritten
/// only if rows are outermost.
bool LayoutChoice::mayOverwrite(KernelOp kernel, Value output, Value input) {
  if (kernel->hasAttr(AutoparDialect::kRowRank))
    return layoutOf(input).empty() &&
           llvm::all_of(kernel.getResults(),
                        [&](Value other) { return layoutOf(other).empty(); });
  return llvm::all_of(kernel.getResults(), [&](Value other) {
    return elementsOf(other) == elementsOf(input) && runsAlong(other, input);
  });
}

void LayoutChoice::keepInPlace(KernelOp kernel) {
  auto inPlace =
      kernel->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kInPlace);
  if (!inPlace)
    return;
  SmallVector<int64_t> inputs(inPlace.asArrayRef());
  for (auto [number, input] : llvm::enumerate(inputs))
    if (input >= 0 && !mayOverwrite(kernel, kernel.getResult(number),
                                    kernel.getInputs()[input]))
      input = -1;
  if (llvm::all_of(inputs, [](int64_t input) { return input < 0; }))
    kernel->removeAttr(AutoparDialect::kInPlace);
  else
    kernel->setAttr(AutoparDialect::kInPlace,
                    DenseI64ArrayAttr::get(func.getContext(), inputs));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Both sides of a message and of a collective have one layout.
void LayoutChoice::assignCommunication(Operation *op) {
  if (auto send = dyn_cast<SendOp>(op)) {
    messages[send.getChannel()].push_back(layoutOf(send.getInput()));
    return;
  }
  if (auto recv = dyn_cast<RecvOp>(op)) {
    ArrayRef<Layout> sent = messages[recv.getChannel()];
    size_t number = received[recv.getChannel()]++;
    if (number < sent.size())
      ValueLayouts::set(op, sent[number]);
    return;
  }
  ValueLayouts::set(op, layoutOf(op->getOperand(0)));
}

void LayoutChoice::assign(Operation *op) {
  if (loopRoleOf(op) == LoopRole::View) {
    if (!layouts.get(op->getResult(0)))
      rowMajorOperands(op);
    return;
  }
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      rowMajorOperands(op);
    else
      assignCommunication(op);
    return;
  }
  Operation *root = imageOpOf(kernel);
  if (!kernel.getLibrary())
    assignLoops(kernel);
  else if (root && table.imagesChannelsLast && !staysRowMajor(kernel, root))
    assignLibrary(kernel, root);
  else
    assignInputs(kernel);
  keepInPlace(kernel);
}

void LayoutChoice::run() {
  findImages();
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops)
    assign(op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() &&
        (isTransposing(op) || loopRoleOf(op) == LoopRole::View))
      op->erase();
}

namespace {
struct AssignLayouts : impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        functions.push_back(func);
    // Values flow to later stages only.
    llvm::stable_sort(functions, [&](func::FuncOp a, func::FuncOp b) {
      return stageOf(a) < stageOf(b);
    });
    Messages messages;
    for (func::FuncOp func : functions)
      LayoutChoice(func, messages).run();
  }
};
} // namespace
} // namespace autopar
