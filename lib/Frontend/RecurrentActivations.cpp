//===- RecurrentActivations.cpp - Activations of LSTM, GRU and RNN --------===//

#include "RecurrentActivations.h"
#include "ActivationFunctions.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

/// A function that the attribute `activations` names.
struct RecurrentActivation::Kind {
  StringLiteral name;
  unsigned parameters; // alpha, then beta
  float alpha, beta;   // defaults
  Value (*apply)(OnnxNode &node, Value x, double alpha, double beta);
};

namespace {

using Kind = RecurrentActivation::Kind;

template <UnaryKind kind> Value plain(OnnxNode &node, Value x, double, double) {
  return node.unary(kind, x);
}

template <Value (*function)(OnnxNode &, Value)>
Value withNone(OnnxNode &node, Value x, double, double) {
  return function(node, x);
}

template <Value (*function)(OnnxNode &, Value, double)>
Value withAlpha(OnnxNode &node, Value x, double alpha, double) {
  return function(node, x, alpha);
}

Value affineOf(OnnxNode &node, Value x, double alpha, double beta) {
  return node.binary(BinaryKind::Add, node.binary(BinaryKind::Mul, x, alpha),
                     beta);
}

Value scaledTanhOf(OnnxNode &node, Value x, double alpha, double beta) {
  Value inner = node.binary(BinaryKind::Mul, x, beta);
  return node.binary(BinaryKind::Mul, node.unary(UnaryKind::Tanh, inner),
                     alpha);
}

const Kind kActivations[] = {
    {"Sigmoid", 0, 0, 0, plain<UnaryKind::Sigmoid>},
    {"Tanh", 0, 0, 0, plain<UnaryKind::Tanh>},
    {"Relu", 0, 0, 0, plain<UnaryKind::Relu>},
    {"Softsign", 0, 0, 0, withNone<softsignOf>},
    {"Softplus", 0, 0, 0, withNone<softplusOf>},
    {"LeakyRelu", 1, 0.01f, 0, withAlpha<leakyReluOf>},
    {"ThresholdedRelu", 1, 1, 0, withAlpha<thresholdedReluOf>},
    {"Elu", 1, 1, 0, withAlpha<eluOf>},
    {"Affine", 2, 1, 0, affineOf},
    {"ScaledTanh", 2, 1, 1, scaledTanhOf},
    {"HardSigmoid", 2, 0.2f, 0.5f, hardSigmoidOf},
};

} // namespace

Value RecurrentActivation::operator()(OnnxNode &node, Value x) const {
  if (clip > 0)
    x = node.binary(BinaryKind::Max, node.binary(BinaryKind::Min, x, clip),
                    -clip);
  return kind->apply(node, x, alpha, beta);
}

FailureOr<SmallVector<RecurrentActivation>>
readActivations(OnnxNode &node, ArrayRef<StringRef> byDefault,
                int64_t directions) {
  SmallVector<StringRef> names;
  if (const onnx::AttributeProto *given = node.attribute("activations"))
    names.assign(given->strings().begin(), given->strings().end());
  for (int64_t d = 0; d < directions && !node.hasAttribute("activations"); ++d)
    llvm::append_range(names, byDefault);
  if (names.size() != byDefault.size() * directions)
    return node.error("it has " + Twine(names.size()) + " activations for " +
                      Twine(directions) + " directions; it needs " +
                      Twine(byDefault.size()) + " for each");
  SmallVector<float> alphas = node.getFloats("activation_alpha");
  SmallVector<float> betas = node.getFloats("activation_beta");
  auto take = [](SmallVector<float> &values, float otherwise) -> double {
    if (values.empty())
      return otherwise;
    float value = values.front();
    values.erase(values.begin());
    return value;
  };
  double clip = node.getFloat("clip", 0);
  SmallVector<RecurrentActivation> functions;
  for (StringRef name : names) {
    const Kind *found = llvm::find_if(kActivations, [&](const Kind &a) {
      return name.equals_insensitive(a.name);
    });
    if (found == std::end(kActivations))
      return node.error("unknown activation '" + name + "'");
    RecurrentActivation function{found, 0, 0, clip};
    if (found->parameters > 0)
      function.alpha = take(alphas, found->alpha);
    if (found->parameters > 1)
      function.beta = take(betas, found->beta);
    functions.push_back(function);
  }
  return functions;
}

} // namespace autopar
