//===- GemmPlan.h - One GEMM cut for the threads ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_GEMMPLAN_H
#define AUTOPAR_RUNTIME_CPU_GEMMPLAN_H

#include "../core/GemmShape.h"
#include "OneDnn.h"
#include "PackedStore.h"
#include "ThreadPool.h"
#include "autopar/runtime.h"

#include <optional>
#include <vector>

namespace autopar::runtime {

/// A range of one dimension.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

/// What one thread computes.
struct GemmPiece {
  Range batch, rows, columns;
};

/// Cuts a normalized GEMM for `threads`: by batch, by rows, or by columns
/// where rows are few. `columns`: cut as B was packed (empty: free choice).
std::vector<GemmPiece> cutGemm(const aprt_gemm_desc &desc, int threads,
                               const std::vector<Range> &columns);

/// A layout whose columns can be read: `width` of them lie side by side, the
/// next row `rowStride` elements on, the next columns `blockStride`.
struct ColumnBlocks {
  int64_t width = 0, rowStride = 0, blockStride = 0;
};
/// None of a layout that packs rows into each other.
std::optional<ColumnBlocks> columnBlocks(const dnnl_memory_desc_t &layout);

/// A constant B in the library's layout. One part per column range; each part
/// holds every distinct matrix of B's batch, `matrixBytes` apart.
struct PackedMatrix {
  struct Part {
    Range columns;
    dnnl_memory_desc_t layout;
    int64_t matrixBytes = 0;
    PackedBytes data;
  };
  aprt_gemm_desc desc{}; // normalized
  int64_t matrices = 0;  // 0: nothing was packed here
  std::vector<Part> parts;
  /// [matrices, k, n], or transposed [matrices, n, k]: for the runtime's own
  /// loops, or made when the library refuses a layout.
  PackedBytes plain;
  bool plainIsTransposed = false;
  /// The parts are of another entry; for GEMVs alone, which read columns.
  bool isAdopted = false;

  std::vector<Range> columns() const;
  /// True if a row of A can be multiplied with the parts as they lie.
  bool readsByColumns() const;
};

class GemmPlan {
public:
  GemmPlan(const aprt_gemm_desc &normalized, int64_t addendMode)
      : desc(normalized), addendMode(addendMode) {}

  /// Makes the primitives, with B from `packed` unless that is null. False if
  /// the library refuses.
  bool create(const OneDnn &library, int threads, const PackedMatrix *packed,
              Workspace &workspace);

  /// False if the library reports a failure.
  bool run(ThreadPool &pool, const void *a, const void *b, const void *bias,
           const void *addend, void *c);

private:
  struct Step {
    GemmPiece piece;
    int64_t batches = 1; // matrices of one call
    const PackedMatrix::Part *part = nullptr;
    int addendArgument = 0;
    Primitive primitive;
  };
  bool createStep(const OneDnn &library, Step &step, Workspace &workspace);
  bool runStep(Step &step, const char *a, const char *b, const char *bias,
               const char *addend, char *c);

  aprt_gemm_desc desc;
  int64_t addendMode;
  std::vector<Step> steps;
};

/// The library's view of A, B and C of one piece. False if a stride pattern is
/// one that it does not take.
struct GemmLayouts {
  dnnl_memory_desc_t a, b, bias, c;
};
/// With `batches` above 1 of that many matrices, for one batch dimension.
bool gemmLayouts(const OneDnn &library, const aprt_gemm_desc &desc,
                 int64_t rows, int64_t columns, GemmLayouts &layouts,
                 int64_t batches = 1);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_GEMMPLAN_H
