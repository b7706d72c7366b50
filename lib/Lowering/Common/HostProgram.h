//===- HostProgram.h - The calls that a rank makes --------------*- C++ -*-===//
//
// The host side of an executable: one function per stage and phase that calls
// the runtime (docs/RuntimeABI.md) with addresses in the arena or of persistent
// tensors, and the tables that the manifest lists.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LOWERING_COMMON_HOSTPROGRAM_H
#define AUTOPAR_LOWERING_COMMON_HOSTPROGRAM_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <vector>

namespace autopar {

/// A row of the manifest's "ops".
struct ProgramOp {
  std::string name, kind;
  double flops = 0, bytes = 0, seconds = 0;
};

/// How the steps of a stage use one persistent tensor.
struct PersistentUse {
  bool packed = false; // by calls that read a packed form
  bool plain = false;  // as it is
};

/// A row of the manifest's "communicators".
struct ProgramCommunicator {
  std::vector<std::string> axes;
  std::vector<std::vector<int64_t>> groups;
};

/// A row of the manifest's "channels".
struct ProgramChannel {
  int64_t fromStage = 0, toStage = 0, bytes = 0;
};

/// A constant matrix or filter that `prepare` packs.
struct PackedWeight {
  std::string callee; // aprt_gemm_pack or aprt_conv_pack
  std::vector<int64_t> descriptor;
  int64_t persistent = 0; // index of the tensor
  int32_t op = 0;
};

/// What the functions of all stages share.
class HostProgram {
public:
  HostProgram(mlir::ModuleOp module, const Mesh &mesh, int64_t stages);

  int32_t addOp(ProgramOp op);
  /// The communicator along `axes` (names as in the IR).
  int32_t communicator(mlir::ArrayAttr axes);
  /// Remembers that a stage sends or receives over `channel`.
  void useChannel(int64_t channel, ProgramChannel what);
  /// Slot of a packed form of persistent tensor `index` of `stage`; calls with
  /// the same descriptor (its slot aside) share it. `slotWord` is the slot's
  /// place in the descriptor.
  int64_t packedSlot(int64_t stage, PackedWeight weight, size_t slotWord);

  /// A constant array of 64-bit words, made once per contents.
  mlir::LLVM::GlobalOp words(llvm::ArrayRef<int64_t> values);
  /// Declares a runtime function at its first use.
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 mlir::TypeRange arguments);

  mlir::ModuleOp module;
  Mesh mesh;
  int64_t stages;
  std::vector<ProgramOp> ops;
  std::vector<ProgramCommunicator> communicators;
  std::vector<ProgramChannel> channels;
  std::vector<std::vector<PackedWeight>> packed; // by stage
  /// By stage and index; what @step does not touch is not there.
  std::map<std::pair<int64_t, int64_t>, PersistentUse> persistentUses;

private:
  std::map<std::string, int32_t> communicatorIndex;
  std::map<std::vector<int64_t>, mlir::LLVM::GlobalOp> wordArrays;
  std::map<std::vector<int64_t>, int64_t> slots;
};

/// One host function while its calls are made.
class HostFunction {
public:
  /// `hasTime`: the second argument is the micro-batch.
  HostFunction(HostProgram &program, mlir::OpBuilder &builder,
               llvm::StringRef name, int64_t stage, bool hasTime);
  /// Ends the function with success.
  void finish();

  /// Address of a memref that an autopar.buffer made.
  mlir::Value address(mlir::Value memref);
  mlir::Value persistent(int64_t index);
  mlir::Value int32(int64_t value);
  mlir::Value int64(int64_t value);
  mlir::Value null();
  mlir::Value words(llvm::ArrayRef<int64_t> values);
  /// A stack array whose elements are `values`, valid until the next of that
  /// type is made.
  mlir::Value stackArray(mlir::ValueRange values, mlir::Type type);
  /// The rank's linear index along mesh axes, the time axis included.
  mlir::Value position(mlir::ArrayAttr axes);

  /// status = callee(rank, arguments...); returns it unless it is 0.
  void call(llvm::StringRef callee, mlir::ValueRange arguments);

  HostProgram &program;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp function;
  int64_t stage;
  mlir::Value rank, time;

private:
  mlir::Value entryValue(llvm::function_ref<mlir::Value()> build);
  mlir::Block *entry, *fail;
  mlir::Operation *entryEnd; // values used everywhere are made before it
  mlir::Value arena;
  std::map<int64_t, mlir::Value> persistents, ints;
  std::map<std::string, mlir::Value> positions;
  std::map<const void *, std::pair<mlir::LLVM::AllocaOp, int64_t>> stacks;
};

/// The number that docs/RuntimeABI.md gives an element type, and its name.
int32_t dtypeNumber(mlir::Type element);
llvm::StringRef dtypeName(mlir::Type element);
/// Bytes of a dense tensor in memory.
int64_t denseBytes(mlir::Type shaped);

/// Calls for collectives, send and recv; failure with an error at op for what
/// is no such op.
mlir::LogicalResult lowerCommunication(HostFunction &host, mlir::Operation *op);

/// The manifest's text. The module still has its autopar attributes.
mlir::FailureOr<std::string> makeManifest(const HostProgram &program);

} // namespace autopar

#endif // AUTOPAR_LOWERING_COMMON_HOSTPROGRAM_H
