//===- OpFacts.cpp - What planning knows of an op by itself ---------------===//

#include "OpFacts.h"
#include "autopar/Cost/KernelWork.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;

namespace autopar {

static std::string describe(Operation *op, const Twine &attributes,
                            AsmState &state) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](Type type) { type.print(os, state); };
  os << op->getName() << attributes << '(';
  llvm::interleaveComma(op->getOperandTypes(), os, print);
  os << ")(";
  llvm::interleaveComma(op->getResultTypes(), os, print);
  os << ')';
  return text;
}

/// Returns the op as text with attributes and types, without names of values
/// and locations.
static std::string signatureOf(Operation *op, AsmState &state) {
  std::string attributes;
  llvm::raw_string_ostream os(attributes);
  op->getPropertiesAsAttribute().print(os, state);
  return describe(op, attributes, state);
}

static bool sameFactors(const TensorFactors &a, const TensorFactors &b) {
  return llvm::equal(a, b, [](const DimFactors &x, const DimFactors &y) {
    return x.factors == y.factors && !x.window && !y.window;
  });
}

/// Returns whether the rule splits two operands alike and allows both to be
/// partial together.
static bool areAlike(const ShardingRule &rule, unsigned a, unsigned b) {
  return sameFactors(rule.operands[a], rule.operands[b]) &&
         llvm::all_of(rule.passes, [&](const PartialPass &pass) {
           return llvm::is_contained(pass.operands, a) ==
                  llvm::is_contained(pass.operands, b);
         });
}

static SmallVector<unsigned> findAlike(Operation *op,
                                       const ShardingRule &rule) {
  SmallVector<unsigned> alike, firsts;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    auto *first = llvm::find_if(firsts, [&](unsigned other) {
      return op->getOperand(i).getType() == op->getOperand(other).getType() &&
             areAlike(rule, other, i);
    });
    alike.push_back(first == firsts.end() ? i : *first);
    if (first == firsts.end())
      firsts.push_back(i);
  }
  return alike;
}

GraphOpFacts factsOf(Operation *op, bool tf32) {
  AsmState state(op->getContext());
  GraphOpFacts facts;
  facts.signature = signatureOf(op, state);
  facts.rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  facts.flopsKind = flopsKindOf(op, tf32);
  if (auto kernel = dyn_cast<KernelOpInterface>(op)) {
    facts.kernel = kernel.getKernelClass();
    facts.flops = kernel.getFlops();
  }
  if (auto composite = dyn_cast<DecomposeOpInterface>(op))
    facts.reductions = composite.getReductionCount();
  bool moves = facts.kernel == KernelClass::Movement ||
               facts.kernel == KernelClass::None;
  facts.likeness =
      moves ? describe(op, toString(facts.rule), state) : facts.signature;
  facts.alike = findAlike(op, facts.rule);
  return facts;
}

bool isEqual(const GraphOpFacts &a, const GraphOpFacts &b) {
  return a.signature == b.signature && a.likeness == b.likeness &&
         toString(a.rule) == toString(b.rule) && a.kernel == b.kernel &&
         a.flops == b.flops && a.flopsKind == b.flopsKind &&
         a.reductions == b.reductions && a.alike == b.alike;
}

std::vector<const void *> keyOf(Operation *op) {
  std::vector<const void *> key{
      op->getName().getAsOpaquePointer(),
      op->getPropertiesAsAttribute().getAsOpaquePointer()};
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  key.push_back(nullptr);
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  return key;
}

} // namespace autopar
