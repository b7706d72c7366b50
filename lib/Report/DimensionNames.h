//===- DimensionNames.h - What people call dimensions -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_DIMENSIONNAMES_H
#define AUTOPAR_LIB_REPORT_DIMENSIONNAMES_H

#include "autopar/Planning/Model/DimensionMarks.h"

namespace autopar {

/// The usual name for the dimension that an axis splits in an op.
enum class SplitName {
  Batch,
  Columns, // of weights
  Rows,    // of weights
  Channels,
  Spatial,
  Sequence,
  Heads,
  Experts,
  TableRows,
  Other,
};
/// Returns the name as text, such as `the batch` or `weights by columns`.
llvm::StringRef stringifySplitName(SplitName outcome);

struct NamedDimension {
  SplitName outcome;
  DimensionMarks marks;
};

/// Names dimensions by their origin in the model, which is followed through all
/// ops: the batch of inputs, the sequence of tokens, heads (a further batch
/// dimension of a product of two activations), experts (the same for a product
/// of an activation and a weight), and rows of tables.
std::vector<NamedDimension> nameDimensions(const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_DIMENSIONNAMES_H
