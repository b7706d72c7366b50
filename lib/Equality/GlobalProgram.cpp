//===- GlobalProgram.cpp - What the equality checker compares with --------===//

#include "GlobalProgram.h"

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

LogicalResult GlobalProgram::read(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  if (meshes.empty())
    return module.emitError("there is no autopar.mesh");
  MeshOp op = *meshes.begin();
  mesh = op.getMesh().toMesh();
  symbol = FlatSymbolRefAttr::get(op.getSymNameAttr());
  for (auto function : module.getOps<func::FuncOp>()) {
    auto kept = function->getAttrOfType<StringAttr>(AutoparDialect::kKept);
    if (!kept)
      continue;
    if (failed(functions[kept].read(function)))
      return failure();
    for (Operation &op : function.getBody().front())
      if (auto origin = op.getAttrOfType<IntegerAttr>(AutoparDialect::kOrigin))
        if (!origins.try_emplace(origin.getInt(), &op).second)
          return op.emitError()
                 << "number " << origin.getInt() << " is taken by another op";
  }
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

} // namespace autopar
