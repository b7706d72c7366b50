//===- ConvPlan.h - One convolution cut for the threads ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_CONVPLAN_H
#define AUTOPAR_RUNTIME_CPU_CONVPLAN_H

#include "OneDnn.h"
#include "PackedStore.h"
#include "ThreadPool.h"
#include "autopar/runtime.h"

#include <vector>

namespace autopar::runtime {

/// What one thread computes: images [image, imageEnd), each call `desc`, which
/// is a part of one or more whole images.
struct ConvPiece {
  aprt_conv_desc desc;
  int64_t image = 0, imageEnd = 0;
  int64_t x = 0, y = 0; // elements of an image before those it reads, writes
  int64_t o = 0;        // its first output channel
};

/// Cuts by batch where that is even; else plain tensors by channels and
/// channels-last ones by rows, so that each piece is dense; else by image.
std::vector<ConvPiece> cutConv(const aprt_conv_desc &desc, int threads);

/// The library's direct algorithm on explicit layouts. An addend is expected in
/// Y when the plan runs.
class ConvPlan {
public:
  explicit ConvPlan(const aprt_conv_desc &desc) : desc(desc) {}

  /// False if the library refuses.
  bool create(const OneDnn &library, int threads, Workspace &workspace);
  /// Memory for the packed filter: of its own if the plan names a slot, else
  /// the workspace's.
  Status allocate(MemoryCounter &memory);

  /// Brings W into the layout that the library chose: where the plan keeps it
  /// if it names a slot, else into the workspace, for the next run.
  bool packWeights(ThreadPool &pool, const void *w);
  /// The weights that the plan keeps give way to the same bytes in the store;
  /// null: there is no store.
  void shareWeights(PackedStore *store) { kept.shareIn(store); }

  bool run(ThreadPool &pool, const void *x, const void *bias, void *y);

private:
  struct Step {
    ConvPiece piece;
    size_t weights = 0; // index into weights
    Primitive primitive;
  };
  struct Weights {
    int64_t offset = 0; // elements of W before this part
    int64_t place = 0;  // bytes of the packed filter before this part
    dnnl_memory_desc_t source, layout;
  };
  /// Of some output channels of a part.
  struct Reorder {
    size_t weights = 0; // index into weights
    Primitive primitive;
  };
  bool createStep(const OneDnn &library, Step &step);
  bool createReorders(const OneDnn &library, size_t part, int64_t pieces);
  char *packed() const {
    return static_cast<char *>(kept.data() ? kept.data()
                                           : workspace->filterBlock());
  }
  bool runStep(Step &step, const char *x, const char *bias, char *y);

  aprt_conv_desc desc;
  std::vector<Step> steps;
  std::vector<Weights> weights;
  std::vector<Reorder> reorders;
  int64_t packedBytes = 0; // of all parts
  Workspace *workspace = nullptr;
  PackedBytes kept; // of a plan that names a slot
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_CONVPLAN_H
