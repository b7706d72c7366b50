//===- OnnxImporter.h - ONNX graph to the autopar dialect -------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_ONNXIMPORTER_H
#define AUTOPAR_FRONTEND_ONNXIMPORTER_H

#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <set>
#include <string>

namespace autopar {

/// A value of at most this many elements is written as text in plan files and
/// messages, and as bytes in the program. Larger values are written as their
/// hash.
inline constexpr int64_t kWrittenElements = 64;

/// Adds a check to the module; without `places` its result is a boolean.
void addCheck(mlir::ModuleOp module, mlir::StringAttr output,
              const llvm::Twine &message,
              llvm::ArrayRef<std::string> places = {});

/// The keys of a recipe that the import of a model depends on.
struct TrainingOptions {
  /// The probability of all Dropout nodes, in [0, 1); without one each node has
  /// its own.
  std::optional<double> dropout;
  int64_t seed = 0; // for random numbers
  /// Running variances divide by n - 1, as PyTorch's do, and not by n.
  bool unbiasedVariance = false;
  /// The names of tensors of floats that are parameters even if they are
  /// scalars.
  std::set<std::string> parameters;
};

/// An array of a file: the value that `--bind INPUT=@FILE` gives to an input.
struct BoundArray {
  std::string dtype; // "i64", "f32", ..., as the runtime names them
  std::vector<int64_t> shape;
  std::vector<char> bytes; // little-endian
};

struct ImportOptions {
  ReadOptions read;
  /// The texts that `--bind` gives, by name. A number belongs to a symbolic
  /// dimension, to dimension i of an input (`input.i`, which takes precedence
  /// over the dimension's name), or to an input of one element. A list such as
  /// `[[0,1],[2,3]]` belongs to another input. An input that has a value is no
  /// input of the program.
  std::map<std::string, std::string> bindings;
  /// The arrays that files give to inputs, by input. `bindings` has the same
  /// array as a list, or if it is long as shape and hash.
  std::map<std::string, BoundArray> arrays;

  /// The states: for each input the output that is this input in the next step.
  /// States begin as zeros.
  std::map<std::string, std::string> states;

  /// The model is trained: batch norm with training_mode takes the statistics
  /// of the batch and keeps running statistics as states, and Dropout drops.
  std::optional<TrainingOptions> trained;
  /// The program ends at its first NaN or infinity.
  bool checksNumerics = false;

  /// An export for training is compiled for inference: batch norm takes its
  /// running statistics, and Dropout drops nothing.
  bool evaluates = false;

  /// Adds `IN=OUT` to the states. It is an error if the text is of another
  /// form, or if IN or OUT has another partner already.
  llvm::Error addState(llvm::StringRef text);
  /// Adds `NAME=VALUE`, or for `NAME=@FILE` the file's array. It is an error if
  /// the text is of another form, or if NAME has another value already.
  llvm::Error bind(llvm::StringRef text);
};

/// The model as a module with one function `@step` (docs/Architecture.md "After
/// import"; `autopar-move-to-setup` then makes `@setup`). All errors of the
/// model are reported, each with its node, op and version; the result is then
/// null. The module holds no weights and does not need the model any more.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const OnnxModel &model,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context);

/// The table of ops as text, a line per row: name, since-version, inputs,
/// attributes. Tests compare it with the standard.
void printOnnxOps(llvm::raw_ostream &os);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_ONNXIMPORTER_H
