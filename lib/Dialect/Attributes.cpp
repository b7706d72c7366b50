//===- Attributes.cpp - Meshes, shardings and strategies as attributes ----===//

#include "autopar/Dialect/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Attributes.cpp.inc"

using namespace mlir;

namespace autopar {

void AutoparDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "autopar/Dialect/Attributes.cpp.inc"
      >();
}

static ParseResult parseAxis(AsmParser &parser, StringAttr &axis) {
  return parser.parseAttribute(axis, NoneType::get(parser.getContext()));
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

autopar::Mesh MeshAttr::toMesh() const {
  SmallVector<MeshAxis> axes;
  for (auto [name, size] : llvm::zip_equal(getNames(), getSizes()))
    axes.push_back({name.str(), size});
  return Mesh(axes);
}

MeshAttr MeshAttr::get(MLIRContext *context, const Mesh &mesh) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : mesh.axes()) {
    names.push_back(StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
  }
  return get(context, names, sizes);
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes) {
  if (names.size() != sizes.size())
    return emitError() << "a mesh needs one size per axis";
  int64_t devices = 1;
  for (auto [index, name] : llvm::enumerate(names)) {
    if (name.empty() || name.getValue().contains('.'))
      return emitError() << "axis name " << name
                         << " must not be empty nor hold a dot";
    if (llvm::is_contained(names.take_front(index), name))
      return emitError() << "axis " << name << " is there twice";
    if (name == kTimeAxis && index != 0)
      return emitError() << "the time axis must come first";
    if (sizes[index] < 1 || sizes[index] > (1 << 20) / devices)
      return emitError() << "axis " << name << " has size " << sizes[index]
                         << "; sizes are at least 1 and make at most 2^20 "
                            "devices together";
    devices *= sizes[index];
  }
  return success();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto parseOne = [&]() -> ParseResult {
    return failure(parseAxis(parser, names.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseInteger(sizes.emplace_back()));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), names, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip_equal(getNames(), getSizes()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << "=" << std::get<1>(axis);
      });
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr>
spell(MLIRContext *context, ArrayRef<unsigned> subAxes, const Mesh &mesh) {
  SmallVector<StringAttr> names;
  for (const std::string &name : mesh.spell(subAxes))
    names.push_back(StringAttr::get(context, name));
  return names;
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  int64_t step = 0, offset = 0, length = 0;
  bool interval = false;
  auto parseOne = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("step"))) {
      interval = true;
      return failure(parser.parseEqual() || parser.parseInteger(step));
    }
    if (succeeded(parser.parseOptionalKeyword("offset")))
      return failure(parser.parseEqual() || parser.parseInteger(offset));
    if (succeeded(parser.parseOptionalKeyword("length")))
      return failure(parser.parseEqual() || parser.parseInteger(length));
    return parseAxis(parser, axes.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseOne))
    return {};
  return get(parser.getContext(), axes, interval, step, offset, length);
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << "{";
  llvm::interleaveComma(getAxes(), printer);
  if (getHasInterval())
    printer << ", step = " << getStep() << ", offset = " << getOffset()
            << ", length = " << getLength();
  printer << "}";
}

Attribute PartialAttr::parse(AsmParser &parser, Type) {
  StringAttr axis;
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parseAxis(parser, axis) || parser.parseColon() ||
      parser.parseKeyword(&keyword))
    return {};
  std::optional<ReduceKind> kind = symbolizeReduceKind(keyword);
  if (!kind)
    return parser.emitError(loc) << "unknown reduction " << keyword,
           Attribute();
  return get(parser.getContext(), axis, *kind);
}

void PartialAttr::print(AsmPrinter &printer) const {
  printer << getAxis() << ": " << stringifyReduceKind(getKind());
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<PartialAttr> partial;
  auto parseDim = [&]() -> ParseResult {
    dims.push_back(
        dyn_cast_or_null<DimShardingAttr>(DimShardingAttr::parse(parser, {})));
    return success(dims.back() != nullptr);
  };
  auto parsePartial = [&]() -> ParseResult {
    partial.push_back(
        dyn_cast_or_null<PartialAttr>(PartialAttr::parse(parser, {})));
    return success(partial.back() != nullptr);
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseKeyword("partial") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                       parsePartial))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(loc, parser.getContext(), mesh, dims,
                                         partial);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimShardingAttr dim) { dim.print(printer); });
  printer << "]";
  if (!getPartial().empty()) {
    printer << ", partial = {";
    llvm::interleaveComma(getPartial(), printer,
                          [&](PartialAttr partial) { partial.print(printer); });
    printer << "}";
  }
  printer << ">";
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   FlatSymbolRefAttr mesh,
                                   ArrayRef<DimShardingAttr> dims,
                                   ArrayRef<PartialAttr> partial) {
  SmallVector<StringAttr> seen;
  auto add = [&](StringAttr axis) -> LogicalResult {
    if (llvm::is_contained(seen, axis))
      return emitError() << "axis " << axis << " is used twice in a sharding";
    seen.push_back(axis);
    return success();
  };
  for (DimShardingAttr dim : dims) {
    for (StringAttr axis : dim.getAxes())
      if (failed(add(axis)))
        return failure();
    if (dim.getHasInterval() && (dim.getStep() < 0 || dim.getLength() < 0))
      return emitError() << "an interval's step and length are not negative";
  }
  for (PartialAttr p : partial)
    if (failed(add(p.getAxis())))
      return failure();
  return success();
}

Sharding ShardingAttr::toSharding(const Mesh &mesh) const {
  Sharding sharding;
  for (DimShardingAttr dim : getDims()) {
    DimSharding &out = sharding.dims.emplace_back();
    for (StringAttr axis : dim.getAxes())
      llvm::append_range(out.subAxes, *mesh.lookup(axis));
    if (dim.getHasInterval())
      out.interval = Interval{dim.getStep(), dim.getOffset(), dim.getLength()};
  }
  for (PartialAttr p : getPartial()) {
    SmallVector<unsigned> subAxes = *mesh.lookup(p.getAxis());
    for (unsigned subAxis : subAxes)
      sharding.partial.push_back({subAxis, p.getKind()});
  }
  llvm::sort(sharding.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
  return sharding;
}

/// Partial sub-axes of one axis and kind are written together.
static SmallVector<PartialAttr>
spellPartial(MLIRContext *context, const Sharding &sharding, const Mesh &mesh) {
  SmallVector<PartialAttr> partial;
  ArrayRef<Partial> rest = sharding.partial;
  while (!rest.empty()) {
    ReduceKind kind = rest.front().kind;
    SmallVector<unsigned> subAxes;
    while (!rest.empty() && rest.front().kind == kind) {
      subAxes.push_back(rest.front().subAxis);
      rest = rest.drop_front();
    }
    for (StringAttr axis : spell(context, subAxes, mesh))
      partial.push_back(PartialAttr::get(context, axis, kind));
  }
  return partial;
}

ShardingAttr ShardingAttr::get(FlatSymbolRefAttr symbol,
                               const Sharding &sharding, const Mesh &mesh) {
  MLIRContext *context = symbol.getContext();
  SmallVector<DimShardingAttr> dims;
  for (const DimSharding &dim : sharding.dims) {
    Interval interval = dim.interval.value_or(Interval{});
    dims.push_back(DimShardingAttr::get(
        context, spell(context, dim.subAxes, mesh), dim.interval.has_value(),
        interval.step, interval.offset, interval.length));
  }
  return get(context, symbol, dims, spellPartial(context, sharding, mesh));
}

//===----------------------------------------------------------------------===//
// Strategy
//===----------------------------------------------------------------------===//

Attribute StrategyAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> kinds, indices;
  auto parseOne = [&]() -> ParseResult {
    StringRef keyword;
    if (parseAxis(parser, axes.emplace_back()) || parser.parseColon())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword != "split" && keyword != "pass")
      return parser.emitError(loc) << "expected 'split' or 'pass'";
    kinds.push_back(keyword == "split" ? Choice::Split : Choice::Pass);
    return parser.parseInteger(indices.emplace_back());
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseOne) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, axes, kinds, indices);
}

void StrategyAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", {";
  llvm::interleaveComma(llvm::zip_equal(getAxes(), getKinds(), getIndices()),
                        printer, [&](auto entry) {
                          auto [axis, kind, index] = entry;
                          printer
                              << axis << ": "
                              << (kind == Choice::Split ? "split " : "pass ")
                              << index;
                        });
  printer << "}>";
}

Assignment StrategyAttr::toAssignment(const Mesh &mesh) const {
  Assignment assignment(mesh.subAxes().size());
  for (auto [axis, kind, index] :
       llvm::zip_equal(getAxes(), getKinds(), getIndices())) {
    SmallVector<unsigned> subAxes = *mesh.lookup(axis);
    for (unsigned subAxis : subAxes)
      assignment[subAxis] = {Choice::Kind(kind), unsigned(index)};
  }
  return assignment;
}

StrategyAttr StrategyAttr::get(FlatSymbolRefAttr symbol,
                               const Assignment &assignment, const Mesh &mesh) {
  MLIRContext *context = symbol.getContext();
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> kinds, indices;
  for (unsigned subAxis = 0; subAxis < assignment.size();) {
    Choice choice = assignment[subAxis];
    SmallVector<unsigned> run;
    while (subAxis < assignment.size() && assignment[subAxis] == choice)
      run.push_back(subAxis++);
    if (choice.kind == Choice::None)
      continue;
    for (StringAttr axis : spell(context, run, mesh)) {
      axes.push_back(axis);
      kinds.push_back(choice.kind);
      indices.push_back(choice.index);
    }
  }
  return get(context, symbol, axes, kinds, indices);
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

LogicalResult StateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringAttr name, Attribute initial,
                                StateRole role) {
  if (isa<ParameterAttr, FloatAttr, IntegerAttr>(initial))
    return success();
  return emitError() << "state " << name << " begins as " << initial
                     << ", which is no #autopar.parameter and no number";
}

SmallVector<int64_t> InputAttr::joinBlocks(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> joined(shape.drop_front());
  joined.front() *= getBlocks();
  return joined;
}

ParameterAttr ParameterAttr::at(StringAttr file, int64_t offset,
                                int64_t length) const {
  return get(getContext(), getName(), getFileShape(), file, offset, length,
             getConstant());
}

NextStateAttr StateAttr::next() const {
  return NextStateAttr::get(getContext(), getName(), getRole());
}

} // namespace autopar
