//===- DimensionNames.h - What people call dimensions -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_REPORT_DIMENSIONNAMES_H
#define AUTOPAR_LIB_REPORT_DIMENSIONNAMES_H

#include "autopar/Planning/Model/DimensionMarks.h"

namespace autopar {

/// What people call it when an axis splits an op.
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
/// `the batch`, `weights by columns`, ...
llvm::StringRef stringifySplitName(SplitName outcome);

struct NamedDimension {
  SplitName outcome;
  DimensionMarks marks;
};

/// Dimensions by where they come from in the model, followed through all ops:
/// the batch of inputs, the sequence of tokens, heads (what products of two
/// activations are made for, one by one), experts (the same of an activation
/// and weights of its own each), rows of tables.
std::vector<NamedDimension> nameDimensions(const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_DIMENSIONNAMES_H
