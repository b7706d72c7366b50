//===- GemmPack.cpp - Packing of constant matrices ------------------------===//

#include "../core/DataType.h"
#include "Gemm.h"
#include "Gemv.h"

#include <cstring>

namespace autopar::runtime {

/// A plain layout whose rows, or columns, do not all begin at the same few
/// places in a page: a kernel that reads the matrix as it is would have them in
/// the same few sets of the cache (without AVX-512: up to half the speed).
static bool spreadOverLines(const OneDnn &library, int64_t element,
                            dnnl_memory_desc_t &layout) {
  constexpr int64_t quarterPage = 1024, line = 64;
  const dnnl_blocking_desc_t &blocking = layout.format_desc.blocking;
  if (layout.format_kind != dnnl_blocked || blocking.inner_nblks > 0)
    return true;
  dnnl_dims_t strides = {blocking.strides[0], blocking.strides[1]};
  int64_t &step = strides[0] > strides[1] ? strides[0] : strides[1];
  if (step * element % quarterPage != 0)
    return true;
  step += line / element;
  return library.dnnl_memory_desc_init_by_strides(&layout, 2, layout.dims,
                                                  layout.data_type,
                                                  strides) == dnnl_success;
}

/// Packs the columns of every distinct matrix into the layout that the library
/// wants for a GEMM of this many rows. False if it refuses.
static bool packPart(const OneDnn &library, const aprt_gemm_desc &desc,
                     int64_t rows, const void *b, MemoryCounter &memory,
                     PackedMatrix::Part &part) {
  GemmLayouts layouts;
  if (!gemmLayouts(library, desc, rows, part.columns.size(), layouts))
    return false;
  dnnl_memory_desc_t chosen;
  dnnl_dims_t sizes = {desc.k, part.columns.size()};
  dnnl_matmul_desc_t operation;
  PostOps none(library);
  Primitive probe, reorder;
  if (library.dnnl_memory_desc_init_by_tag(
          &chosen, 2, sizes, oneDnnType(desc.dtype), dnnl_format_tag_any) !=
          dnnl_success ||
      library.dnnl_matmul_desc_init(&operation, &layouts.a, &chosen,
                                    desc.bias ? &layouts.bias : nullptr,
                                    &layouts.c) != dnnl_success ||
      !probe.create(library, &operation, none.attributes(), nullptr))
    return false;
  part.layout = probe.layoutOf(dnnl_query_weights_md);
  int64_t element = elementBytes(desc.dtype);
  if (!spreadOverLines(library, element, part.layout))
    return false;
  part.matrixBytes =
      int64_t(library.dnnl_memory_desc_get_size(&part.layout) + 63) / 64 * 64;
  int64_t matrices = distinctMatrices(desc);
  if (!reorder.createReorder(library, layouts.b, part.layout) ||
      part.data
          .allocate(matrices * part.matrixBytes, "a packed weight", &memory)
          .failed())
    return false;
  for (int64_t i = 0; i < matrices; ++i) {
    int64_t at = distinctOffset(desc, i) +
                 part.columns.begin * desc.b_strides[desc.batch_rank + 1];
    reorder.bind(DNNL_ARG_FROM, static_cast<const char *>(b) + at * element);
    reorder.bind(DNNL_ARG_TO,
                 static_cast<char *>(part.data.data()) + i * part.matrixBytes);
    if (!reorder.execute())
      return false;
  }
  return true;
}

/// A dense copy, with the dimension innermost that is so in B.
static Status copyPlain(const aprt_gemm_desc &desc, const void *b,
                        MemoryCounter &memory, PackedMatrix &matrix) {
  int64_t element = elementBytes(desc.dtype), r = desc.batch_rank;
  int64_t lines = desc.k, columns = desc.n;
  int64_t lineStride = desc.b_strides[r], columnStride = desc.b_strides[r + 1];
  matrix.plainIsTransposed = lineStride == 1 && columnStride != 1;
  if (matrix.plainIsTransposed) {
    std::swap(lines, columns);
    std::swap(lineStride, columnStride);
  }
  APRT_TRY(matrix.plain.allocate(matrix.matrices * lines * columns * element,
                                 "a packed weight", &memory));
  char *to = static_cast<char *>(matrix.plain.data());
  for (int64_t i = 0; i < matrix.matrices; ++i)
    for (int64_t line = 0; line < lines; ++line) {
      const char *from =
          static_cast<const char *>(b) +
          (distinctOffset(desc, i) + line * lineStride) * element;
      int64_t run = columnStride == 1 ? columns : 1;
      for (int64_t column = 0; column < columns; column += run) {
        std::memcpy(to, from + column * columnStride * element,
                    size_t(run * element));
        to += run * element;
      }
    }
  return Status::success();
}

Status Gemm::pack(const aprt_gemm_desc &described, const void *b) {
  APRT_TRY(checkGemm(described, packed.size()));
  if (described.slot < 0)
    return Status::error("a weight to pack names no slot");
  aprt_gemm_desc desc = normalizeGemm(described);
  PackedMatrix &matrix = packed[desc.slot];
  matrix = PackedMatrix();
  for (auto it = entries.begin(); it != entries.end();) // plans of an old one
    it = it->first.desc.slot == desc.slot ? entries.erase(it) : std::next(it);
  matrix.desc = desc;
  matrix.matrices = distinctMatrices(desc);
  bool good = library.available() && desc.m > 0 && desc.n > 0 && desc.k > 0 &&
              matrix.matrices > 0 && !isGemv(desc);
  if (good) {
    std::vector<GemmPiece> pieces = cutGemm(desc, pool.threads(), {});
    bool byColumns = pieces.size() > 1 && pieces[1].columns.begin > 0;
    matrix.parts.resize(byColumns ? pieces.size() : 1);
    for (size_t i = 0; i < matrix.parts.size() && good; ++i) {
      matrix.parts[i].columns = pieces[i].columns;
      good = packPart(library, desc, pieces[i].rows.size(), b, memory,
                      matrix.parts[i]);
    }
  }
  if (good) {
    for (PackedMatrix::Part &part : matrix.parts)
      part.data.shareIn(store);
    if (others)
      others->add(matrix, b);
    return Status::success();
  }
  matrix.parts.clear();
  APRT_TRY(copyPlain(desc, b, memory, matrix));
  matrix.plain.shareIn(store);
  if (others)
    others->adopt(matrix);
  return Status::success();
}

void Gemm::adoptPacked() {
  for (PackedMatrix &matrix : packed)
    if (others)
      others->adopt(matrix);
}

Status Gemm::ensurePlain(PackedMatrix &matrix) {
  if (matrix.plain.data())
    return Status::success();
  const aprt_gemm_desc &desc = matrix.desc;
  int64_t element = elementBytes(desc.dtype);
  APRT_TRY(matrix.plain.allocate(matrix.matrices * desc.k * desc.n * element,
                                 "an unpacked weight", &memory));
  for (const PackedMatrix::Part &part : matrix.parts) {
    dnnl_memory_desc_t layout;
    dnnl_dims_t sizes = {desc.k, part.columns.size()}, strides = {desc.n, 1};
    int64_t columnStride = 1;
    if (matrix.plainIsTransposed) {
      strides[0] = 1;
      strides[1] = columnStride = desc.k;
    }
    Primitive reorder;
    if (library.dnnl_memory_desc_init_by_strides(&layout, 2, sizes,
                                                 oneDnnType(desc.dtype),
                                                 strides) != dnnl_success ||
        !reorder.createReorder(library, part.layout, layout))
      return Status::error("oneDNN cannot unpack a weight");
    for (int64_t i = 0; i < matrix.matrices; ++i) {
      reorder.bind(DNNL_ARG_FROM, static_cast<const char *>(part.data.data()) +
                                      i * part.matrixBytes);
      reorder.bind(DNNL_ARG_TO, static_cast<char *>(matrix.plain.data()) +
                                    (i * desc.k * desc.n +
                                     part.columns.begin * columnStride) *
                                        element);
      if (!reorder.execute())
        return Status::error("oneDNN cannot unpack a weight");
    }
  }
  matrix.plain.shareIn(store);
  return Status::success();
}

} // namespace autopar::runtime
