//===- Repeats.cpp - Ops that run in each stage that reads them -----------===//

#include "autopar/Planning/Model/Repeats.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

void Repeats::add(ArrayRef<unsigned> makers, bool isFixed) {
  Op op;
  for (unsigned maker : makers) {
    op.repeated &= ops[maker].repeated;
    if (ops[maker].repeated)
      op.reads.push_back(maker);
  }
  op.repeated &= !isFixed;
  ops.push_back(std::move(op));
}

std::vector<StageList>
Repeats::stagesThatRun(ArrayRef<int64_t> planned,
                       ArrayRef<unsigned> returned) const {
  std::vector<StageList> stages(ops.size());
  for (unsigned op : returned)
    stages[op] = {planned[op]};
  for (size_t index = ops.size(); index-- > 0;) {
    StageList &own = stages[index];
    if (!ops[index].repeated)
      own = {planned[index]};
    llvm::sort(own);
    own.erase(llvm::unique(own), own.end());
    for (unsigned maker : ops[index].reads)
      stages[maker].append(own);
  }
  return stages;
}

void Repeats::visitNeeded(unsigned op,
                          function_ref<bool(unsigned)> enter) const {
  SmallVector<unsigned> open;
  auto visit = [&](unsigned next) {
    if (enter(next))
      open.push_back(next);
  };
  visit(op);
  while (!open.empty())
    for (unsigned maker : ops[open.pop_back_val()].reads)
      visit(maker);
}

void Repeats::makeMissing(unsigned op, function_ref<bool(unsigned)> isThere,
                          function_ref<void(unsigned)> make) const {
  SmallVector<unsigned> open{op};
  while (!open.empty()) {
    unsigned next = open.back();
    size_t ready = open.size();
    if (!isThere(next))
      for (unsigned maker : ops[next].reads)
        if (!isThere(maker))
          open.push_back(maker);
    if (open.size() != ready)
      continue;
    open.pop_back();
    if (!isThere(next))
      make(next);
  }
}

} // namespace autopar
