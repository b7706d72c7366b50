//===- MutateAttributes.cpp - Changes what compute ops compute ------------===//

#include "Mutation.h"

using namespace mlir;

namespace autopar::property {

template <typename AttrTy, typename Symbolize>
static Attribute otherKind(Attribute attribute, Symbolize symbolize,
                           Random &random) {
  if (!isa<AttrTy>(attribute))
    return {};
  auto other = symbolize(random.below(24));
  return other ? AttrTy::get(attribute.getContext(), *other) : Attribute();
}

/// Exchanges two entries, or changes one by 1.
static Attribute otherNumbers(DenseI64ArrayAttr numbers, Random &random) {
  SmallVector<int64_t> values(numbers.asArrayRef());
  if (values.empty())
    return {};
  int64_t &entry = values[random.below(values.size())];
  if (random.chance(50))
    std::swap(entry, values[random.below(values.size())]);
  else
    entry += random.chance(50) ? 1 : -1;
  return DenseI64ArrayAttr::get(numbers.getContext(), values);
}

/// Exchanges two letters of one side of an equation.
static Attribute otherText(StringAttr text, Random &random) {
  std::string letters = text.getValue().str();
  if (letters.empty())
    return {};
  std::swap(letters[random.below(letters.size())],
            letters[random.below(letters.size())]);
  return StringAttr::get(text.getContext(), letters);
}

static Attribute otherFloat(FloatAttr value, Random &random) {
  static const double factors[] = {0, 0.5, 2, -1};
  double old = value.getValueAsDouble();
  double other = old == 0 ? 1 : old * random.pick(ArrayRef<double>(factors));
  return FloatAttr::get(value.getType(), other);
}

/// Something else of the same kind; null where the draw gives nothing.
static Attribute otherAttribute(Attribute old, Random &random) {
  if (auto number = dyn_cast<IntegerAttr>(old))
    return IntegerAttr::get(number.getType(),
                            number.getInt() + random.between(-2, 2));
  if (auto value = dyn_cast<FloatAttr>(old))
    return otherFloat(value, random);
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(old))
    return otherNumbers(numbers, random);
  if (auto text = dyn_cast<StringAttr>(old))
    return otherText(text, random);
  for (Attribute other :
       {otherKind<UnaryKindAttr>(
            old, [](uint32_t i) { return symbolizeUnaryKind(i); }, random),
        otherKind<BinaryKindAttr>(
            old, [](uint32_t i) { return symbolizeBinaryKind(i); }, random),
        otherKind<ComparePredicateAttr>(
            old, [](uint32_t i) { return symbolizeComparePredicate(i); },
            random),
        otherKind<NormKindAttr>(
            old, [](uint32_t i) { return symbolizeNormKind(i); }, random),
        otherKind<ReduceKindAttr>(
            old, [](uint32_t i) { return symbolizeReduceKind(i); }, random)})
    if (other)
      return other;
  return {};
}

/// Any attribute that the op's definition names; flags are set or removed.
std::optional<Mutation> changeProperty(const Mutable &program) {
  Operation *op = program.pickOp([](Operation *op) {
    return isCompute(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
           !op->getName().getAttributeNames().empty();
  });
  if (!op)
    return std::nullopt;
  StringAttr name = program.random.pick(op->getName().getAttributeNames());
  Attribute old = op->getAttr(name);
  if (old && isa<UnitAttr>(old)) {
    op->removeAttr(name);
    return mutationOf(op, "without " + name.getValue());
  }
  Attribute other = old ? otherAttribute(old, program.random)
                        : UnitAttr::get(op->getContext());
  if (!other || other == old)
    return std::nullopt;
  // An attribute of another type than the op's is refused, not set.
  auto quiet = [&] { return op->emitError(); };
  ScopedDiagnosticHandler handler(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  NamedAttrList all(op->getPropertiesAsAttribute()
                        ? cast<DictionaryAttr>(op->getPropertiesAsAttribute())
                        : DictionaryAttr::get(op->getContext()));
  all.set(name, other);
  if (failed(op->setPropertiesFromAttribute(all.getDictionary(op->getContext()),
                                            quiet)))
    return std::nullopt;
  return mutationOf(op, "with another " + name.getValue());
}

/// One element of a table, or the value of a splat.
static Attribute otherElements(DenseElementsAttr elements, Random &random) {
  SmallVector<Attribute> values(elements.getValues<Attribute>());
  bool splat = elements.isSplat();
  Attribute &entry = values[splat ? 0 : random.below(values.size())];
  Type type = elements.getElementType();
  if (auto value = dyn_cast<FloatAttr>(entry))
    entry = FloatAttr::get(type, value.getValueAsDouble() + 0.5);
  else if (type.isInteger(1))
    entry =
        IntegerAttr::get(type, !cast<IntegerAttr>(entry).getValue().isOne());
  else
    entry = IntegerAttr::get(type, cast<IntegerAttr>(entry).getInt() + 1);
  return splat ? DenseElementsAttr::get(elements.getType(), values[0])
               : DenseElementsAttr::get(elements.getType(), values);
}

std::optional<Mutation> changeConstant(const Mutable &program) {
  Operation *op = program.pickOp([](Operation *op) {
    return op->hasTrait<OpTrait::ConstantLike>() && !op->use_empty();
  });
  auto value =
      op ? op->getAttrOfType<DenseElementsAttr>("value") : DenseElementsAttr();
  if (!value || value.empty())
    return std::nullopt;
  op->setAttr("value", otherElements(value, program.random));
  return mutationOf(op, "with another value");
}

/// An op claims to stem from another one of the same name and types, and
/// computes what that one does.
std::optional<Mutation> passOff(const Mutable &program) {
  Operation *op = program.pickOp(isCompute);
  Operation *other = program.pickOp([&](Operation *candidate) {
    return op && candidate != op && candidate->getName() == op->getName() &&
           candidate->getResultTypes() == op->getResultTypes() &&
           candidate->getOperandTypes() == op->getOperandTypes();
  });
  if (!other || program.random.chance(20))
    return std::nullopt;
  auto error = [&] { return op->emitError(); };
  Attribute properties = other->getPropertiesAsAttribute();
  if (properties && failed(op->setPropertiesFromAttribute(properties, error)))
    return std::nullopt;
  op->setDiscardableAttrs(other->getDiscardableAttrDictionary());
  Mutation mutation = mutationOf(op, "passed off as another");
  mutation.places.push_back(other->getLoc());
  return mutation;
}

} // namespace autopar::property
