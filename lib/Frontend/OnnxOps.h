//===- OnnxOps.h - The table of ONNX operators ------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXOPS_H
#define AUTOPAR_LIB_FRONTEND_ONNXOPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace autopar {

class OnnxNode;

/// Builds the dialect's ops of one node and sets its outputs.
using OnnxBuilder = mlir::LogicalResult (*)(OnnxNode &node);

/// No limit on the number of inputs.
constexpr unsigned kVariadic = ~0u;

/// A row of the table: an operator from one version of the standard on, until
/// the next row of that name. Versions that changed nothing but types share a
/// row: `since` lists them all, so that a version this table has not seen is
/// noticed.
struct OnnxOp {
  llvm::StringLiteral name;
  /// Space-separated versions, ascending: "6 13 14".
  llvm::StringLiteral since;
  unsigned minInputs, maxInputs;
  /// Space-separated `name:type`, `!` after a required one:
  /// "axis:int to:int!". Types: int float string tensor graph ints floats
  /// strings.
  llvm::StringLiteral attributes;
  OnnxBuilder build;
  /// Inputs before this one may be left out by an empty name.
  unsigned firstRequired = 0;
  /// Inputs may be sequences of tensors: the builder looks which are. Those of
  /// other operators are tensors.
  bool takesSequences = false;
};

/// Rows by concept; an operator's rows are in one of them, by ascending
/// version.
llvm::ArrayRef<OnnxOp> elementwiseOps();
llvm::ArrayRef<OnnxOp> activationOps();
llvm::ArrayRef<OnnxOp> contractionOps();
llvm::ArrayRef<OnnxOp> attentionOps();
llvm::ArrayRef<OnnxOp> linearAttentionOps();
llvm::ArrayRef<OnnxOp> flexAttentionOps();
llvm::ArrayRef<OnnxOp> windowOps();
llvm::ArrayRef<OnnxOp> convTransposeOps();
llvm::ArrayRef<OnnxOp> reductionOps();
llvm::ArrayRef<OnnxOp> batchNormalizationOps();
llvm::ArrayRef<OnnxOp> normalizationOps();
llvm::ArrayRef<OnnxOp> shapeOps();
llvm::ArrayRef<OnnxOp> sequenceOps();
llvm::ArrayRef<OnnxOp> indexingOps();
llvm::ArrayRef<OnnxOp> sourceOps();
llvm::ArrayRef<OnnxOp> selectionOps();
llvm::ArrayRef<OnnxOp> resizeOps();
llvm::ArrayRef<OnnxOp> scatterOps();
llvm::ArrayRef<OnnxOp> mathOps();
llvm::ArrayRef<OnnxOp> poolOps();
llvm::ArrayRef<OnnxOp> recurrentOps();
llvm::ArrayRef<OnnxOp> controlOps();
llvm::ArrayRef<OnnxOp> randomOps();
llvm::ArrayRef<OnnxOp> quantizedOps();
llvm::ArrayRef<OnnxOp> integerProductOps();
llvm::ArrayRef<OnnxOp> samplingOps();
llvm::ArrayRef<OnnxOp> regionOps();
llvm::ArrayRef<OnnxOp> lossOps();
llvm::ArrayRef<OnnxOp> signalOps();
llvm::ArrayRef<OnnxOp> tableOps();
llvm::ArrayRef<OnnxOp> unpoolOps();

/// The domain of operators that may still change. Rows name its operators with
/// the domain and a dot before.
constexpr llvm::StringLiteral kPreviewDomain = "ai.onnx.preview";

/// The oldest and newest version of the standard that the table covers.
constexpr int64_t kOldestOpset = 6, kNewestOpset = 28;

/// The row that holds for `name` in version `opset`, and which of its versions;
/// null if the operator is unknown, or began later (`version` is then its first
/// one, else 0).
const OnnxOp *findOnnxOp(llvm::StringRef name, int64_t opset, int64_t &version);

/// Why the operator is none of the table's, and what to do instead; "" if there
/// is no more to say than that.
llvm::StringRef whyUnsupported(llvm::StringRef name);
/// The advice of an error about operators of that domain, after ": "; "" if
/// there is none.
llvm::StringRef whyUnsupportedDomain(llvm::StringRef domain);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXOPS_H
