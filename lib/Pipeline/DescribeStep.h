//===- DescribeStep.h - What a step trains and reads, in words --*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_DESCRIBESTEP_H
#define AUTOPAR_LIB_PIPELINE_DESCRIBESTEP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <set>
#include <string>

namespace autopar {

/// The names of the parameters of which @step returns gradients.
std::set<std::string> trainedNames(mlir::func::FuncOp step);

/// The parameters that are trained and the tensors of floats that are not, as
/// lines of the plan's table; empty for inference.
std::string describeTraining(mlir::ModuleOp module);

/// The step's inputs with their types, and those that --bind gave a value:
/// `x f32[2, 3], axes = [0]`.
std::string describeInputs(mlir::ModuleOp module);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_DESCRIBESTEP_H
