//===- Layouts.cpp - Layouts of a scheduled function's values -------------===//

#include "Layouts.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

std::optional<Layout> ValueLayouts::get(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return Layout();
  if (loopRoleOf(op) == LoopRole::View) {
    if (auto known = views.find(value); known != views.end())
      return known->second;
    std::optional<Layout> under = get(op->getOperand(0));
    if (!under || under->empty())
      return under;
    std::optional<Layout> layout =
        carryLayout(op, op->getOperand(0), *under, value);
    if (layout)
      views[value] = *layout;
    return layout;
  }
  auto layouts = op->getAttrOfType<ArrayAttr>(AutoparDialect::kLayouts);
  if (!layouts)
    return Layout();
  unsigned number = cast<OpResult>(value).getResultNumber();
  return Layout(cast<DenseI64ArrayAttr>(layouts[number]).asArrayRef());
}

void ValueLayouts::set(Operation *op, ArrayRef<Layout> layouts) {
  Builder builder(op->getContext());
  SmallVector<Attribute> list;
  bool rowMajor = true;
  for (auto [result, layout] : llvm::zip_equal(op->getResults(), layouts)) {
    Layout canonical = canonicalLayout(shapeOf(result), layout);
    rowMajor &= canonical.empty();
    list.push_back(builder.getDenseI64ArrayAttr(canonical));
  }
  if (rowMajor)
    op->removeAttr(AutoparDialect::kLayouts);
  else
    op->setAttr(AutoparDialect::kLayouts, builder.getArrayAttr(list));
}

} // namespace autopar
