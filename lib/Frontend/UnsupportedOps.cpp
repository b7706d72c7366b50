//===- UnsupportedOps.cpp - Operators that no program can be made of ------===//

#include "OnnxOps.h"
#include "llvm/ADT/StringSwitch.h"

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

StringRef whyUnsupported(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("Unique", kSizes)
      .Case("NonMaxSuppression", kDetections)
      .Cases({"RandomNormal", "RandomNormalLike", "RandomUniform",
              "RandomUniformLike", "Multinomial", "Bernoulli"},
             kRandom)
      .Cases({"StringConcat", "StringSplit", "StringNormalizer",
              "RegexFullMatch", "TfIdfVectorizer"},
             kTexts)
      .Cases({"Optional", "OptionalHasElement", "OptionalGetElement"},
             kOptional)
      .Case("ImageDecoder", kImages)
      .Case("DeformConv", "its filters read at places that depend on data: "
                          "export the offsets as GridSample and a Conv")
      .Case("MaxRoiPool", "the size of its windows depends on data: export "
                          "RoiAlign, whose samples are a fixed number")
      .Default("");
}

StringRef whyUnsupportedDomain(StringRef domain) {
  return domain == "com.microsoft"
             ? ": export the model before onnxruntime optimises it, and "
               "quantize it with QuantFormat.QDQ"
             : "";
}

} // namespace autopar
