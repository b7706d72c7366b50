//===- IdentifyPlan.cpp - The graph that a plan is for --------------------===//

#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "autopar/Planning/Plan/Plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace autopar {

/// Returns the kind of an op. A signature begins with the op's name:
/// `autopar.matmul{...}(...)`.
static StringRef kindOf(const GraphOp &op) {
  StringRef name = StringRef(op.facts->signature).take_while([](char c) {
    return isAlnum(c) || c == '_' || c == '.';
  });
  return name.contains('.') ? name.split('.').second : name;
}

std::string ruleWithoutSizes(const GraphOp &op) {
  std::string rule = toString(op.facts->rule); // its sizes are in braces
  return (kindOf(op) + " " + StringRef(rule).split(" {").first).str();
}

/// Returns a hash of ops, edges, element sizes and ranks. It leaves out rules,
/// which depend on sizes: a dimension of one element has no factor.
static uint64_t structureHashOf(const ModelGraph &graph) {
  std::string text;
  auto number = [&](uint64_t n) { text += std::to_string(n) + ","; };
  for (const GraphValue &value : graph.values) {
    number(unsigned(value.source));
    number(value.elementBytes);
    number(value.shape.size());
  }
  for (const GraphOp &op : graph.ops) {
    text += kindOf(op);
    for (ArrayRef<unsigned> list : {op.operands, op.results}) {
      text += ';';
      for_each(list, number);
    }
  }
  text += ';';
  for_each(graph.stepResults, number);
  for (const GraphState &state : graph.states) {
    number(state.argument);
    number(state.result);
  }
  return xxh3_64bits(text);
}

void identify(Plan &plan, const ModelGraph &graph) {
  plan.model = graph.model;
  plan.modelHash = graph.hash;
  plan.structureHash = structureHashOf(graph);
  plan.precision = graph.precision;
  plan.checksNumerics = graph.checksNumerics;
  DenseMap<const GraphOpFacts *, std::string> rules;
  for (const auto &[planned, op] : zip_equal(plan.ops, graph.ops)) {
    std::string &rule = rules[op.facts.get()];
    if (rule.empty())
      rule = ruleWithoutSizes(op);
    planned.rule = rule;
  }
}

} // namespace autopar
