//===- PackedMatrices.cpp - Packed matrices that vectors meet -------------===//

#include "PackedMatrices.h"

#include "../core/DataType.h"
#include "../files/ContentHash.h"

#include <cstring>

namespace autopar::runtime {

/// True if a matrix is copied column by column, as it lies.
static bool isTransposed(const aprt_gemm_desc &desc) {
  int64_t r = desc.batch_rank;
  return desc.b_strides[r] == 1 && desc.b_strides[r + 1] != 1;
}

/// The strides of B's distinct matrices, along their dense dimension.
static uint64_t hashOf(const aprt_gemm_desc &desc, const void *b) {
  int64_t element = elementBytes(desc.dtype), r = desc.batch_rank;
  int64_t lines = desc.k, length = desc.n;
  int64_t lineStride = desc.b_strides[r], stride = desc.b_strides[r + 1];
  if (isTransposed(desc)) {
    std::swap(lines, length);
    std::swap(lineStride, stride);
  }
  std::vector<char> gathered(size_t(length * element));
  ContentHash hash;
  for (int64_t i = 0; i < distinctMatrices(desc); ++i)
    for (int64_t at = 0; at < lines; ++at) {
      const char *line = static_cast<const char *>(b) +
                         (distinctOffset(desc, i) + at * lineStride) * element;
      if (stride != 1) {
        for (int64_t j = 0; j < length; ++j)
          std::memcpy(gathered.data() + j * element,
                      line + j * stride * element, size_t(element));
        line = gathered.data();
      }
      hash.add(line, gathered.size());
    }
  return hash.value();
}

namespace {
/// Compares the parts of one matrix with another one's plain copy.
class Comparison {
public:
  Comparison(const PackedMatrix &parts, const PackedMatrix &plain)
      : matrix(parts), desc(parts.desc), element(elementBytes(desc.dtype)),
        base(static_cast<const char *>(plain.plain.data())),
        rowStride(plain.plainIsTransposed ? 1 : desc.n),
        columnStride(plain.plainIsTransposed ? desc.k : 1) {}

  bool isEqual() const {
    for (const PackedMatrix::Part &part : matrix.parts)
      for (int64_t i = 0; i < matrix.matrices; ++i)
        if (!isEqual(part, i))
          return false;
    return true;
  }

private:
  bool isEqual(const PackedMatrix::Part &part, int64_t number) const {
    ColumnBlocks blocks = *columnBlocks(part.layout);
    const char *packed =
        static_cast<const char *>(part.data.data()) + number * part.matrixBytes;
    const char *plain = base + number * desc.k * desc.n * element;
    for (int64_t n = 0; n < part.columns.size(); ++n) {
      const char *column =
          packed +
          (n / blocks.width * blocks.blockStride + n % blocks.width) * element;
      const char *other =
          plain + (part.columns.begin + n) * columnStride * element;
      for (int64_t k = 0; k < desc.k; ++k)
        if (std::memcmp(column + k * blocks.rowStride * element,
                        other + k * rowStride * element, size_t(element)) != 0)
          return false;
    }
    return true;
  }

  const PackedMatrix &matrix;
  const aprt_gemm_desc &desc;
  const int64_t element;
  const char *const base;
  const int64_t rowStride, columnStride; // of the plain copy
};
} // namespace

void PackedMatrices::add(const PackedMatrix &matrix, const void *b) {
  if (!matrix.readsByColumns())
    return;
  auto added = matrices.emplace(hashOf(matrix.desc, b), matrix);
  added->second.plainIsTransposed = isTransposed(matrix.desc);
}

void PackedMatrices::adopt(PackedMatrix &matrix) const {
  const aprt_gemm_desc &desc = matrix.desc;
  bool isRow = matrix.plain.data() && matrix.parts.empty() && desc.m == 1 &&
               desc.n > 1 && desc.k > 1;
  if (!isRow)
    return;
  aprt_gemm_desc dense = withDenseB(desc, matrix.plainIsTransposed);
  auto [first, last] = matrices.equal_range(hashOf(dense, matrix.plain.data()));
  for (auto it = first; it != last; ++it) {
    const PackedMatrix &other = it->second;
    if (other.desc.k != desc.k || other.desc.n != desc.n ||
        other.desc.dtype != desc.dtype || other.matrices != matrix.matrices ||
        other.plainIsTransposed != matrix.plainIsTransposed ||
        !Comparison(other, matrix).isEqual())
      continue;
    matrix.parts = other.parts;
    matrix.isAdopted = true;
    matrix.plain = PackedBytes();
    return;
  }
}

} // namespace autopar::runtime
