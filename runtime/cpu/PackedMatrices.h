//===- PackedMatrices.h - Packed matrices that vectors meet -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_PACKEDMATRICES_H
#define AUTOPAR_RUNTIME_CPU_PACKEDMATRICES_H

#include "GemmPlan.h"

#include <unordered_map>

namespace autopar::runtime {

/// The packed matrices of a rank whose program has several entries. An entry
/// that multiplies a matrix by one row keeps it plain; where another one has
/// packed the same matrix so that columns can be read, that serves both: each
/// result's terms are added in the order of the plain one.
class PackedMatrices {
public:
  /// A matrix that was packed of B.
  void add(const PackedMatrix &matrix, const void *b);
  /// Gives a plain matrix the parts of an equal one in place of its own copy,
  /// if there is one.
  void adopt(PackedMatrix &matrix) const;

private:
  /// The matrices by hash of B; plainIsTransposed says how B lay.
  std::unordered_multimap<uint64_t, PackedMatrix> matrices;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_PACKEDMATRICES_H
