//===- GemmPlan.cpp - One GEMM cut for the threads ------------------------===//

#include "GemmPlan.h"

#include "../core/DataType.h"

#include <algorithm>
#include <atomic>

namespace autopar::runtime {

std::vector<Range> PackedMatrix::columns() const {
  std::vector<Range> result;
  for (const Part &part : parts)
    result.push_back(part.columns);
  return result;
}

bool PackedMatrix::readsByColumns() const {
  return desc.n > 1 && !parts.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const Part &part) {
           return columnBlocks(part.layout).has_value();
         });
}

std::optional<ColumnBlocks> columnBlocks(const dnnl_memory_desc_t &layout) {
  const dnnl_blocking_desc_t &blocking = layout.format_desc.blocking;
  if (layout.format_kind != dnnl_blocked || layout.ndims != 2 ||
      layout.offset0 != 0 || layout.extra.flags != 0)
    return std::nullopt;
  int inner = blocking.inner_nblks;
  const auto *sizes = blocking.inner_blks, *dims = blocking.inner_idxs;
  int64_t rows = blocking.strides[0], columns = blocking.strides[1];
  if (inner == 0 && columns == 1 && rows > 1)
    return ColumnBlocks{layout.dims[1], rows, 0};
  if (inner == 1 && dims[0] == 1 && sizes[0] > 1)
    return ColumnBlocks{sizes[0], rows, columns};
  // Blocks of rows follow each other.
  if (inner == 2 && dims[0] == 0 && dims[1] == 1 && sizes[1] > 1 &&
      rows == sizes[0] * sizes[1])
    return ColumnBlocks{sizes[1], sizes[1], columns};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

/// [0, total) in at most `pieces` ranges whose inner borders are multiples of
/// `align`.
static std::vector<Range> cutRange(int64_t total, int64_t pieces,
                                   int64_t align) {
  int64_t length = (total + pieces - 1) / pieces;
  length = (length + align - 1) / align * align;
  std::vector<Range> result;
  for (int64_t begin = 0; begin < total; begin += length)
    result.push_back({begin, std::min(total, begin + length)});
  return result;
}

std::vector<GemmPiece> cutGemm(const aprt_gemm_desc &desc, int threads,
                               const std::vector<Range> &columns) {
  constexpr int64_t rowsPerThread = 64, columnsPerThread = 64;
  constexpr double smallGemm = 1 << 18; // flops not worth a second thread
  Range allBatches{0, gemmBatches(desc)}, allRows{0, desc.m},
      allColumns{0, desc.n};
  std::vector<GemmPiece> pieces;
  if (columns.size() > 1) {
    for (Range range : columns)
      pieces.push_back({allBatches, allRows, range});
    return pieces;
  }
  double flops = 2.0 * double(allBatches.end) * double(desc.m) *
                 double(desc.n) * double(desc.k);
  bool mayCutColumns = columns.empty();
  if (threads == 1 || flops < smallGemm) {
    pieces.push_back({allBatches, allRows, allColumns});
  } else if (allBatches.end % threads == 0 || allBatches.end >= 4 * threads) {
    for (Range range : cutRange(allBatches.end, threads, 1))
      pieces.push_back({range, allRows, allColumns});
  } else if (desc.m >= rowsPerThread * threads || !mayCutColumns ||
             desc.n < columnsPerThread * threads) {
    int64_t align = desc.m >= 32 * threads ? 16 : 1;
    for (Range range : cutRange(desc.m, threads, align))
      pieces.push_back({allBatches, range, allColumns});
  } else {
    for (Range range : cutRange(desc.n, threads, 16))
      pieces.push_back({allBatches, allRows, range});
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// `batches` matrices `batchStride` apart, or one for all of them; as two
/// dimensions where there is one.
struct Batch {
  int64_t count, stride;
};

/// A matrix [rows, columns] with one stride equal to 1. A dimension of size 1
/// gets the stride that makes the matrix dense.
static bool matrixLayout(const OneDnn &library, dnnl_data_type_t type,
                         Batch batch, int64_t rows, int64_t columns,
                         int64_t rowStride, int64_t columnStride,
                         dnnl_memory_desc_t &layout) {
  if (rows == 1 && columns == 1)
    rowStride = columnStride = 1;
  else if (rows == 1)
    rowStride = columnStride == 1 ? columns : 1;
  else if (columns == 1)
    columnStride = rowStride == 1 ? rows : 1;
  bool plain = columnStride == 1 && rowStride >= columns;
  bool transposed = rowStride == 1 && columnStride >= rows;
  if (!plain && !transposed)
    return false;
  bool shared = batch.stride == 0;
  dnnl_dims_t sizes = {shared ? 1 : batch.count, rows, columns};
  dnnl_dims_t strides = {shared ? rows * columns : batch.stride, rowStride,
                         columnStride};
  int skip = batch.count == 1;
  return library.dnnl_memory_desc_init_by_strides(
             &layout, 3 - skip, sizes + skip, type, strides + skip) ==
         dnnl_success;
}

bool gemmLayouts(const OneDnn &library, const aprt_gemm_desc &desc,
                 int64_t rows, int64_t columns, GemmLayouts &layouts,
                 int64_t batches) {
  dnnl_data_type_t type = oneDnnType(desc.dtype);
  if (type == dnnl_data_type_undef)
    return false;
  int64_t r = desc.batch_rank;
  auto batch = [&](const int64_t *strides) {
    return Batch{batches, batches > 1 ? strides[r - 1] : 0};
  };
  return matrixLayout(library, type, batch(desc.a_strides), rows, desc.k,
                      desc.a_strides[r], desc.a_strides[r + 1], layouts.a) &&
         matrixLayout(library, type, batch(desc.b_strides), desc.k, columns,
                      desc.b_strides[r], desc.b_strides[r + 1], layouts.b) &&
         matrixLayout(library, type, batch(desc.c_strides), rows, columns,
                      desc.c_strides[r], desc.c_strides[r + 1], layouts.c) &&
         matrixLayout(library, type, {batches, 0}, 1, columns, columns, 1,
                      layouts.bias);
}

bool GemmPlan::createStep(const OneDnn &library, Step &step,
                          Workspace &workspace) {
  GemmLayouts layouts;
  if (!gemmLayouts(library, desc, step.piece.rows.size(),
                   step.piece.columns.size(), layouts, step.batches))
    return false;
  if (step.part)
    layouts.b = step.part->layout;
  PostOps epilogue(library);
  epilogue.activation(desc.activation);
  if (addendMode == addendInC)
    epilogue.sum();
  if (addendMode == separateAddend)
    step.addendArgument = epilogue.add(layouts.c);
  dnnl_primitive_attr_t attributes = epilogue.attributes();
  dnnl_matmul_desc_t operation;
  if (!epilogue.ok() ||
      library.dnnl_matmul_desc_init(&operation, &layouts.a, &layouts.b,
                                    desc.bias ? &layouts.bias : nullptr,
                                    &layouts.c) != dnnl_success)
    return false;
  Primitive &primitive = step.primitive;
  return primitive.create(library, &operation, attributes, &workspace,
                          steps.size() - 1) &&
         primitive.addArgument(DNNL_ARG_SRC, layouts.a) &&
         primitive.addArgument(DNNL_ARG_WEIGHTS, layouts.b) &&
         primitive.addArgument(DNNL_ARG_DST, layouts.c) &&
         (!desc.bias || primitive.addArgument(DNNL_ARG_BIAS, layouts.bias)) &&
         (addendMode != separateAddend ||
          primitive.addArgument(step.addendArgument, layouts.c));
}

/// Whether matrices are so small that a call for each costs more than they do,
/// and are one behind the other as the library's batches are fast.
static bool isSmallBatch(const aprt_gemm_desc &desc) {
  constexpr double smallMatrix = 1 << 18; // flops
  int64_t r = desc.batch_rank;
  if (r != 1 || desc.a_strides[r + 1] != 1 ||
      2.0 * double(desc.m) * double(desc.n) * double(desc.k) > smallMatrix)
    return false;
  auto apart = [&](const int64_t *strides, int64_t rows, int64_t columns) {
    return strides[0] >= rows * strides[r] &&
           strides[0] >= columns * strides[r + 1];
  };
  return apart(desc.a_strides, desc.m, desc.k) &&
         apart(desc.b_strides, desc.k, desc.n) &&
         apart(desc.c_strides, desc.m, desc.n);
}

bool GemmPlan::create(const OneDnn &library, int threads,
                      const PackedMatrix *packed, Workspace &workspace) {
  std::vector<Range> columns;
  if (packed)
    columns = packed->columns();
  else if (desc.n == 0 || desc.m == 0 || desc.k == 0)
    return false;
  std::vector<GemmPiece> pieces = cutGemm(desc, threads, columns);
  for (size_t i = 0; i < pieces.size(); ++i) {
    steps.emplace_back();
    steps.back().piece = pieces[i];
    if (isSmallBatch(desc) && !packed)
      steps.back().batches = pieces[i].batch.size();
    if (packed)
      steps.back().part = &packed->parts[columns.size() > 1 ? i : 0];
    if (!createStep(library, steps.back(), workspace))
      return false;
  }
  return true;
}

bool GemmPlan::runStep(Step &step, const char *a, const char *b,
                       const char *bias, const char *addend, char *c) {
  const GemmPiece &piece = step.piece;
  int64_t element = elementBytes(desc.dtype), r = desc.batch_rank;
  Primitive &primitive = step.primitive;
  if (desc.bias)
    primitive.bind(DNNL_ARG_BIAS, bias + piece.columns.begin * element);
  for (int64_t i = piece.batch.begin; i < piece.batch.end; i += step.batches) {
    int64_t atA = gemmOffset(desc, desc.a_strides, i) +
                  piece.rows.begin * desc.a_strides[r];
    int64_t atC = gemmOffset(desc, desc.c_strides, i) +
                  piece.rows.begin * desc.c_strides[r] +
                  piece.columns.begin * desc.c_strides[r + 1];
    primitive.bind(DNNL_ARG_SRC, a + atA * element);
    primitive.bind(DNNL_ARG_DST, c + atC * element);
    if (addendMode == separateAddend)
      primitive.bind(step.addendArgument, addend + atC * element);
    if (step.part) {
      const char *data = static_cast<const char *>(step.part->data.data());
      primitive.bind(DNNL_ARG_WEIGHTS,
                     data + distinctMatrix(desc, i) * step.part->matrixBytes);
    } else {
      int64_t atB = gemmOffset(desc, desc.b_strides, i) +
                    piece.columns.begin * desc.b_strides[r + 1];
      primitive.bind(DNNL_ARG_WEIGHTS, b + atB * element);
    }
    if (!primitive.execute())
      return false;
  }
  return true;
}

bool GemmPlan::run(ThreadPool &pool, const void *a, const void *b,
                   const void *bias, const void *addend, void *c) {
  std::atomic<bool> good{true};
  pool.run(int64_t(steps.size()), [&](int64_t i) {
    if (!runStep(steps[i], static_cast<const char *>(a),
                 static_cast<const char *>(b), static_cast<const char *>(bias),
                 static_cast<const char *>(addend), static_cast<char *>(c)))
      good.store(false);
  });
  return good.load();
}

} // namespace autopar::runtime
