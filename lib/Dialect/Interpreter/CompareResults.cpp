//===- CompareResults.cpp - Whether two runs gave the same ----------------===//

#include "autopar/Dialect/Interpreter/Interpreter.h"

using namespace mlir;

namespace autopar::interpreter {

static const NamedTensor *find(ArrayRef<NamedTensor> list,
                               const NamedTensor &like) {
  for (const NamedTensor &candidate : list)
    if (candidate.name == like.name && candidate.step == like.step &&
        candidate.ofSetup == like.ofSetup &&
        candidate.value.type == like.value.type)
      return &candidate;
  return nullptr;
}

std::optional<std::string> compareResults(ArrayRef<NamedTensor> expected,
                                          ArrayRef<NamedTensor> actual,
                                          double tolerance, double scale) {
  for (const NamedTensor &result : expected)
    if (!result.ofSetup && !find(actual, result))
      return "output " + result.name + " is missing";
  for (const NamedTensor &result : actual) {
    const NamedTensor *match = find(expected, result);
    if (!match && !result.ofSetup)
      return "output " + result.name + " is new";
    if (!match)
      continue;
    if (auto difference = compare(match->value, result.value, tolerance, scale))
      return result.name + ": element " + std::to_string(difference->position) +
             " is " + std::to_string(difference->actual) + ", expected " +
             std::to_string(difference->expected);
  }
  return std::nullopt;
}

} // namespace autopar::interpreter
