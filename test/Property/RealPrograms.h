//===- RealPrograms.h - Random programs on real ranks -----------*- C++ -*-===//

#ifndef AUTOPAR_TEST_PROPERTY_REALPROGRAMS_H
#define AUTOPAR_TEST_PROPERTY_REALPROGRAMS_H

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar::property {

/// Compiles a planned module for `target` to an executable in `folder`, runs it
/// on as many processes as its plan has devices, on values by `provide`, and
/// returns its outputs; or what went wrong.
llvm::Expected<std::vector<interpreter::NamedTensor>>
runOnRanks(mlir::ModuleOp planned, llvm::StringRef target,
           interpreter::Provider provide, llvm::StringRef folder);

/// The same of a partitioned module. `step` is a planned function with the
/// inputs and outputs that its stages have, and any body.
llvm::Expected<std::vector<interpreter::NamedTensor>>
runStagesOnRanks(mlir::ModuleOp local, mlir::func::FuncOp step,
                 llvm::StringRef target, interpreter::Provider provide,
                 llvm::StringRef folder);

} // namespace autopar::property

#endif // AUTOPAR_TEST_PROPERTY_REALPROGRAMS_H
