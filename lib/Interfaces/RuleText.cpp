//===- RuleText.cpp - Sharding rules as text ------------------------------===//

#include "autopar/Interfaces/Sharding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

static void printDim(raw_ostream &os, const DimFactors &dim) {
  if (dim.factors.empty())
    os << '-';
  interleave(dim.factors, os, "*");
  if (!dim.window)
    return;
  const Window &window = *dim.window;
  os << " window(size " << window.size << ", stride " << window.stride
     << ", dilation " << window.dilation << ", low " << window.padLow
     << ", fill " << format("%g", window.fill) << ')';
}

static void printTensors(raw_ostream &os, ArrayRef<TensorFactors> tensors) {
  os << '(';
  interleaveComma(tensors, os, [&](const TensorFactors &tensor) {
    os << '[';
    interleaveComma(tensor, os,
                    [&](const DimFactors &dim) { printDim(os, dim); });
    os << ']';
  });
  os << ')';
}

static void printFactor(raw_ostream &os, const Factor &factor) {
  os << factor.size;
  if (factor.kind == FactorKind::Decompose)
    os << " decompose";
  if (factor.kind == FactorKind::Reduce)
    os << ' ' << stringifyReduceKind(factor.reduce);
  if (factor.mask)
    os << " mask " << format("%g", *factor.mask);
}

std::string toString(const ShardingRule &rule) {
  std::string text;
  raw_string_ostream os(text);
  printTensors(os, rule.operands);
  os << " -> ";
  printTensors(os, rule.results);
  os << " {";
  interleaveComma(enumerate(rule.factors), os, [&](const auto &factor) {
    os << factor.index() << " = ";
    printFactor(os, factor.value());
  });
  os << '}';
  if (rule.passes.empty())
    return text;
  os << " passes ";
  interleaveComma(rule.passes, os, [&](const PartialPass &pass) {
    os << '(';
    interleaveComma(pass.operands, os);
    os << ") " << stringifyReduceKind(pass.kind);
  });
  return text;
}

} // namespace autopar
