//===- UnsupportedOps.cpp - What no program can be made of ----------------===//

#include "OnnxOps.h"
#include "OpLimits.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringLiteral;
using llvm::StringRef;

namespace autopar {

static constexpr StringLiteral kSizes =
    "the size of its result depends on data: compute it outside of the model, "
    "or export the model with a result of a fixed size";
static constexpr StringLiteral kDetections =
    "how many boxes it keeps depends on data: end the model before it and "
    "select boxes outside, or export a fixed number of boxes (TopK)";
static constexpr StringLiteral kRandom =
    "its numbers are random: make them an input of the model";
static constexpr StringLiteral kTexts =
    "tensors of strings are not supported: do it outside of the model, which "
    "takes the numbers that stand for the strings";
static constexpr StringLiteral kOptional =
    "values that may be there or not are not supported: export the model for "
    "the case that is needed";
static constexpr StringLiteral kImages =
    "it decodes files: do it outside of the model, which takes the pixels";

static constexpr OpAndReason kUnsupported[] = {
    {"Bernoulli", kRandom},
    {"DeformConv", "its filters read at places that depend on data: export "
                   "the offsets as GridSample and a Conv"},
    {"ImageDecoder", kImages},
    {"MaxRoiPool", "the size of its windows depends on data: export RoiAlign, "
                   "whose samples are a fixed number"},
    {"Multinomial", kRandom},
    {"NonMaxSuppression", kDetections},
    {"Optional", kOptional},
    {"OptionalGetElement", kOptional},
    {"OptionalHasElement", kOptional},
    {"RandomNormal", kRandom},
    {"RandomNormalLike", kRandom},
    {"RandomUniform", kRandom},
    {"RandomUniformLike", kRandom},
    {"RegexFullMatch", kTexts},
    {"StringConcat", kTexts},
    {"StringNormalizer", kTexts},
    {"StringSplit", kTexts},
    {"TfIdfVectorizer", kTexts},
    {"Unique", kSizes}};

llvm::ArrayRef<OpAndReason> unsupportedOps() { return kUnsupported; }

static StringRef reasonFor(StringRef name, llvm::ArrayRef<OpAndReason> list) {
  const auto *found = llvm::find_if(
      list, [&](const OpAndReason &row) { return row.name == name; });
  return found == list.end() ? StringRef() : StringRef(found->reason);
}

StringRef whyUnsupported(StringRef name) {
  return reasonFor(name, kUnsupported);
}

static constexpr StringLiteral kShaping =
    "shapes, sizes, axes, counts and offsets that are not known while "
    "compiling: they are constants, or computed from shapes and constants";

/// The builders of OnnxOps*.cpp refuse it, with a message at the node.
static constexpr OpAndReason kLeftOut[] = {
    {"AffineGrid", kShaping},
    {"BatchNormalization",
     "training_mode without --train; spatial = 0 of versions before 9"},
    {"BlackmanWindow", kShaping},
    {"CenterCropPad", kShaping},
    {"Col2Im", kShaping},
    {"Compress", "a condition that is not known while compiling"},
    {"ConstantOfShape", kShaping},
    {"CumProd", kShaping},
    {"CumSum", kShaping},
    {"DFT", kShaping},
    {"Det", "matrices of more than 4 rows"},
    {"Dropout", "training_mode without --train; a ratio that is not known "
                "while compiling"},
    {"Expand", kShaping},
    {"HammingWindow", kShaping},
    {"HannWindow", kShaping},
    {"If", "branches of different types, or of sequences, where the condition "
           "is not known while compiling"},
    {"Loop", "trip counts and conditions that are not known while compiling"},
    {"MaxPool", "the output Indices of windows of more than 1024 elements"},
    {"MaxUnpool", kShaping},
    {"MelWeightMatrix", kShaping},
    {"NonZero", "data that are not known while compiling"},
    {"OneHot", "a depth that is not known while compiling"},
    {"Pad", kShaping},
    {"QLinearConv", "scales of type DOUBLE"},
    {"QLinearMatMul", "scales of type DOUBLE"},
    {"QuantizeLinear", "results other than integers of 8 or 16 bits"},
    {"Range", kShaping},
    {"ReduceL1", kShaping},
    {"ReduceL2", kShaping},
    {"ReduceLogSum", kShaping},
    {"ReduceLogSumExp", kShaping},
    {"ReduceMax", kShaping},
    {"ReduceMean", kShaping},
    {"ReduceMin", kShaping},
    {"ReduceProd", kShaping},
    {"ReduceSum", kShaping},
    {"ReduceSumSquare", kShaping},
    {"Reshape", kShaping},
    {"Resize", kShaping},
    {"RoiAlign", "sampling_ratio 0, as many samples as a region is large"},
    {"STFT", kShaping},
    {"Scan", "a batch dimension (version 8)"},
    {"SequenceAt", kShaping},
    {"SequenceErase", kShaping},
    {"SequenceInsert", kShaping},
    {"Slice", kShaping},
    {"Split", kShaping},
    {"SplitToSequence", kShaping},
    {"Squeeze", kShaping},
    {"Tile", kShaping},
    {"TopK", kShaping},
    {"Trilu", kShaping},
    {"Unsqueeze", kShaping},
    {"Upsample", kShaping}};

StringRef leftOutOf(StringRef name) { return reasonFor(name, kLeftOut); }

StringRef whyUnsupportedDomain(StringRef domain) {
  return domain == "com.microsoft"
             ? ": export the model before onnxruntime optimises it, and "
               "quantize it with QuantFormat.QDQ"
             : "";
}

} // namespace autopar
