//===- LibraryCallAttr.cpp - A library call as an attribute ---------------===//

#include "autopar/Dialect/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// The fields of a call while they are read.
struct CallFields {
  explicit CallFields(const LibraryKind &kind)
      : kind(kind), operands(kind.roles.size(), -1) {}
  ParseResult parse(AsmParser &parser);

  const LibraryKind &kind;
  SmallVector<int64_t> operands;
  Activation activation = Activation::None;
  bool channelsLast = false;
  int64_t packed = -1;
};
} // namespace

/// name = value
ParseResult CallFields::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name, word;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (std::optional<unsigned> role = kind.find(name))
    return parser.parseInteger(operands[*role]);
  if (name == "packed")
    return parser.parseInteger(packed);
  SMLoc value = parser.getCurrentLocation();
  if (name == "channels_last") {
    if (parser.parseKeyword(&word))
      return failure();
    channelsLast = word == "true";
    if (channelsLast || word == "false")
      return success();
    return parser.emitError(value) << "expected true or false";
  }
  if (name != "activation")
    return parser.emitError(loc) << kind.title << " has no '" << name << "'";
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Activation> known = symbolizeActivation(word);
  if (!known)
    return parser.emitError(value) << "unknown activation " << word;
  activation = *known;
  return success();
}

Attribute LibraryCallAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  std::optional<CallKind> kind = symbolizeCallKind(name);
  if (!kind)
    return parser.emitError(loc) << "unknown kind of library call " << name,
           Attribute();
  CallFields fields(libraryKind(*kind));
  while (succeeded(parser.parseOptionalComma()))
    if (fields.parse(parser))
      return {};
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  ArrayRef<int64_t> operands = fields.operands;
  return LibraryCallAttr::getChecked(emitError, parser.getContext(), *kind,
                                     operands, fields.activation,
                                     fields.channelsLast, fields.packed);
}

void LibraryCallAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyCallKind(getKind());
  for (auto [role, number] :
       llvm::zip_equal(libraryKind(getKind()).roles, getOperands()))
    if (number >= 0)
      printer << ", " << role << " = " << number;
  if (getActivation() != Activation::None)
    printer << ", activation = " << stringifyActivation(getActivation());
  if (getChannelsLast())
    printer << ", channels_last = true";
  if (getPacked() >= 0)
    printer << ", packed = " << getPacked();
  printer << ">";
}

LogicalResult
LibraryCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        CallKind kind, ArrayRef<int64_t> operands, Activation,
                        bool, int64_t) {
  const LibraryKind &row = libraryKind(kind);
  if (operands.size() != row.roles.size())
    return emitError() << "has " << operands.size() << " operands, but "
                       << row.title << " has " << row.roles.size() << " roles";
  for (unsigned role = 0; role < row.required; ++role)
    if (operands[role] < 0)
      return emitError() << "is " << row.title << " without operand '"
                         << row.roles[role] << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

int64_t LibraryCallAttr::getOperand(StringRef role) const {
  std::optional<unsigned> place = libraryKind(getKind()).find(role);
  return place ? getOperands()[*place] : -1;
}

int64_t LibraryCallAttr::getPackable() const {
  return getOperand(libraryKind(getKind()).packed);
}

bool LibraryCallAttr::has(EpilogueStep step) const {
  switch (step) {
  case EpilogueStep::Bias:
    return getOperand(kBiasRole) >= 0;
  case EpilogueStep::Activation:
    return getActivation() != Activation::None;
  case EpilogueStep::Addend:
    return getOperand(kAddendRole) >= 0;
  }
  llvm_unreachable("all steps are above");
}

SmallVector<EpilogueStep, 3> LibraryCallAttr::getEpilogue() const {
  SmallVector<EpilogueStep, 3> steps;
  for (EpilogueStep step : libraryKind(getKind()).epilogue)
    if (has(step))
      steps.push_back(step);
  return steps;
}

LibraryCallAttr LibraryCallAttr::withMemory(bool channelsLast,
                                            int64_t packed) const {
  return get(getContext(), getKind(), getOperands(), getActivation(),
             channelsLast, packed);
}

} // namespace autopar
