//===- HostProgram.h - The calls that a rank makes --------------*- C++ -*-===//
//
// The host side of an executable: one function per stage and phase that calls
// the runtime (docs/RuntimeABI.md) with addresses in the arena or of persistent
// tensors, and the tables that the manifest lists.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_HOSTPROGRAM_H
#define AUTOPAR_LIB_LOWERING_COMMON_HOSTPROGRAM_H

#include "HostCalls.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <vector>

namespace autopar {

/// A row of the manifest's "ops".
struct ProgramOp {
  std::string name, kind;
  double flops = 0, bytes = 0;
  int64_t stream = 0;
};

/// A row of the manifest's "kernels": what a GPU launches by number.
struct ProgramKernel {
  struct Buffer {
    int64_t bytes = 0;
    bool reads = false, writes = false;
  };
  std::string name;
  int64_t threads = 0; // of a block
  int64_t sharedBytes = 0;
  int64_t scalars = 0; // arguments after the buffers
  std::vector<Buffer> buffers;
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
  int64_t bytes = 0; // the most that one collective moves
};

/// A row of the manifest's "channels".
struct ProgramChannel {
  int64_t fromStage = 0, toStage = 0, bytes = 0;
};

/// A constant matrix or filter that setup packs.
struct PackedWeight {
  llvm::StringLiteral callee; // aprt_gemm_pack or aprt_conv_pack
  std::vector<int64_t> descriptor;
  size_t slotWord = 0;    // the slot's place in the descriptor
  int64_t persistent = 0; // index of the tensor
  int32_t op = 0;
};

/// A host function as it was emitted, for who wants to write it another way.
struct HostListing {
  std::string name;
  bool hasTime;
  std::vector<HostLoop> loops;
};

/// What the functions of all stages share.
class HostProgram {
public:
  HostProgram(mlir::ModuleOp module, const Mesh &mesh, int64_t stages);

  int32_t addOp(ProgramOp op);
  /// The communicator along `axes` (names as in the IR), for a collective that
  /// moves so many bytes; 0 where only places in it are asked for.
  int32_t communicator(mlir::ArrayAttr axes, int64_t bytes = 0);
  /// Remembers that a stage sends or receives over `channel`.
  void useChannel(int64_t channel, ProgramChannel what);
  /// Slot of a packed form of persistent tensor `index` of `stage`; calls with
  /// the same descriptor (its slot aside) share it.
  int64_t packedSlot(int64_t stage, PackedWeight weight);

  /// Constant 64-bit words, once per contents; those at `slotWord`, if any, may
  /// differ where calls are alike.
  HostArgument words(std::vector<int64_t> values, int64_t slotWord = -1);
  /// Declares a runtime function at its first use.
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 mlir::TypeRange arguments);
  /// A constant array of 64-bit words in the module.
  mlir::LLVM::GlobalOp makeWords(llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> values);
  /// All that `words` gave out, after the last function.
  void finishWords();
  llvm::ArrayRef<int64_t> givenWords() const { return allWords; }

  mlir::ModuleOp module;
  Mesh mesh;
  int64_t stages;
  std::vector<ProgramOp> ops;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramCommunicator> communicators;
  std::vector<ProgramChannel> channels;
  std::vector<std::vector<PackedWeight>> packed; // by stage
  /// By stage and index; what @step does not touch is not there.
  std::map<std::pair<int64_t, int64_t>, PersistentUse> persistentUses;
  /// Functions of repeated calls, by the calls.
  std::map<std::vector<int64_t>, mlir::LLVM::LLVMFuncOp> repeated;
  int64_t tables = 0;                // made for repeated calls
  std::vector<HostListing> listings; // of all functions, in order

private:
  std::map<std::string, int32_t> communicatorIndex;
  std::map<std::vector<int64_t>, int64_t> wordPlaces;
  std::vector<int64_t> allWords;
  std::map<std::vector<int64_t>, int64_t> slots;
};

/// The name of the array that Words arguments point into.
inline constexpr llvm::StringLiteral kWords = "words";

/// The calls of one host function while they are listed.
class HostFunction {
public:
  HostFunction(HostProgram &program, int64_t stage)
      : program(program), builder(program.module.getContext()),
        loc(program.module.getLoc()), stage(stage) {}

  /// Address of a memref that an autopar.buffer made.
  HostArgument address(mlir::Value memref);
  HostArgument persistent(int64_t index);
  HostArgument op(ProgramOp row);
  HostArgument int32(int64_t value);
  HostArgument int64(int64_t value);
  HostArgument float64(double value);
  HostArgument function(mlir::LLVM::LLVMFuncOp callee);
  /// The rank's linear index along mesh axes, the time axis included.
  HostArgument position(mlir::ArrayAttr axes);
  /// An array of pointers on the stack.
  HostArgument pointers(std::vector<HostArgument> elements);
  /// An array of 64-bit words on the stack; null without elements.
  HostArgument words(std::vector<HostArgument> elements);

  /// status = callee(rank, arguments...); returns it unless it is 0.
  void call(llvm::StringLiteral callee, std::vector<HostArgument> arguments);

  HostProgram &program;
  mlir::Builder builder;
  mlir::Location loc; // of the next call
  int64_t stage;
  std::vector<HostCall> calls;
};

/// Makes `i32 name(rank)`, or with `hasTime` `i32 name(rank, micro-batch)`,
/// that makes the calls in order.
void emitHostFunction(HostProgram &program, llvm::StringRef name, bool hasTime,
                      std::vector<HostCall> calls);

/// The number that docs/RuntimeABI.md gives an element type, and its name.
int32_t dtypeNumber(mlir::Type element);
llvm::StringRef dtypeName(mlir::Type element);

/// The row of an op: its node, its stream, the bytes of its operands.
ProgramOp describeOp(mlir::Operation *op, llvm::StringRef kind);

/// Calls for collectives, send, recv and events; failure with an error at op
/// for what is no such op.
mlir::LogicalResult lowerCommunication(HostFunction &host, mlir::Operation *op);

/// The manifest's text. The module still has its autopar attributes.
mlir::FailureOr<std::string> makeManifest(const HostProgram &program);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_HOSTPROGRAM_H
