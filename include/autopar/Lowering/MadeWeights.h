//===- MadeWeights.h - Weights that the compiler writes ---------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_MADEWEIGHTS_H
#define AUTOPAR_LOWERING_MADEWEIGHTS_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <vector>

namespace autopar {

/// The places of the parameters whose bytes the compiler writes itself, into
/// the executable or into a file beside it. Each is written once, however many
/// entries read it.
class MadeWeights {
public:
  /// A parameter: `size` bytes at `offset` of the weights.
  struct Piece {
    std::string name;
    int64_t offset = 0, size = 0;
  };

  /// `executable` is its path, as it was asked for. With `isEmbedded` the
  /// weights are in it; otherwise they are in `<executable>.weights`, unless
  /// the executable is no plain file. `placed` is a module's
  /// `autopar.made_weights`: the
  /// weights that were placed before.
  static llvm::Expected<MadeWeights> create(llvm::StringRef executable,
                                            bool isEmbedded,
                                            mlir::ArrayAttr placed = {});

  /// Gives `parameter` its place among these weights.
  llvm::Expected<ParameterAttr> place(ParameterAttr parameter);
  /// All parameters, in the order of their offsets.
  const std::vector<Piece> &all() const { return pieces; }
  /// The bytes of all parameters and of the gaps between them.
  int64_t end() const;
  bool isEmbedded() const { return embedded; }

  /// The folder of the executable.
  const std::string &folder() const { return home; }
  /// The path of the weights' own file.
  const std::string &path() const { return beside; }
  /// The name of the file that parameters give; no external data of a model has
  /// this name.
  std::string file() const { return "/" + name(); }
  /// The name of the file beside the executable; for weights inside it, a word
  /// for that.
  std::string name() const;
  /// Returns whether the file of the weights is the one at `other`.
  bool isFile(llvm::StringRef other) const;

private:
  llvm::Error restore(MadeWeightAttr piece);

  std::string home, beside;
  bool embedded = false;
  std::vector<Piece> pieces;
  std::map<std::string, size_t> numbers; // of pieces, by name
};

} // namespace autopar

#endif // AUTOPAR_LOWERING_MADEWEIGHTS_H
