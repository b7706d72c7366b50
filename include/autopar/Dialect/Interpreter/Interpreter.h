//===- Interpreter.h - Reference semantics of the dialect -------*- C++ -*-===//
//
// The interpreter runs plain loops. One machine runs a function at all points
// of a mesh in lockstep, op by op; a whole model is the case of one point.
// Collectives and position ops see all points.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_INTERPRETER_H
#define AUTOPAR_DIALECT_INTERPRETER_INTERPRETER_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <map>
#include <string>

namespace autopar::interpreter {

//===----------------------------------------------------------------------===//
// One op, one function
//===----------------------------------------------------------------------===//

/// Computes the result of a compute op. An error is reported at `op` if it is
/// no compute op, or not defined for its types.
mlir::FailureOr<Tensor> evaluate(mlir::Operation *op,
                                 llvm::ArrayRef<const Tensor *> operands);

/// Runs a function on one device.
mlir::FailureOr<std::vector<Tensor>>
interpret(mlir::func::FuncOp func, llvm::ArrayRef<Tensor> arguments);

//===----------------------------------------------------------------------===//
// All points of a mesh
//===----------------------------------------------------------------------===//

/// A value at every point of the mesh.
using Everywhere = std::vector<TensorRef>;

class Machine {
public:
  explicit Machine(Mesh mesh) : mesh(std::move(mesh)) {}

  const Mesh &getMesh() const { return mesh; }
  int64_t points() const { return mesh.pointCount(); }

  /// Runs `block` with these arguments and returns the terminator's operands.
  mlir::FailureOr<std::vector<Everywhere>>
  run(mlir::Block &block, llvm::ArrayRef<Everywhere> arguments);

  /// The memory of a stage at each point. It has to be set before a function in
  /// buffer form runs.
  std::vector<Memory> memory;

  mlir::FailureOr<Everywhere> load(mlir::Operation *user, const Place &place);
  mlir::LogicalResult store(
      mlir::Operation *user, const Place &place, const Everywhere &value,
      Chosen chosen = [](int64_t) { return true; });

  /// An early result, a gradient: the contents of its place after the op that
  /// writes the value of that number. The place may hold another value soon
  /// after.
  struct EarlyResult {
    int64_t number;
    Place place;
    Everywhere value;
  };
  std::vector<EarlyResult> early;
  /// The early result, or the contents of its place at the end if no op has
  /// written it.
  mlir::FailureOr<Everywhere> loadEarly(mlir::Operation *user, int64_t number,
                                        const Place &place);

  /// Called, if set, with the results of every op as they are computed.
  std::function<void(mlir::Operation *, llvm::ArrayRef<Everywhere>)> observe;

private:
  mlir::LogicalResult execute(mlir::Operation *op);
  mlir::LogicalResult keepEarly(mlir::Operation *op, mlir::Value output);
  mlir::FailureOr<Everywhere> evaluateEverywhere(mlir::Operation *op);
  mlir::LogicalResult runKernel(KernelOp kernel);
  mlir::FailureOr<std::vector<Everywhere>> runBody(KernelOp kernel);
  mlir::FailureOr<bool> writesOverInput(KernelOp kernel);
  mlir::FailureOr<Place> placeOf(mlir::Operation *user, mlir::Value buffer);
  mlir::LogicalResult send(SendOp op);
  mlir::FailureOr<Everywhere> receive(RecvOp op);
  /// The tensor in a tensor value or in a memref's place.
  mlir::FailureOr<Everywhere> read(mlir::Operation *user, mlir::Value value);
  void bind(mlir::Operation *op, mlir::Value result, Everywhere value);
  /// Binds a result, or writes where `output` points.
  mlir::LogicalResult write(mlir::Operation *op, mlir::Value result,
                            mlir::Value output, Everywhere value);

  Mesh mesh;
  llvm::DenseMap<mlir::Value, Everywhere> values;
  llvm::DenseMap<mlir::Value, Place> places;
  std::map<int64_t, Everywhere> channels;
};

/// The results of a collective at every point.
mlir::FailureOr<Everywhere> evaluateCollective(mlir::Operation *op,
                                               const Everywhere &input,
                                               mlir::RankedTensorType type,
                                               const Mesh &mesh);
bool isCollective(mlir::Operation *op);

/// The result of a position op at one point.
mlir::FailureOr<Tensor>
evaluatePosition(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands,
                 const Mesh &mesh, int64_t point);
bool isPosition(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// A module
//===----------------------------------------------------------------------===//

struct NamedTensor {
  std::string name;
  Tensor value;
  bool ofSetup = false; // a value of setup, no output
  int64_t step = 0;
};

/// The name of the input, parameter, output or value of setup that an argument
/// or result is; without one, "argument" or "result" and its number.
std::string argumentName(mlir::func::FuncOp func, unsigned index);
std::string resultName(mlir::func::FuncOp func, unsigned index);

/// The name under which the provider is asked for an input of a step.
std::string inputName(llvm::StringRef name, int64_t step);

/// A function that gives the global value of an input or parameter.
using Provider = llvm::function_ref<Tensor(llvm::StringRef name,
                                           mlir::RankedTensorType type)>;

/// A text that says how `actual` differs from the results of another form of
/// the module: an output that only one of the two has, or a value outside of
/// `tolerance` (see compare). Setup values that only one has do not count. It
/// is nullopt if they are equal.
std::optional<std::string> compareResults(llvm::ArrayRef<NamedTensor> expected,
                                          llvm::ArrayRef<NamedTensor> actual,
                                          double tolerance, double scale = 0);

/// Runs @setup and `steps` times @step, or @setup_s and @step_s of every stage
/// s in order, at all points of the mesh, in any form from import to buffers.
/// Returns the outputs and states of each step and the values of setup as
/// global tensors. Devices that disagree on a replicated result, and partial
/// results, are errors.
mlir::FailureOr<std::vector<NamedTensor>>
runModule(mlir::ModuleOp module, Provider provider, int64_t steps = 1);

} // namespace autopar::interpreter

#endif // AUTOPAR_DIALECT_INTERPRETER_INTERPRETER_H
