//===- OnnxOps.cpp - The table of ONNX operators --------------------------===//

#include "OnnxOps.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace autopar {

static ArrayRef<OnnxOp> (*const kTables[])() = {
    elementwiseOps, activationOps,     contractionOps, attentionOps,
    windowOps,      convTransposeOps,  reductionOps,   normalizationOps,
    shapeOps,       sequenceOps,       indexingOps,    sourceOps,
    selectionOps,   resizeOps,         scatterOps,     mathOps,
    poolOps,        recurrentOps,      controlOps,     randomOps,
    quantizedOps,   integerProductOps, samplingOps,    regionOps,
    lossOps,        signalOps,         tableOps,       unpoolOps};

static SmallVector<int64_t> versions(const OnnxOp &op) {
  SmallVector<int64_t> out;
  for (StringRef text : split(op.since, ' ')) {
    int64_t version = 0;
    (void)text.getAsInteger(10, version);
    out.push_back(version);
  }
  return out;
}

/// Rows of each operator; built once, read-only afterwards.
static const StringMap<SmallVector<const OnnxOp *>> &index() {
  static const auto *map = [] {
    auto *rows = new StringMap<SmallVector<const OnnxOp *>>();
    for (auto table : kTables)
      for (const OnnxOp &op : table())
        (*rows)[op.name].push_back(&op);
    return rows;
  }();
  return *map;
}

const OnnxOp *findOnnxOp(StringRef name, int64_t opset, int64_t &version) {
  version = 0;
  auto rows = index().find(name);
  if (rows == index().end())
    return nullptr;
  const OnnxOp *found = nullptr;
  for (const OnnxOp *row : rows->second)
    for (int64_t since : versions(*row)) {
      if (since > opset)
        continue;
      found = row;
      version = since;
    }
  if (!found)
    version = versions(*rows->second.front()).front();
  return found;
}

void printOnnxOps(raw_ostream &os) {
  for (auto table : kTables)
    for (const OnnxOp &op : table()) {
      os << op.name << ";" << op.since << ";" << op.minInputs << ";";
      if (op.maxInputs == kVariadic)
        os << "-";
      else
        os << op.maxInputs;
      os << ";" << op.attributes << "\n";
    }
}

} // namespace autopar
