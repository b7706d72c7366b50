//===- OnnxOps.cpp - The table of ONNX operators --------------------------===//

#include "OnnxOps.h"
#include "OpLimits.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Frontend/OnnxSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace autopar {

static ArrayRef<OnnxOp> (*const kTables[])() = {
    elementwiseOps,    activationOps,
    contractionOps,    attentionOps,
    windowOps,         convTransposeOps,
    reductionOps,      batchNormalizationOps,
    normalizationOps,  shapeOps,
    sequenceOps,       indexingOps,
    sourceOps,         selectionOps,
    resizeOps,         scatterOps,
    mathOps,           poolOps,
    recurrentOps,      controlOps,
    randomOps,         quantizedOps,
    integerProductOps, samplingOps,
    regionOps,         lossOps,
    signalOps,         tableOps,
    unpoolOps,         linearAttentionOps,
    flexAttentionOps};

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

std::vector<OnnxOpSupport> onnxOpSupport() {
  std::vector<OnnxOpSupport> support;
  for (const auto &entry : index()) {
    OnnxOpSupport &op = support.emplace_back();
    op.name = entry.first();
    op.leftOut = leftOutOf(op.name);
    for (const OnnxOp *row : entry.second)
      append_range(op.versions, versions(*row));
  }
  llvm::sort(support, [](const OnnxOpSupport &a, const OnnxOpSupport &b) {
    return a.name < b.name;
  });
  for (const OpAndReason &row : unsupportedOps())
    support.push_back({row.name, {}, row.reason});
  return support;
}

std::pair<int64_t, int64_t> onnxOpsets() {
  return {kOldestOpset, kNewestOpset};
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
