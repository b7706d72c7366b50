//===- Graph.cpp - Stream capture and graphs of the emulated GPU ----------===//

#include "Graph.h"

#include "Gpu.h"

namespace autopar::runtime::emulated {

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

void Capture::join(Stream &stream) {
  stream.lane = branches.size();
  branches.emplace_back();
  branches.back().stream = &stream;
  graph.branches.push_back(stream.name);
}

void Capture::addNode(Stream &stream, GraphNode node) {
  Branch &branch = branches[stream.lane];
  node.branch = stream.lane;
  branch.clock.raise(uint32_t(stream.lane), ++branch.nodes);
  if (node.operation)
    branch.lastWork = branch.nodes;
  graph.nodes.push_back(std::move(node));
}

void Capture::add(Stream &stream, std::shared_ptr<const Operation> operation) {
  GraphNode node;
  node.operation = std::move(operation);
  addNode(stream, std::move(node));
}

void Capture::record(Stream &stream, Event &event) {
  event.capture = number;
  event.lane = stream.lane;
  event.position = branches[stream.lane].nodes;
  event.laneClock = branches[stream.lane].clock;
}

void Capture::wait(Stream &stream, const Event &event) {
  GraphNode node;
  node.awaitedBranch = event.lane;
  node.awaitedPosition = event.position;
  branches[stream.lane].clock.join(event.laneClock);
  addNode(stream, std::move(node));
}

const Stream *Capture::unjoined() const {
  const VectorClock &clock = branches[origin->lane].clock;
  for (size_t i = 0; i < branches.size(); ++i)
    if (clock.of(uint32_t(i)) < branches[i].lastWork)
      return branches[i].stream;
  return nullptr;
}

void Capture::release() {
  for (Branch &branch : branches)
    branch.stream->capture = nullptr;
}

//===----------------------------------------------------------------------===//
// Capture calls
//===----------------------------------------------------------------------===//

CUresult Graphs::begin(Stream &stream, CUstreamCaptureMode mode) {
  if (stream.actor == 0)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  "the default stream cannot be captured");
  if (stream.capture)
    return refuse(CUDA_ERROR_ILLEGAL_STATE,
                  stream.name + " is being captured already");
  captures.push_back(std::make_shared<Capture>(stream, ++captureCount, mode));
  stream.capture = captures.back();
  stream.capture->join(stream);
  return CUDA_SUCCESS;
}

CUresult Graphs::end(Stream &stream, CUgraph *result) {
  *result = nullptr;
  std::shared_ptr<Capture> capture = stream.capture;
  if (!capture)
    return refuse(CUDA_ERROR_ILLEGAL_STATE,
                  stream.name + " is not being captured");
  if (capture->origin != &stream)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                  "the capture began on " + capture->origin->name +
                      " and cannot end on " + stream.name);
  const Stream *unjoined = capture->unjoined();
  capture->release();
  captures.erase(std::find(captures.begin(), captures.end(), capture));
  if (capture->invalid)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  "the capture of " + stream.name +
                      " was made invalid by an earlier call: " +
                      gpu().faults.captureText);
  if (unjoined)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                  "the capture of " + stream.name + " ends, but " +
                      unjoined->name + " has work that " + stream.name +
                      " does not wait for");
  graphs.push_back(std::make_unique<Graph>(std::move(capture->graph)));
  *result = reinterpret_cast<CUgraph>(graphs.back().get());
  return CUDA_SUCCESS;
}

CUresult Graphs::mayEnqueue(Stream &stream) {
  if (stream.capture && stream.capture->invalid)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  "the capture of " + stream.capture->origin->name +
                      " was made invalid by an earlier call: " +
                      gpu().faults.captureText);
  if (stream.actor != 0)
    return CUDA_SUCCESS;
  for (auto &capture : captures) {
    if (capture->origin->nonBlocking)
      continue;
    capture->invalid = true;
    gpu().faults.captureText = "the default stream was used during it";
    return refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                  "the default stream is used while " + capture->origin->name +
                      " is being captured, which its work would wait for");
  }
  return CUDA_SUCCESS;
}

CUresult Graphs::wait(Stream &stream, Event &event) {
  if (!event.capture) {
    if (stream.capture)
      return refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                    stream.name + " is being captured and cannot wait for " +
                        event.name + ", recorded outside of the capture");
    if (event.record) {
      gpu().queues.wait(stream, *event.record);
      return CUDA_SUCCESS;
    }
    return fault(FaultKind::unrecordedEvent,
                 stream.name + " waits for " + event.name +
                     (gpu().label.empty() ? "" : " in " + gpu().label));
  }
  for (auto &capture : captures) {
    if (capture->number != event.capture)
      continue;
    if (stream.capture && stream.capture != capture)
      return refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                    stream.name + " waits for " + event.name +
                        " of another capture");
    if (!stream.capture) {
      stream.capture = capture;
      capture->join(stream);
    }
    capture->wait(stream, event);
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_CAPTURED_EVENT,
                event.name + " was recorded in a capture that has ended");
}

CUresult Graphs::mayCall(const char *call, Stream *stream) {
  for (auto &capture : captures) {
    bool affected = stream ? stream->capture == capture
                           : capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    if (!affected)
      continue;
    capture->invalid = true;
    gpu().faults.captureText = std::string(call) + " was called during it";
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  std::string(call) + " is not allowed while " +
                      capture->origin->name + " is being captured");
  }
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

template <typename T, typename Handle>
static auto findHandle(std::vector<std::unique_ptr<T>> &all, Handle handle) {
  return std::find_if(all.begin(), all.end(), [&](const auto &item) {
    return item.get() == reinterpret_cast<T *>(handle);
  });
}

CUresult Graphs::instantiate(CUgraph handle, CUgraphExec *result) {
  auto graph = findHandle(graphs, handle);
  if (graph == graphs.end())
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a graph");
  executables.push_back(std::make_unique<GraphExec>());
  GraphExec &executable = *executables.back();
  executable.graph = **graph;
  // Work may keep state from run to run: each executable has its own.
  for (GraphNode &node : executable.graph.nodes)
    if (node.operation)
      node.operation = std::make_shared<Operation>(*node.operation);
  for (const std::string &name : executable.graph.branches) {
    Stream *branch = gpu().queues.createStream(name, /*nonBlocking=*/true);
    branch->ofGraph = true;
    executable.branches.push_back(branch);
  }
  *result = reinterpret_cast<CUgraphExec>(&executable);
  return CUDA_SUCCESS;
}

/// All branches begin after `stream` and after all branches of the launch
/// before.
static void beginBranches(GraphExec &executable, Stream &stream) {
  Queues &queues = gpu().queues;
  queues.beginCommand(stream);
  struct End {
    uint64_t sequence;
    VectorClock clock;
  };
  std::vector<End> ends;
  for (Stream *branch : executable.branches)
    ends.push_back({branch->issued, branch->clock});
  for (Stream *branch : executable.branches) {
    queues.waitFor(*branch, stream, stream.issued, stream.clock);
    for (size_t i = 0; i < ends.size(); ++i)
      queues.waitFor(*branch, *executable.branches[i], ends[i].sequence,
                     ends[i].clock);
  }
}

CUresult Graphs::launch(CUgraphExec handle, Stream &stream) {
  auto found = findHandle(executables, handle);
  if (found == executables.end())
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not an executable graph");
  if (stream.capture)
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "a graph is launched on " + stream.name +
                      ", which is being captured: not emulated");
  GraphExec &executable = **found;
  Queues &queues = gpu().queues;
  beginBranches(executable, stream);
  // Per branch, its end: the position in its queue and the clock after each of
  // its nodes.
  struct EndOfNode {
    uint64_t sequence;
    VectorClock clock;
  };
  std::vector<std::vector<EndOfNode>> places(executable.branches.size());
  for (const GraphNode &node : executable.graph.nodes) {
    Stream &branch = *executable.branches[node.branch];
    if (node.operation) {
      if (CUresult code = queues.enqueue(branch, node.operation))
        return code;
    } else if (node.awaitedPosition > 0) {
      const EndOfNode &place =
          places[node.awaitedBranch][node.awaitedPosition - 1];
      queues.waitFor(branch, *executable.branches[node.awaitedBranch],
                     place.sequence, place.clock);
    }
    places[node.branch].push_back({branch.issued, branch.clock});
  }
  for (Stream *branch : executable.branches)
    queues.waitFor(stream, *branch, branch->issued, branch->clock);
  return CUDA_SUCCESS;
}

CUresult Graphs::destroy(CUgraph handle) {
  auto found = findHandle(graphs, handle);
  if (found == graphs.end())
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a graph");
  graphs.erase(found);
  return CUDA_SUCCESS;
}

CUresult Graphs::destroy(CUgraphExec handle) {
  auto found = findHandle(executables, handle);
  if (found == executables.end())
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not an executable graph");
  for (Stream *branch : (*found)->branches)
    gpu().queues.destroy(*branch);
  executables.erase(found);
  return CUDA_SUCCESS;
}

std::vector<std::string> Graphs::openHandles() const {
  std::vector<std::string> result;
  for (size_t i = 0; i < graphs.size(); ++i)
    result.push_back("a graph");
  for (size_t i = 0; i < executables.size(); ++i)
    result.push_back("an executable graph");
  return result;
}

} // namespace autopar::runtime::emulated
