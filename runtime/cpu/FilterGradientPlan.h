//===- FilterGradientPlan.h - The gradient of one filter --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_FILTERGRADIENTPLAN_H
#define AUTOPAR_RUNTIME_CPU_FILTERGRADIENTPLAN_H

#include "../core/ConvShape.h"
#include "OneDnn.h"
#include "ThreadPool.h"

#include <vector>

namespace autopar::runtime {

/// A convolution of aprt_conv_desc's `filter_gradient` by the library. Each
/// thread computes the gradient from some of the images, in a layout that the
/// library chose; the threads add these up in the order of the images.
class FilterGradientPlan {
public:
  explicit FilterGradientPlan(const aprt_conv_desc &desc) : desc(desc) {}

  /// False if the library refuses.
  bool create(const OneDnn &library, int threads, Workspace &workspace);
  /// Memory for what the threads compute: the workspace's.
  Status allocate() { return workspace->reserveFilter(scratchBytes); }

  bool run(ThreadPool &pool, const ConvOperands &operands);

private:
  /// Images [image, image + images of the primitive).
  struct Piece {
    int64_t image = 0;
    int64_t place = 0; // bytes of the scratch before its gradient
    dnnl_memory_desc_t layout;
    Primitive primitive;
  };
  bool createPiece(const OneDnn &library, const aprt_conv_desc &images,
                   int64_t thread);
  bool createSums(const OneDnn &library, int threads);
  char *scratch() const {
    return static_cast<char *>(workspace->filterBlock());
  }

  aprt_conv_desc desc;
  std::vector<Piece> pieces;
  dnnl_memory_desc_t result; // row-major
  /// For some output channels each: one primitive per piece, of which the first
  /// writes and the others add.
  std::vector<std::vector<Primitive>> sums;
  int64_t scratchBytes = 0;
  Workspace *workspace = nullptr;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_FILTERGRADIENTPLAN_H
