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
#include <set>
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

/// A library call as a program makes it.
struct LibraryCall {
  const abi::Function *compute, *pack;
  std::vector<int64_t> words; // of the descriptor
  /// The words that are the same where calls are alike: of slots only whether
  /// there is one.
  std::vector<int64_t> shape = {};
};

/// A constant matrix or filter that setup packs.
struct PackedWeight {
  LibraryCall call;       // the call that reads it first
  int64_t persistent = 0; // index of the tensor
  Typed<int32_t> op;
};

/// A host function as it was emitted, for code that prints it in another form.
struct HostListing {
  std::string name;
  bool hasTime;
  std::vector<HostLoop> loops;
};

/// The tables that the functions of all stages share.
class HostProgram {
public:
  HostProgram(mlir::ModuleOp module, const Mesh &mesh, int64_t stages);

  int32_t addOp(ProgramOp op);
  /// The communicator along `axes` (names as in the IR), for a collective that
  /// moves so many bytes; 0 where only places in it are asked for.
  int32_t communicator(mlir::ArrayAttr axes, int64_t bytes = 0);
  /// Remembers that a stage sends or receives over `channel`.
  void useChannel(int64_t channel, ProgramChannel what);
  /// Remembers the call that reads a packed form of `stage` first: setup makes
  /// it by that call's descriptor.
  void usePacked(int64_t stage, int64_t slot, const PackedWeight &weight);

  /// Constant 64-bit words, once per contents.
  Typed<const int64_t *> words(llvm::ArrayRef<int64_t> values);
  /// The constant descriptor of a library call.
  HostArgument descriptor(const LibraryCall &call) {
    return placeWords(call.words, call.shape);
  }
  /// Declares a runtime function at its first use.
  mlir::LLVM::LLVMFuncOp declare(const abi::Function &callee);
  /// A constant array of 64-bit words in the module.
  mlir::LLVM::GlobalOp makeWords(llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> values);
  /// Adds everything that `words` gave out, after the last function.
  void finishWords();
  llvm::ArrayRef<int64_t> givenWords() const { return allWords; }

  mlir::ModuleOp module;
  Mesh mesh;
  int64_t stages;
  std::vector<ProgramOp> ops;
  std::vector<ProgramKernel> kernels;
  std::vector<ProgramCommunicator> communicators;
  std::vector<ProgramChannel> channels;
  std::vector<std::map<int64_t, PackedWeight>> packed; // by stage and slot
  /// Persistent tensors that steps read as they are, by stage and index.
  std::set<std::pair<int64_t, int64_t>> readPlain;
  /// Functions of repeated calls, by the calls.
  std::map<std::vector<int64_t>, mlir::LLVM::LLVMFuncOp> repeated;
  /// The op, as the manifest numbers them, that writes each value of @step.
  std::map<std::pair<mlir::Operation *, int64_t>, int64_t> writers;
  int64_t tables = 0;                // made for repeated calls
  std::vector<HostListing> listings; // of all functions, in order

private:
  /// `shape`: the words that are the same in calls that are alike.
  HostArgument placeWords(llvm::ArrayRef<int64_t> values,
                          llvm::ArrayRef<int64_t> shape);

  std::map<std::string, int32_t> communicatorIndex;
  std::map<std::vector<int64_t>, int64_t> wordPlaces;
  std::vector<int64_t> allWords;
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
  Typed<void *> address(mlir::Value memref);
  Typed<void *> persistent(int64_t index);
  Typed<int32_t> op(ProgramOp row);
  /// A row of the manifest's "kernels".
  Typed<int32_t> kernel(int32_t number);
  Typed<aprt_kernel> function(mlir::LLVM::LLVMFuncOp callee);
  /// The rank's linear index along mesh axes, the time axis included.
  Typed<int64_t> position(mlir::ArrayAttr axes);
  /// An array of pointers on the stack.
  Typed<void *const *> pointers(llvm::ArrayRef<Typed<void *>> elements);
  /// An array of 64-bit words on the stack; null without elements.
  Typed<const int64_t *> words(llvm::ArrayRef<Typed<int64_t>> elements);

  /// status = callee(rank, given...); returns it unless it is 0. See makeCall.
  /// C++ evaluates arguments in any order: what adds to the same table twice
  /// goes into variables first.
  template <auto *callee, typename... Given> void call(Given... given) {
    static_assert(abi::SignatureOf<callee>::returnsStatus);
    calls.push_back(makeCall<callee>(loc, std::move(given)...));
  }
  /// The same for a function that a table names, with all its arguments after
  /// the rank.
  void call(const abi::Function &callee, std::vector<HostArgument> given) {
    assert(given.size() == callee.parameters.size() &&
           "runtime.def has another number of parameters");
    calls.push_back({&callee, std::move(given), loc});
  }

  HostProgram &program;
  mlir::Builder builder;
  mlir::Location loc; // of the next call
  int64_t stage;
  std::vector<HostCall> calls;
};

/// Emits the function `i32 name(rank)`, or with `hasTime` `i32 name(rank,
/// micro-batch)`, which makes the calls in order.
void emitHostFunction(HostProgram &program, llvm::StringRef name, bool hasTime,
                      std::vector<HostCall> calls);

/// The runtime's element type, and what manifests call it.
aprt_dtype dtypeOf(mlir::Type element);
llvm::StringRef dtypeName(mlir::Type element);

/// The row of an op: its node, its stream, the bytes of its operands.
ProgramOp describeOp(mlir::Operation *op, llvm::StringRef kind);

/// Adds the calls of a collective, send, recv or event op. For any other op it
/// fails with an error at the op.
mlir::LogicalResult lowerCommunication(HostFunction &host, mlir::Operation *op);

/// The manifest's text. The module still has its autopar attributes.
mlir::FailureOr<std::string> makeManifest(const HostProgram &program);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_HOSTPROGRAM_H
