//===- CudaGraphs.cpp - Steps that are repeated on a GPU ------------------===//

#include "CudaGraphs.h"

namespace autopar::runtime {

CudaGraphs::~CudaGraphs() {
  if (context.isIdle())
    clear();
}

void CudaGraphs::clear() {
  for (auto &[time, graph] : graphs)
    if (graph)
      (void)context.driver.cuGraphExecDestroy(graph);
  graphs.clear();
}

void CudaGraphs::disable(std::string reason) {
  enabled = false;
  why = std::move(reason);
}

Status CudaGraphs::run(int64_t time, const std::function<Status()> &body) {
  ++runs;
  if (!enabled)
    return body();
  // Graphs name addresses: those made before memory moved are of no use.
  if (generation != context.memoryGeneration()) {
    APRT_TRY(context.waitForAll());
    clear();
    generation = context.memoryGeneration();
  }
  auto [found, isFirst] = graphs.try_emplace(time, nullptr);
  if (isFirst || runs <= firstRuns)
    return body();
  if (!found->second) {
    Status status = capture(body, found->second);
    if (status.failed()) {
      disable(status.message());
      return body();
    }
  }
  APRT_CUDA(context.driver, cuGraphLaunch, found->second, context.stream(0));
  return Status::success();
}

/// Nothing of `body` runs. What it leaves in a failed capture is thrown away.
Status CudaGraphs::capture(const std::function<Status()> &body,
                           CUgraphExec &executable) {
  const DriverApi &driver = context.driver;
  APRT_CUDA(driver, cuStreamBeginCapture_v2, context.stream(0),
            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  context.setCapturing(true);
  Status status = body();
  context.setCapturing(false);
  CUgraph graph = nullptr;
  CUresult ended = driver.cuStreamEndCapture(context.stream(0), &graph);
  if (status.ok())
    status = driver.check(ended, "cuStreamEndCapture");
  if (status.ok())
    status =
        driver.check(driver.cuGraphInstantiateWithFlags(&executable, graph, 0),
                     "cuGraphInstantiateWithFlags");
  if (graph)
    (void)driver.cuGraphDestroy(graph);
  return status;
}

} // namespace autopar::runtime
