//===- GlobalProgram.cpp - What the equality checker compares with --------===//

#include "GlobalProgram.h"
#include "autopar/Equality/Origin.h"

using namespace mlir;

namespace autopar {

static LogicalResult addOnce(func::FuncOp function,
                             DenseMap<Attribute, unsigned> &map, Attribute key,
                             unsigned index, StringRef what, StringRef name) {
  if (!key)
    return function.emitError() << what << " " << index << " has no " << name;
  auto [it, isNew] = map.try_emplace(key, index);
  if (isNew)
    return success();
  return function.emitError()
         << what << " " << index << " is " << key << " like " << what << " "
         << it->second << ": names must differ";
}

LogicalResult GlobalFunction::read(func::FuncOp kept) {
  function = kept;
  for (unsigned i = 0; i < kept.getNumArguments(); ++i)
    if (failed(addOnce(kept, arguments,
                       kept.getArgAttr(i, AutoparDialect::kSource), i,
                       "argument", AutoparDialect::kSource)))
      return failure();
  for (unsigned i = 0; i < kept.getNumResults(); ++i)
    if (failed(addOnce(kept, results,
                       kept.getResultAttr(i, AutoparDialect::kResult), i,
                       "result", AutoparDialect::kResult)))
      return failure();
  return success();
}

Value GlobalFunction::result(unsigned index) const {
  func::FuncOp kept = function;
  return kept.getBody().front().getTerminator()->getOperand(index);
}

LogicalResult GlobalProgram::addFunction(func::FuncOp function,
                                         StringAttr name) {
  if (failed(functions[name].read(function)))
    return failure();
  for (Operation &op : function.getBody().front()) {
    auto origin = op.getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kOrigin);
    if (origin && !origins.try_emplace(origin, &op).second)
      return op.emitError() << "number " << origin << " is taken by another op";
  }
  return success();
}

LogicalResult GlobalProgram::read(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  if (meshes.empty())
    return module.emitError("there is no autopar.mesh");
  MeshOp op = *meshes.begin();
  mesh = op.getMesh().toMesh();
  symbol = FlatSymbolRefAttr::get(op.getSymNameAttr());
  for (auto function : module.getOps<func::FuncOp>())
    if (auto name = function->getAttrOfType<StringAttr>(AutoparDialect::kKept))
      if (failed(addFunction(function, name)))
        return failure();
  if (!functions.empty())
    return success();
  return module.emitError("holds no copy of the global program to compare "
                          "with: run autopar-keep-global before "
                          "autopar-partition");
}

const GlobalFunction *GlobalProgram::find(StringRef name) const {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// Parts of composites
//===----------------------------------------------------------------------===//

Operation *GlobalProgram::lookup(DenseI64ArrayAttr origin) const {
  return origin ? origins.lookup(origin) : nullptr;
}

Value GlobalProgram::resolve(Value value) const {
  for (auto it = replaced.find(value); it != replaced.end();
       it = replaced.find(value))
    value = it->second;
  return value;
}

void GlobalProgram::noteOp(InFlightDiagnostic &diagnostic,
                           Operation *op) const {
  diagnostic.attachNote(op->getLoc()) << "the global op is here";
  auto origin = op->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kOrigin);
  if (!origin || origin.size() < 2)
    return;
  auto whole =
      DenseI64ArrayAttr::get(op->getContext(), origin.asArrayRef().drop_back());
  if (Operation *composite = lookup(whole))
    diagnostic.attachNote(composite->getLoc())
        << "it is part " << origin.asArrayRef().back() << " of what '"
        << composite->getName()
        << "' decomposes into where its reduced dimension is split";
}

void GlobalProgram::decompose(Operation *op, DenseI64ArrayAttr origin) {
  auto composite = dyn_cast<DecomposeOpInterface>(op);
  if (!composite)
    return;
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  SmallVector<Value> values = composite.decompose(builder);
  if (values.size() != op->getNumResults())
    return;
  int64_t number = 0;
  for (Operation *part = before ? before->getNextNode()
                                : &op->getBlock()->front();
       part != op; part = part->getNextNode()) {
    DenseI64ArrayAttr partOrigin = originOfPart(origin, number++);
    part->setAttr(AutoparDialect::kOrigin, partOrigin);
    origins[partOrigin] = part;
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    result.replaceAllUsesWith(value);
    replaced[result] = value;
  }
}

void GlobalProgram::decomposeFor(DenseI64ArrayAttr origin) {
  ArrayRef<int64_t> path = origin.asArrayRef();
  for (size_t length = 1; length < path.size(); ++length) {
    auto prefix =
        DenseI64ArrayAttr::get(origin.getContext(), path.take_front(length));
    Operation *composite = lookup(prefix);
    bool done = lookup(originOfPart(prefix, 0));
    if (composite && !done)
      decompose(composite, prefix);
  }
}

} // namespace autopar
