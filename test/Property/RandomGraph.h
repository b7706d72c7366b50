//===- RandomGraph.h - Random programs of the dialect -----------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_RANDOMGRAPH_H
#define AUTOPAR_TEST_PROPERTY_RANDOMGRAPH_H

#include "Random.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace autopar::property {

/// A module as import makes it: @step, sometimes @setup, of 5 to 20 compute ops
/// on small tensors whose values stay well conditioned. `differentiable`: of
/// ops that have a derivative.
mlir::OwningOpRef<mlir::ModuleOp>
makeGraph(mlir::MLIRContext &context, Random &random, bool differentiable);

/// The same of `ops` compute ops, without @setup, in f32.
mlir::OwningOpRef<mlir::ModuleOp> makeStep(mlir::MLIRContext &context,
                                           Random &random, int64_t ops);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_RANDOMGRAPH_H
