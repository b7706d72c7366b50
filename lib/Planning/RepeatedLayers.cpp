//===- RepeatedLayers.cpp - Layers of a model, as they repeat -------------===//

#include "RepeatedLayers.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <map>

using namespace llvm;

namespace autopar {

static bool multipliesWeight(const ModelGraph &graph, const GraphOp &op) {
  if (op.setup || op.kernel != KernelClass::Contraction ||
      op.operands.size() != 2)
    return false;
  const GraphValue &a = graph.values[op.operands[0]];
  const GraphValue &b = graph.values[op.operands[1]];
  return (a.fromInput && b.fromParameter) || (a.fromParameter && b.fromInput);
}

namespace {

/// `count` times `period` places of a sequence, from `first` on.
struct Repeat {
  size_t first = 0, period = 0, count = 0;
  size_t covered() const { return period * count; }
};

} // namespace

/// The repeat that covers most places; the shortest period, the first place of
/// equals.
static Repeat longestRepeat(ArrayRef<unsigned> places) {
  Repeat best;
  for (size_t period = 1; period <= places.size() / 2; ++period)
    for (size_t first = 0; first + 2 * period <= places.size();) {
      size_t end = first + period;
      while (end < places.size() && places[end] == places[end - period])
        ++end;
      Repeat found{first, period, (end - first) / period};
      if (found.count > 1 && found.covered() > best.covered())
        best = found;
      first = end - period + 1;
    }
  return best;
}

/// The longest repeat, and beside it those of periods that are not much shorter
/// (an encoder's beside a decoder's), in order.
static std::vector<Repeat> allRepeats(ArrayRef<unsigned> places) {
  Repeat longest = longestRepeat(places);
  std::vector<Repeat> found;
  std::function<void(size_t, size_t)> search = [&](size_t begin, size_t end) {
    Repeat repeat = longestRepeat(places.slice(begin, end - begin));
    if (repeat.count == 0 || 2 * repeat.period < longest.period)
      return;
    repeat.first += begin;
    search(begin, repeat.first);
    found.push_back(repeat);
    search(repeat.first + repeat.covered(), end);
  };
  search(0, places.size());
  return found;
}

std::vector<SmallVector<unsigned>> repeatedLayers(const ModelGraph &graph) {
  std::map<StringRef, unsigned> kinds;
  std::vector<unsigned> ops, places;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (multipliesWeight(graph, op)) {
      ops.push_back(index);
      places.push_back(
          kinds.try_emplace(op.signature, kinds.size()).first->second);
    }
  std::vector<SmallVector<unsigned>> layers;
  for (const Repeat &repeat : allRepeats(places))
    for (size_t layer = 0; layer < repeat.count; ++layer)
      layers.emplace_back(ArrayRef(ops).slice(
          repeat.first + layer * repeat.period, repeat.period));
  return layers;
}

} // namespace autopar
