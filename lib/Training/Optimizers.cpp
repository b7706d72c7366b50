//===- Optimizers.cpp - The table of optimizers ---------------------------===//
//
// The formulas and the names are those of torch.optim. LAMB is algorithm 2 of
// You et al. 2020, "Large Batch Optimization for Deep Learning", with phi the
// identity. Scalars that depend on the step are computed in f64.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Parts of updates
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

Value Update::state(StringRef name, ArrayRef<int64_t> shape, double fill) {
  return addState(name, RankedTensorType::get(shape, elementOf(parameter)),
                  fill);
}

Value Update::state(StringRef name, double fill) {
  return state(name, shapeOf(parameter), fill);
}

Value Update::spread(Value scalar) {
  return b.broadcast(b.convert(scalar, elementOf(parameter)),
                     shapeOf(parameter));
}

Value Update::average(Value old, Value value, const StepNumber &factor) {
  return b.add(mul(old, factor), mul(value, factor.restToOne(b)));
}

Value Update::correction(const StepNumber &factor) {
  Value base = factor.like(b, scalars.count);
  return b.sub(b.splatLike(base, 1),
               b.binary(BinaryKind::Pow, base, scalars.count));
}

Value Update::unlessZero(const StepNumber &number, Value value,
                         Value otherwise) {
  if (number.isKnown())
    return number.is(0) ? otherwise : value;
  Value isSet =
      b.compare(ComparePredicate::Ne, number.like(b, scalars.count), 0.0);
  return b.select(b.broadcast(isSet, shapeOf(value)), value, otherwise);
}

/// The direction upwards, or with `maximize` downwards.
static Value plainGradient(Update &u) {
  return u.recipe.flag("maximize") ? u.b.unary(UnaryKind::Neg, u.gradient)
                                   : u.gradient;
}

/// The gradient with L2 decay added.
static Value decayedGradient(Update &u) {
  Value gradient = plainGradient(u);
  if (u.weightDecay().is(0))
    return gradient;
  return u.b.add(gradient, u.mul(u.parameter, u.weightDecay()));
}

/// parameter - rate * direction.
static Value stepAlong(Update &u, Value direction) {
  return u.b.sub(u.parameter, u.b.mul(u.spread(u.scalars.rate), direction));
}

/// The parameter after decoupled decay: parameter * (1 - rate * decay).
static Value decayedParameter(Update &u) {
  if (u.weightDecay().is(0))
    return u.parameter;
  Value decay = u.mul(u.scalars.rate, u.weightDecay());
  return u.b.mul(u.parameter,
                 u.spread(u.b.sub(u.b.splatLike(decay, 1), decay)));
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Adds to what is left of the buffer. A step whose momentum is set to 0 leaves
/// the buffer as it is.
static Value accelerate(Update &u, const StepNumber &momentum, Value added) {
  Value buffer = u.state("momentum_buffer");
  Value velocity = u.b.add(u.mul(buffer, momentum), added);
  u.next("momentum_buffer", u.unlessZero(momentum, velocity, buffer));
  return velocity;
}

/// True if no step before this one has had a momentum.
static Value isFirstOfMomentum(Update &u, const StepNumber &momentum) {
  if (momentum.isKnown())
    return u.b.compare(ComparePredicate::Eq, u.scalars.count, 1.0);
  Value begun = u.state("momentum_begun", ArrayRef<int64_t>());
  u.next("momentum_begun",
         u.unlessZero(momentum, u.b.splatLike(begun, 1), begun));
  return u.b.compare(ComparePredicate::Eq, begun, 0.0);
}

/// The first step takes the gradient as momentum, without dampening.
static Value sgd(Update &u) {
  Value gradient = decayedGradient(u);
  StepNumber momentum = u.number("momentum");
  if (momentum.is(0))
    return stepAlong(u, gradient);
  Value added = gradient;
  if (StepNumber rest = u.number("dampening").restToOne(u.b); !rest.is(1)) {
    Value first = isFirstOfMomentum(u, momentum);
    Value one = u.b.splatLike(u.scalars.count, 1);
    added = u.b.mul(gradient,
                    u.spread(u.b.select(first, one, rest.like(u.b, one))));
  }
  Value velocity = accelerate(u, momentum, added);
  if (u.recipe.flag("nesterov"))
    velocity = u.b.add(gradient, u.mul(velocity, momentum));
  return stepAlong(u, u.unlessZero(momentum, velocity, gradient));
}

/// base - rate/(1-b1^t) * m / (sqrt(v/(1-b2^t)) + eps).
static Value adamStep(Update &u, Value base, Value gradient) {
  StepNumber beta1 = u.number("betas", 0), beta2 = u.number("betas", 1);
  Value mean = u.average(u.state("exp_avg"), gradient, beta1);
  Value square =
      u.average(u.state("exp_avg_sq"), u.b.mul(gradient, gradient), beta2);
  u.next("exp_avg", mean);
  u.next("exp_avg_sq", square);
  if (u.recipe.flag("amsgrad")) {
    square = u.b.binary(BinaryKind::Max, u.state("max_exp_avg_sq"), square);
    u.next("max_exp_avg_sq", square);
  }
  Value root = u.b.unary(UnaryKind::Sqrt, u.correction(beta2));
  Value below =
      u.add(u.b.div(u.b.unary(UnaryKind::Sqrt, square), u.spread(root)),
            u.number("eps"));
  Value rate = u.b.div(u.scalars.rate, u.correction(beta1));
  return u.b.sub(base, u.b.mul(u.spread(rate), u.b.div(mean, below)));
}

static Value adam(Update &u) {
  return adamStep(u, u.parameter, decayedGradient(u));
}

static Value adamw(Update &u) {
  return adamStep(u, decayedParameter(u), plainGradient(u));
}

static Value rmsprop(Update &u) {
  Value gradient = decayedGradient(u);
  StepNumber alpha = u.number("alpha");
  Value square =
      u.average(u.state("square_avg"), u.b.mul(gradient, gradient), alpha);
  u.next("square_avg", square);
  if (u.recipe.flag("centered")) {
    Value mean = u.average(u.state("grad_avg"), gradient, alpha);
    u.next("grad_avg", mean);
    square = u.b.sub(square, u.b.mul(mean, mean));
  }
  Value below = u.add(u.b.unary(UnaryKind::Sqrt, square), u.number("eps"));
  Value direction = u.b.div(gradient, below);
  if (StepNumber momentum = u.number("momentum"); !momentum.is(0))
    direction = accelerate(u, momentum, direction);
  return stepAlong(u, direction);
}

/// rate/(1 + (t-1) * lr_decay) * g / (sqrt(sum) + eps).
static Value adagrad(Update &u) {
  Value gradient = decayedGradient(u);
  Value sum =
      u.b.add(u.state("sum", u.recipe.value("initial_accumulator_value")),
              u.b.mul(gradient, gradient));
  u.next("sum", sum);
  Value past = u.b.binary(BinaryKind::Sub, u.scalars.count, 1);
  Value slower =
      u.b.binary(BinaryKind::Add, u.mul(past, u.number("lr_decay")), 1);
  Value below = u.add(u.b.unary(UnaryKind::Sqrt, sum), u.number("eps"));
  Value rate = u.spread(u.b.div(u.scalars.rate, slower));
  return u.b.sub(u.parameter, u.b.mul(rate, u.b.div(gradient, below)));
}

static Value norm(TensorBuilder &b, Value value) {
  return b.unary(UnaryKind::Sqrt, b.sum(b.mul(value, value)));
}

/// The direction has the parameter's norm; where one of both norms is 0, its
/// own.
static Value lamb(Update &u) {
  StepNumber beta1 = u.number("betas", 0), beta2 = u.number("betas", 1);
  Value gradient = plainGradient(u);
  Value mean = u.average(u.state("exp_avg"), gradient, beta1);
  Value square =
      u.average(u.state("exp_avg_sq"), u.b.mul(gradient, gradient), beta2);
  u.next("exp_avg", mean);
  u.next("exp_avg_sq", square);
  Value unbiased = u.b.div(mean, u.spread(u.correction(beta1)));
  Value root = u.b.unary(UnaryKind::Sqrt,
                         u.b.div(square, u.spread(u.correction(beta2))));
  Value direction = u.b.div(unbiased, u.add(root, u.number("eps")));
  if (!u.weightDecay().is(0))
    direction = u.b.add(direction, u.mul(u.parameter, u.weightDecay()));
  Value ours = norm(u.b, u.parameter), its = norm(u.b, direction);
  Value product = u.b.mul(ours, its);
  Value ratio = u.b.select(u.b.compare(ComparePredicate::Gt, product, 0.0),
                           u.b.div(ours, its), u.b.splatLike(ours, 1));
  return stepAlong(
      u, u.b.mul(direction, u.b.broadcast(ratio, shapeOf(direction))));
}

/// The mean of the squares.
static Value meanSquare(TensorBuilder &b, Value value) {
  return b.mul(b.sum(b.mul(value, value)), 1.0 / elementsOf(value));
}

/// The second moment of a matrix by rows and columns, over the last two
/// dimensions; of a vector whole.
static Value adafactorMoment(Update &u, Value gradient, Value kept) {
  Value square = u.b.mul(gradient, gradient);
  auto moment = [&](StringRef name, Value seen) {
    auto share = [&](Value scalar) {
      return u.b.broadcast(u.b.convert(scalar, elementOf(seen)), shapeOf(seen));
    };
    Value rest = u.b.sub(u.b.splatLike(kept, 1), kept);
    Value old = u.state(name, shapeOf(seen));
    Value next = u.b.add(u.b.mul(old, share(kept)), u.b.mul(seen, share(rest)));
    u.next(name, next);
    return next;
  };
  int64_t rank = shapeOf(gradient).size();
  if (rank < 2)
    return moment("variance", square);
  auto mean = [&](Value value, int64_t dim) {
    return u.b.mul(u.b.reduce(ReduceKind::Sum, value, dim),
                   1.0 / shapeOf(value)[dim]);
  };
  Value rows = moment("row_var", mean(square, rank - 1));
  Value columns = moment("col_var", mean(square, rank - 2));
  Value all = mean(rows, rank - 2);
  Value floor =
      u.binary(BinaryKind::Max, all, u.number("eps", 0)); // a row of zeros
  Value relative = u.b.div(rows, u.b.spread(floor, rows, rank - 2));
  return u.b.mul(u.b.spread(relative, gradient, rank - 1),
                 u.b.spread(columns, gradient, rank - 2));
}

/// Shazeer and Stern 2018, "Adafactor", with torch.optim's relative step:
/// min(lr, 1/sqrt(t)) * max(eps2, rms(parameter)), the update clipped to d.
static Value adafactor(Update &u) {
  TensorBuilder &b = u.b;
  Value gradient = plainGradient(u), count = u.scalars.count;
  Value kept = b.sub(b.splatLike(count, 1),
                     u.binary(BinaryKind::Pow, count, u.number("beta2_decay")));
  Value bound = b.unary(UnaryKind::Rsqrt, count);
  Value rate = b.binary(BinaryKind::Min, u.scalars.rate, bound);
  Value size = b.unary(UnaryKind::Sqrt, meanSquare(b, u.parameter));
  Value scale = u.binary(BinaryKind::Max, size, u.number("eps", 1));
  Value variance = adafactorMoment(u, gradient, kept);
  StepNumber smallest =
      u.number("eps", 0).combine(b, BinaryKind::Mul, u.number("eps", 0));
  Value direction =
      b.mul(gradient, b.unary(UnaryKind::Rsqrt,
                              u.binary(BinaryKind::Max, variance, smallest)));
  Value length = b.unary(UnaryKind::Sqrt, meanSquare(b, direction));
  StepNumber share = StepNumber(1).combine(b, BinaryKind::Div, u.number("d"));
  Value over = b.binary(BinaryKind::Max, u.mul(length, share), 1);
  Value factor = b.div(b.mul(b.convert(rate, elementOf(scale)), scale), over);
  return b.sub(decayedParameter(u),
               b.mul(direction, b.broadcast(factor, shapeOf(direction))));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

ArrayRef<OptimizerRow> optimizers() {
  static const Hyperparameter noDecay{"weight_decay", {0}},
      maximize{"maximize", {0}, true},
      betas{"betas", {0.9, 0.999}, false, {0, 1}},
      amsgrad{"amsgrad", {0}, true};
  static const std::vector<OptimizerRow> table = {
      {"sgd",
       {{"lr", {1e-3}},
        {"momentum", {0}},
        {"dampening", {0}},
        noDecay,
        {"nesterov", {0}, true},
        maximize},
       sgd},
      {"adam",
       {{"lr", {1e-3}}, betas, {"eps", {1e-8}}, noDecay, amsgrad, maximize},
       adam},
      {"adamw",
       {{"lr", {1e-3}},
        betas,
        {"eps", {1e-8}},
        {"weight_decay", {1e-2}},
        amsgrad,
        maximize},
       adamw},
      {"rmsprop",
       {{"lr", {1e-2}},
        {"alpha", {0.99}},
        {"eps", {1e-8}},
        noDecay,
        {"momentum", {0}},
        {"centered", {0}, true},
        maximize},
       rmsprop},
      {"adagrad",
       {{"lr", {1e-2}},
        {"lr_decay", {0}},
        noDecay,
        {"initial_accumulator_value", {0}, false, {}, true},
        {"eps", {1e-10}},
        maximize},
       adagrad},
      {"lamb",
       {{"lr", {1e-3}}, betas, {"eps", {1e-6}}, noDecay, maximize},
       lamb},
      {"adafactor",
       {{"lr", {1e-2}},
        {"beta2_decay", {-0.8}, false, {-1e9, 1e-300}},
        {"eps", {0x1p-23, 1e-3}},
        {"d", {1}, false, {1}},
        noDecay,
        maximize},
       adafactor,
       /*readsDims=*/true}};
  return table;
}

const OptimizerRow *findOptimizer(StringRef kind) {
  for (const OptimizerRow &row : optimizers())
    if (row.kind == kind)
      return &row;
  return nullptr;
}

} // namespace autopar
