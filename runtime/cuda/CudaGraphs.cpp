//===- CudaGraphs.cpp - Steps that are repeated on a GPU ------------------===//

#include "CudaGraphs.h"

namespace autopar::runtime {

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

/// NCCL wants its operations in the graphs of all ranks or of none.
Status CudaGraphs::agree() {
  bool all = false;
  APRT_TRY(context.agree(enabled, all));
  if (all)
    return Status::success();
  if (enabled)
    disable("the steps of another rank cannot be graphs");
  clear();
  eager = true;
  return Status::success();
}

Status CudaGraphs::run(int64_t time, const std::function<Status()> &body) {
  ++runs;
  if (eager)
    return body();
  auto [found, isFirst] = graphs.try_emplace(time, nullptr);
  if (isFirst || runs <= firstRuns)
    return body();
  if (!found->second)
    APRT_TRY(captureTogether(body, found->second));
  if (!enabled)
    return body();
  // One rank alone must not make its graphs again.
  if (generation != context.memoryGeneration())
    return Status::error("memory moved that the graph of a step names");
  APRT_CUDA(context.driver, cuGraphLaunch, found->second, context.stream(0));
  return Status::success();
}

/// Every rank comes here in the same runs, whatever it knows against graphs.
Status CudaGraphs::captureTogether(const std::function<Status()> &body,
                                   CUgraphExec &executable) {
  if (generation < 0)
    generation = context.memoryGeneration();
  if (generation != context.memoryGeneration())
    disable("memory moved after a step became a graph");
  APRT_TRY(agree());
  if (!enabled)
    return Status::success();
  Status status = capture(body, executable);
  if (status.failed())
    disable(status.message());
  return agree();
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
