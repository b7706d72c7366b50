//===- WeightPlaces.h - Where an executable finds its weights ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H
#define AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FileUtilities.h"
#include <map>

namespace autopar {

struct WeightPaths {
  std::string model, executable;
  std::string given; // `--weights`; empty: beside the model
};

/// Parameters whose bytes are raw in no file (compressed models, typed fields),
/// once each however many entries read them, in one file that appears when
/// whole.
class WeightsFile {
public:
  explicit WeightsFile(std::string path) : path(std::move(path)) {}

  llvm::Expected<ParameterAttr> place(const OnnxModel &model,
                                      ParameterAttr parameter);
  /// Moves the file into place, if anything was written.
  llvm::Error finish();

private:
  llvm::Error open();

  std::string path;
  llvm::SmallString<128> beside;
  std::unique_ptr<llvm::raw_fd_ostream> os;
  llvm::FileRemover remover;
  std::map<std::string, std::pair<int64_t, int64_t>> places;
};

/// Says in the scheduled module where each weights file lies relative to the
/// executable. Parameters without a file go to `made`.
llvm::Error placeWeightFiles(mlir::ModuleOp module, const OnnxModel &model,
                             const WeightPaths &paths, WeightsFile &made);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_WEIGHTPLACES_H
