//===- LowerProgram.h - Scheduled IR to a host program ----------*- C++ -*-===//
//
// The half of lowering that all kinds of device share: functions per stage that
// call the runtime, library calls with packed weights, communication, events,
// and the tables that a program exports.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_LOWERPROGRAM_H
#define AUTOPAR_LIB_LOWERING_COMMON_LOWERPROGRAM_H

#include "HostProgram.h"

namespace autopar {

/// The interface that a kind of device implements: code for the kernels that no
/// library computes.
class TargetKernels {
public:
  virtual ~TargetKernels() = default;
  /// Adds the calls that launch `kernel`; none where nothing is to be computed.
  virtual mlir::LogicalResult launch(HostFunction &host, KernelOp kernel) = 0;
  /// The manifest's "kernels", once all are known.
  virtual std::vector<ProgramKernel> table() { return {}; }
  /// Called last, with the names of the stages' functions (setup and step of
  /// each) and the manifest's text.
  virtual mlir::LogicalResult finish(HostProgram &program,
                                     llvm::ArrayRef<std::string> functions,
                                     llvm::StringRef manifest) {
    return mlir::success();
  }
};

/// Replaces what Schedule left by host functions and exported tables
/// (docs/RuntimeABI.md).
mlir::LogicalResult lowerProgram(mlir::ModuleOp module, TargetKernels &kernels);

/// The op row of a kernel that is launched.
ProgramOp describeKernel(KernelOp kernel, llvm::StringRef kind);

/// Makes `aprt_program_stages` of the functions, setup and step of each stage.
void exportStages(HostProgram &program, llvm::ArrayRef<std::string> functions);
void exportManifest(HostProgram &program, llvm::StringRef text);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_LOWERPROGRAM_H
