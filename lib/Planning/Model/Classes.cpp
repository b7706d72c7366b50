//===- Classes.cpp - Classes of repeated layers ---------------------------===//

#include "autopar/Planning/Model/Classes.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Model/Numbering.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

using Colors = std::vector<unsigned>;
using ColorKey = SmallVector<unsigned, 32>;

} // namespace

/// Sets `key` to the properties of a value by itself. An input or an output
/// (but not a gradient) has its number in `names`, too, so that each is in a
/// class of its own: inputs and outputs are few, gradients are many.
static void keyOf(const GraphValue &value, Numbering &names, ColorKey &key) {
  bool isOwn =
      (value.output && !value.isGradient) || value.source == ValueSource::Input;
  key.assign({unsigned(value.source), value.output, value.setup,
              value.persistent, value.isNext, value.isGradient,
              value.isNarrowSum, unsigned(value.elementBytes), isOwn});
  if (isOwn)
    key.push_back(names(value.name));
  for (uint64_t size : value.shape)
    key.append({unsigned(size), unsigned(size >> 32)});
}

static size_t refineOps(const ModelGraph &graph, const Colors &values,
                        Colors &ops) {
  Numbering number;
  ColorKey key;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    key.assign({ops[index]});
    for (unsigned operand : op.operands)
      key.push_back(values[operand]);
    for (unsigned result : op.results)
      key.push_back(values[result]);
    ops[index] = number(key);
  }
  return number.size();
}

static size_t refineValues(const ModelGraph &graph, const Colors &ops,
                           Colors &values) {
  Numbering number;
  ColorKey key;
  SmallVector<std::pair<unsigned, unsigned>, 16> users;
  for (const auto &[index, value] : enumerate(graph.values)) {
    key.assign({values[index]});
    if (value.source == ValueSource::Op) {
      key.push_back(ops[value.producer]);
      key.push_back(value.resultIndex);
    }
    users.clear();
    for (const GraphUse &use : value.uses)
      users.push_back(
          {ops[use.op], graph.ops[use.op].facts->alike[use.operand]});
    llvm::sort(users);
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (auto [op, operand] : users) {
      key.push_back(op);
      key.push_back(operand);
    }
    values[index] = number(key);
  }
  return number.size();
}

static std::vector<unsigned> firstOf(const Colors &colors) {
  std::vector<unsigned> first;
  for (const auto &[index, color] : enumerate(colors))
    if (color == first.size())
      first.push_back(index);
  return first;
}

GraphClasses classify(const ModelGraph &graph, ArrayRef<unsigned> marks,
                      ClassRounds rounds) {
  GraphClasses classes;
  Numbering likeness, names, opNumber, valueNumber;
  DenseMap<const GraphOpFacts *, unsigned> ofFacts; // many ops share facts
  for (const auto &[op, mark] : zip_equal(graph.ops, marks)) {
    auto [known, isNew] = ofFacts.try_emplace(op.facts.get(), 0);
    if (isNew)
      known->second = likeness(op.facts->likeness);
    classes.ofOp.push_back(opNumber({known->second, op.setup, mark}));
  }
  classes.kindOfOp = classes.ofOp;
  classes.kinds = opNumber.size();
  ColorKey key;
  for (const GraphValue &value : graph.values) {
    keyOf(value, names, key);
    classes.ofValue.push_back(valueNumber(key));
  }
  size_t before = 0;
  for (unsigned round = 0; round < std::max(rounds.least, rounds.most);
       ++round) {
    Colors ops = classes.ofOp, values = classes.ofValue;
    size_t valueCount = refineValues(graph, ops, values);
    size_t opCount = refineOps(graph, values, ops);
    if (valueCount + opCount == before ||
        (round >= rounds.least && opCount > rounds.mostClasses))
      break;
    before = valueCount + opCount;
    classes.ofOp = std::move(ops);
    classes.ofValue = std::move(values);
  }
  classes.firstOp = firstOf(classes.ofOp);
  classes.firstValue = firstOf(classes.ofValue);
  return classes;
}

} // namespace autopar
