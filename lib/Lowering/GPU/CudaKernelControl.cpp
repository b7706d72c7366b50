//===- CudaKernelControl.cpp - Loops and branches of a kernel -------------===//

#include "CudaKernelPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar::gpu {

/// Names of the indices of loops from the outermost.
static constexpr StringRef kLoopNames = "ijklm";

/// Returns whether select(a > b, a, b) keeps the larger one; nothing if it does
/// neither.
static std::optional<bool> keepsLarger(Operation *op) {
  auto select = dyn_cast_if_present<arith::SelectOp>(op);
  Operation *compare = select ? select.getCondition().getDefiningOp() : nullptr;
  if (!compare || compare->getNumOperands() != 2 ||
      compare->getOperand(0) != select.getTrueValue() ||
      compare->getOperand(1) != select.getFalseValue())
    return std::nullopt;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare))
    return stringifyCmpFPredicate(floats.getPredicate()).contains("g");
  if (auto floats = dyn_cast<LLVM::FCmpOp>(compare))
    return stringifyFCmpPredicate(floats.getPredicate()).contains("g");
  return std::nullopt;
}

/// The stem of a name for a value that a loop carries, after the function that
/// adds it up.
static StringRef stemOfCarried(Value next) {
  Operation *op = next.getDefiningOp();
  if (auto larger = keepsLarger(op))
    return *larger ? "largest" : "smallest";
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp, math::FmaOp>(op))
    return "sum";
  if (isa_and_nonnull<arith::MulFOp, arith::MulIOp>(op))
    return "product";
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp,
                      arith::MaxUIOp>(op))
    return "largest";
  if (isa_and_nonnull<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp,
                      arith::MinUIOp>(op))
    return "smallest";
  return "result";
}

/// The variable that a loop carries from `initial` on. What nobody else uses
/// goes on under its own name.
std::string CudaKernelPrinter::carry(Value initial, Operation *op,
                                     Value carried, Value next) {
  Text begin = whole(initial);
  auto owner = dyn_cast_if_present<RegionBranchOpInterface>(
      initial.getDefiningOp() ? initial.getDefiningOp()
                              : initial.getParentBlock()->getParentOp());
  bool isVariable = owner && begin.isName() &&
                    begin.text.find('.') == std::string::npos &&
                    !begin.text.empty() && llvm::isAlpha(begin.text.front());
  bool isIndex = isa<BlockArgument>(initial) &&
                 isa<scf::ForOp>(initial.getParentBlock()->getParentOp()) &&
                 cast<BlockArgument>(initial).getArgNumber() == 0;
  if (isVariable && !isIndex && initial.hasOneUse() &&
      initial.getParentBlock() == op->getBlock()) {
    name(carried, begin.text);
    return begin.text;
  }
  std::string variable = freshName(stemOfCarried(next));
  line(*typeText(initial.getType()) + " " + variable + " = " + begin.text +
       ";");
  name(carried, variable);
  return variable;
}

/// "sum += x" for "sum = sum + x".
static std::string updateText(StringRef variable, StringRef next, Value value) {
  Operation *op = value.getDefiningOp();
  StringRef symbol = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op)   ? "+"
                     : isa_and_nonnull<arith::MulFOp, arith::MulIOp>(op) ? "*"
                                                                         : "";
  StringRef rest = next;
  if (!symbol.empty() && rest.consume_front(variable) &&
      rest.consume_front((" " + symbol + " ").str()) &&
      isa<FloatType>(value.getType()))
    return (variable + " " + symbol + "= " + rest).str();
  return (variable + " = " + next).str();
}

/// Assigns all variables at once: no value sees another variable's new
/// contents.
void CudaKernelPrinter::assign(ArrayRef<std::string> variables,
                               ValueRange values) {
  SmallVector<Text> next;
  for (Value value : values)
    next.push_back(whole(value));
  bool crosses = false;
  for (size_t early = 0; early < next.size(); ++early)
    for (size_t late = early + 1; late < next.size(); ++late)
      crosses |= next[early].text != variables[early] &&
                 mentions(next[late].text, variables[early]);
  if (crosses)
    for (auto [text, value, variable] : llvm::zip(next, values, variables)) {
      if (text.text == variable)
        continue;
      std::string kept = freshName("next");
      line("const " + *typeText(value.getType()) + " " + kept + " = " +
           text.text + ";");
      text = {kept};
    }
  for (auto [text, value, variable] : llvm::zip(next, values, variables))
    if (text.text != variable)
      line(updateText(variable, text.text, value) + ";");
}

LogicalResult CudaKernelPrinter::loop(scf::ForOp op) {
  for (Type type : op.getResultTypes())
    if (!typeText(type))
      return unknown(op);
  SmallVector<std::string> carried;
  ValueRange yielded = op.getBody()->getTerminator()->getOperands();
  for (auto [initial, argument, next] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), yielded))
    carried.push_back(carry(initial, op, argument, next));
  Text lower = lane(op.getLowerBound(), 0), upper = lane(op.getUpperBound(), 0);
  Text step = lane(op.getStep(), 0);
  flush(op);
  std::string index = loops < kLoopNames.size()
                          ? kLoopNames.substr(loops, 1).str()
                          : "index" + std::to_string(loops);
  name(op.getInductionVar(), index);
  std::string bump =
      step.text == "1" ? "++" + index : index + " += " + step.text;
  line(llvm::formatv("for ({0} {1} = {2}; {1} < {3}; {4}) {{",
                     *typeText(op.getInductionVar().getType()), index,
                     lower.text, inParentheses(upper, Binding::Sum), bump));
  ++indent, ++loops;
  if (failed(block(*op.getBody())))
    return failure();
  assign(carried, yielded);
  --indent, --loops;
  line("}");
  for (auto [result, variable] : llvm::zip(op.getResults(), carried))
    name(result, variable);
  return success();
}

/// do { before } while (condition) with what `before` hands on.
LogicalResult CudaKernelPrinter::whileLoop(scf::WhileOp op) {
  Block *before = op.getBeforeBody(), *after = op.getAfterBody();
  SmallVector<std::string> carried, handed;
  auto yield = op.getYieldOp();
  for (auto [initial, argument, next] :
       llvm::zip(op.getInits(), before->getArguments(), yield.getOperands()))
    carried.push_back(carry(initial, op, argument, next));
  for (auto [result, argument] :
       llvm::zip(op.getResults(), after->getArguments())) {
    handed.push_back(freshName("result"));
    line(*typeText(result.getType()) + " " + handed.back() + ";");
    name(result, handed.back());
    name(argument, handed.back());
  }
  flush(op);
  line("while (true) {");
  ++indent;
  if (failed(block(*before)))
    return failure();
  auto condition = op.getConditionOp();
  Text goesOn = lane(condition.getCondition(), 0);
  assign(handed, condition.getArgs());
  line("if (!" + inParentheses(goesOn, Binding::Prefix) + ")");
  line("  break;");
  if (failed(block(*after)))
    return failure();
  assign(carried, yield.getOperands());
  --indent;
  line("}");
  return success();
}

LogicalResult CudaKernelPrinter::branch(scf::IfOp op) {
  SmallVector<std::string> results;
  for (Value result : op.getResults()) {
    if (!typeText(result.getType()))
      return unknown(op);
    results.push_back(freshName("chosen"));
    line(*typeText(result.getType()) + " " + results.back() + ";");
  }
  Text condition = lane(op.getCondition(), 0);
  flush(op);
  line("if (" + condition.text + ") {");
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (region->empty())
      continue;
    Block &inside = region->front();
    bool isElse = region == &op.getElseRegion();
    if (isElse && results.empty() && llvm::hasSingleElement(inside))
      continue;
    if (isElse)
      line("} else {");
    ++indent;
    if (failed(block(inside)))
      return failure();
    assign(results, inside.getTerminator()->getOperands());
    --indent;
  }
  line("}");
  for (auto [result, variable] : llvm::zip(op.getResults(), results))
    name(result, variable);
  return success();
}

} // namespace autopar::gpu
