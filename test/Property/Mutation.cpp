//===- Mutation.cpp - Breaks one collective of a local program ------------===//

#include "Mutation.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace autopar::property {

void numberLocations(ModuleOp module) {
  unsigned line = 0;
  module.walk([&](Operation *op) {
    op->setLoc(FileLineColLoc::get(op->getContext(), "program", ++line, 1));
  });
}

static bool moves(Operation *op) {
  return interpreter::isCollective(op) || interpreter::isPosition(op);
}

/// Collectives and position ops on tensors, outside of the kept global program.
static SmallVector<Operation *> candidates(ModuleOp module) {
  SmallVector<Operation *> list;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func->hasAttr(AutoparDialect::kKept))
      continue;
    func.walk([&](Operation *op) {
      if (moves(op) && op->getNumOperands() == 1)
        list.push_back(op);
    });
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Mutations: each returns what it did, or "" if it does not suit the op
//===----------------------------------------------------------------------===//

/// Users read the operand.
static std::string drop(Operation *op, const Mesh &, Random &) {
  if (op->getOperand(0).getType() != op->getResult(0).getType())
    return "";
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  return "dropped";
}

/// Users read the result of a second one.
static std::string doubleOp(Operation *op, const Mesh &, Random &) {
  if (op->getOperand(0).getType() != op->getResult(0).getType())
    return "";
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *second = builder.clone(*op);
  op->getResult(0).replaceAllUsesWith(second->getResult(0));
  second->setOperand(0, op->getResult(0));
  return "doubled";
}

static std::string changeAxes(Operation *op, const Mesh &mesh, Random &random) {
  SmallVector<unsigned> atoms;
  for (unsigned atom = 0; atom < mesh.atoms().size(); ++atom)
    if (random.chance(60))
      atoms.push_back(atom);
  random.shuffle(atoms);
  SmallVector<Attribute> names;
  for (const std::string &name : mesh.spell(atoms))
    names.push_back(StringAttr::get(op->getContext(), name));
  auto axes = ArrayAttr::get(op->getContext(), names);
  if (axes == op->getAttr("axes"))
    return "";
  op->setAttr("axes", axes);
  return "with other axes";
}

static std::string changeKind(Operation *op, const Mesh &, Random &random) {
  auto kind = op->getAttrOfType<ReduceKindAttr>("kind");
  if (!kind)
    return "";
  auto other = *symbolizeReduceKind(random.below(4));
  if (other == kind.getValue())
    return "";
  op->setAttr("kind", ReduceKindAttr::get(op->getContext(), other));
  return "of another kind";
}

static std::string changeDim(Operation *op, const Mesh &, Random &random) {
  auto dim = op->getAttrOfType<IntegerAttr>("dim");
  int64_t rank = cast<ShapedType>(op->getResult(0).getType()).getRank();
  if (!dim || rank < 2)
    return "";
  int64_t other = random.below(rank);
  if (other == dim.getInt())
    return "";
  op->setAttr("dim", IntegerAttr::get(dim.getType(), other));
  return "along another dimension";
}

static std::string changeNumber(Operation *op, const Mesh &, Random &random) {
  static const StringRef names[] = {"offset", "step", "size"};
  StringRef name = random.pick(ArrayRef<StringRef>(names));
  auto number = op->getAttrOfType<IntegerAttr>(name);
  if (!number)
    return "";
  int64_t other = number.getInt() + (random.chance(50) ? 1 : -1);
  op->setAttr(name, IntegerAttr::get(number.getType(), other));
  return ("with another " + name).str();
}

static std::string changeValue(Operation *op, const Mesh &, Random &random) {
  StringRef name = isa<HaloOp>(op) ? "fill" : "value";
  auto value = op->getAttrOfType<FloatAttr>(name);
  if (!value)
    return "";
  op->setAttr(name, FloatAttr::get(value.getType(), 3.5));
  return ("with another " + name).str();
}

/// What a stage receives of `send`.
static SmallVector<Operation *> receivers(SendOp send) {
  SmallVector<Operation *> list;
  send->getParentOfType<ModuleOp>().walk([&](RecvOp recv) {
    if (recv.getChannel() == send.getChannel())
      list.push_back(recv);
  });
  return list;
}

/// The ops that read the result, and what reads theirs while they only move it.
static SmallVector<Location> readersOf(Operation *op) {
  SmallVector<Location> places;
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    if (next != op)
      places.push_back(next->getLoc());
    if (auto send = dyn_cast<SendOp>(next))
      llvm::append_range(work, receivers(send));
    if (next == op || moves(next) || isa<RecvOp>(next))
      llvm::append_range(work, next->getUsers());
  }
  return places;
}

std::optional<Mutation> mutate(ModuleOp module, const Mesh &mesh,
                               Random &random) {
  using Mutator = std::string (*)(Operation *, const Mesh &, Random &);
  static const Mutator mutators[] = {drop,         doubleOp,   changeAxes,
                                     changeAxes,   changeKind, changeDim,
                                     changeNumber, changeValue};
  SmallVector<Operation *> ops = candidates(module);
  if (ops.empty())
    return std::nullopt;
  Operation *op = random.pick(ArrayRef<Operation *>(ops));
  Mutation mutation{"", op->getLoc(), readersOf(op)};
  std::string how = random.pick(ArrayRef<Mutator>(mutators))(op, mesh, random);
  if (how.empty())
    return std::nullopt;
  mutation.what = (op->getName().getStringRef() + " " + how).str();
  if (how == "dropped")
    op->erase();
  // Mutants that the verifier refuses say nothing about the checker.
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(verify(module)))
    return std::nullopt;
  return mutation;
}

} // namespace autopar::property
