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

/// On the module: the inputs that `--bind` gave a value, which are constants of
/// the program, as
/// `[{name = "rate", text = "16000", value = dense<16000> : tensor<i64>}]`.
inline constexpr llvm::StringLiteral kFixedInputs = "autopar.fixed_inputs";

/// Values of up to this many elements are texts in plan files and messages, and
/// bytes in the program, which knows larger ones by their hash.
inline constexpr int64_t kWrittenElements = 64;

/// On the module: results of @step, one boolean each, that a run may not find
/// true, as `[{output = "If_3/violated/0", message = "node 'If_3' ..."}]`. With
/// `places = ["a NaN in ...", ...]` the result is an i32 that may not be above
/// 0: the number of the place that ends the message, from 1 on.
inline constexpr llvm::StringLiteral kChecks = "autopar.checks";

/// On the module: parts of inputs, from `starts` on and of `sizes`, whose
/// elements a run may not find outside of [-size, size): they are indices of
/// dimension `dim` of a tensor of the model, as `[{input = "ids", table =
/// "embedding.weight", dim = 0, size = 50, shape = [8, 2], starts = [0, 1],
/// sizes = [8, 1]}]`. `shape` is the input's, without blocks of rows. Labels of
/// a loss, which are classes from 0 on, have a `text` that says so in place of
/// table and dim, and `ignored`, where one more number is none.
inline constexpr llvm::StringLiteral kIndexBounds = "autopar.index_bounds";

/// Adds a check to the module; without `places`, a boolean.
void addCheck(mlir::ModuleOp module, mlir::StringAttr output,
              const llvm::Twine &message,
              llvm::ArrayRef<std::string> places = {});

/// On the module: the weights that the program holds for one value only, since
/// the importer looked at it, as `[{name = "scales", bytes = 16, content =
/// "..."}]` with the hash of their bytes.
inline constexpr llvm::StringLiteral kKnownTensors = "autopar.known_tensors";

/// On the module: whether tensors of floats are trained where a recipe names
/// none, by the file that lists its module's parameters, as `{fc.weight = true,
/// positions = false}`. Of others the graph decides.
inline constexpr llvm::StringLiteral kModuleTensors = "autopar.module_tensors";

/// What a recipe says of the import of a model.
struct TrainingOptions {
  /// Probability of all Dropout nodes, in [0, 1); nothing: as each says.
  std::optional<double> dropout;
  int64_t seed = 0; // of random numbers
  /// Running variances are of n - 1 values, as PyTorch's, not of the
  /// population.
  bool unbiasedVariance = false;
  /// Names of tensors of floats that are parameters even if they are scalars.
  std::set<std::string> parameters;
};

/// An array of a file, the value that `--bind INPUT=@FILE` gives an input.
struct BoundArray {
  std::string dtype; // "i64", "f32", ..., as the runtime names them
  std::vector<int64_t> shape;
  std::vector<char> bytes; // little-endian
};

struct ImportOptions {
  ReadOptions read;
  /// Texts of values by what `--bind` gives them to: numbers of a symbolic
  /// dimension by its name, of dimension i of an input as `input.i`, which goes
  /// before the name, or of an input of one element; lists `[[0,1],[2,3]]` of
  /// other inputs. An input that has a value is no input of the program.
  std::map<std::string, std::string> bindings;
  /// By input what files hold for it. `bindings` has the same as a list, or if
  /// it is long a text that no value is written as: shape and hash.
  std::map<std::string, BoundArray> arrays;

  /// Outputs by the inputs that they are in the next step: states, which begin
  /// as zeros.
  std::map<std::string, std::string> states;

  /// The model is trained: batch norm with training_mode takes the statistics
  /// of the batch, and its running statistics are states; Dropout drops.
  std::optional<TrainingOptions> trained;
  /// The program looks for its first NaN or infinity.
  bool checksNumerics = false;

  /// An export for training becomes one for inference: batch norm takes its
  /// running statistics, Dropout drops nothing.
  bool evaluates = false;

  /// Adds `IN=OUT` to the states. An error if it is no such text, or if IN or
  /// OUT has another partner already.
  llvm::Error addState(llvm::StringRef text);
  /// Adds `NAME=VALUE`; of `NAME=@FILE` the file's array. An error if it is no
  /// such text, or if NAME has another value already.
  llvm::Error bind(llvm::StringRef text);
};

/// The model as a module with one function `@step` (docs/Architecture.md "After
/// import"; `autopar-move-to-setup` then makes `@setup`). All errors of the
/// model are reported, each naming its node, op and version; null if there
/// was one. The model must outlive nothing: the module holds no weights.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(const OnnxModel &model,
                                             const ImportOptions &options,
                                             mlir::MLIRContext *context);

/// One line per row of the table of ops: name, since-version, inputs,
/// attributes. For tests that compare it with the standard.
void printOnnxOps(llvm::raw_ostream &os);

} // namespace autopar

#endif // AUTOPAR_FRONTEND_ONNXIMPORTER_H
