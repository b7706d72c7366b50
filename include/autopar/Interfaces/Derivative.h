//===- Derivative.h - How gradients flow back through an op -----*- C++ -*-===//

#ifndef AUTOPAR_INTERFACES_DERIVATIVE_H
#define AUTOPAR_INTERFACES_DERIVATIVE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "autopar/Interfaces/Derivative.h.inc"

#endif // AUTOPAR_INTERFACES_DERIVATIVE_H
