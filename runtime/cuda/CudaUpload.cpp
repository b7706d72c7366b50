//===- CudaUpload.cpp - Weights on their way to a GPU ---------------------===//

#include "CudaUpload.h"

namespace autopar::runtime {

CudaUpload::CudaUpload(CudaContext &context)
    : context(context), stages{Stage(context), Stage(context)} {}

Status CudaUpload::takeRoom(int64_t bytes, char *&room) {
  constexpr int64_t alignment = 256;
  if (stages[now].used + bytes > stageBytes) {
    APRT_TRY(stages[now].copied.record(context.stream(0)));
    now ^= 1;
    APRT_TRY(stages[now].copied.wait());
    stages[now].used = 0;
  }
  Stage &stage = stages[now];
  APRT_TRY(stage.memory.reserve(stageBytes, "the staging of weights"));
  room = stage.memory.data() + stage.used;
  stage.used += (bytes + alignment - 1) / alignment * alignment;
  return Status::success();
}

Status CudaUpload::upload(CUdeviceptr to, const HostSlice &slice) {
  int64_t most = std::max<int64_t>(1, stageBytes / slice.elementBytes);
  return forEachPart(
      slice.intervals, most,
      [&](const std::vector<Interval> &part, int64_t offset) -> Status {
        int64_t bytes = elementsOf(part) * slice.elementBytes;
        char *room = nullptr;
        APRT_TRY(takeRoom(bytes, room));
        APRT_TRY(slice.copy(part, room));
        APRT_CUDA(context.driver, cuMemcpyHtoDAsync_v2,
                  to + CUdeviceptr(offset * slice.elementBytes), room,
                  size_t(bytes), context.stream(0));
        return Status::success();
      });
}

Status CudaUpload::release() {
  if (!stages[0].memory.data() && !stages[1].memory.data())
    return Status::success();
  APRT_TRY(context.waitForAll());
  for (Stage &stage : stages) {
    APRT_TRY(stage.memory.release());
    stage.used = 0;
  }
  return Status::success();
}

} // namespace autopar::runtime
