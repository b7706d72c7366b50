//===- MadeWeights.h - Weights that the compiler writes ---------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_MADEWEIGHTS_H
#define AUTOPAR_LOWERING_MADEWEIGHTS_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <vector>

namespace autopar {

/// Places of the parameters whose bytes the compiler writes itself, once each
/// however many entries read them: in the executable, or in a file beside it.
class MadeWeights {
public:
  /// One parameter: `size` bytes at `offset` of the weights.
  struct Piece {
    std::string name;
    int64_t offset = 0, size = 0;
  };

  /// `executable`: its path, as it was asked for. With `isEmbedded` in it; else
  /// in `<executable>.weights`, unless it is no plain file. `placed`: what a
  /// module's kMadeWeights says was placed before.
  static llvm::Expected<MadeWeights> create(llvm::StringRef executable,
                                            bool isEmbedded,
                                            mlir::ArrayAttr placed = {});

  /// `parameter` with its place among these weights.
  llvm::Expected<ParameterAttr> place(ParameterAttr parameter);
  /// All of them, in the order of their offsets.
  const std::vector<Piece> &all() const { return pieces; }
  /// Bytes of all of them, with what is between.
  int64_t end() const;
  bool isEmbedded() const { return embedded; }

  /// The folder of the executable.
  const std::string &folder() const { return home; }
  /// The path of the weights' own file.
  const std::string &path() const { return beside; }
  /// What parameters name as their file; no model's external data is called so.
  std::string file() const { return "/" + name(); }
  /// The file's name beside the executable; a word for those inside.
  std::string name() const;
  /// Whether that file is the one at `other`.
  bool isFile(llvm::StringRef other) const;

private:
  llvm::Error restore(mlir::Attribute piece);

  std::string home, beside;
  bool embedded = false;
  std::vector<Piece> pieces;
  std::map<std::string, size_t> numbers; // of pieces, by name
};

} // namespace autopar

#endif // AUTOPAR_LOWERING_MADEWEIGHTS_H
