//===- Graph.h - Stream capture and graphs of the emulated GPU --*- C++ -*-===//
//
// A capture records the work of its streams, and the events between them, in
// the order of the host's calls. An executable graph has a stream of its own,
// a branch, for each captured one; a launch enqueues all recorded work on them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_GRAPH_H
#define AUTOPAR_RUNTIME_EMULATED_GRAPH_H

#include "Queues.h"

namespace autopar::runtime::emulated {

struct GraphNode {
  size_t branch = 0;
  std::shared_ptr<const Operation> operation; // null: a wait
  size_t awaitedBranch = 0, awaitedPosition = 0;
};

struct Graph {
  std::vector<std::string> branches; // names of the captured streams
  std::vector<GraphNode> nodes;
};

class Capture {
public:
  Capture(Stream &origin, uint64_t number, CUstreamCaptureMode mode)
      : origin(&origin), number(number), mode(mode) {}

  void join(Stream &stream);
  void add(Stream &stream, std::shared_ptr<const Operation> operation);
  void record(Stream &stream, Event &event);
  void wait(Stream &stream, const Event &event);
  /// A branch with work that the origin has not waited for, or null.
  const Stream *unjoined() const;
  /// The streams are free again.
  void release();

  Stream *const origin;
  const uint64_t number;
  const CUstreamCaptureMode mode;
  bool invalid = false;
  Graph graph;

private:
  struct Branch {
    Stream *stream = nullptr;
    size_t nodes = 0;
    size_t lastWork = 0; // position after it
    VectorClock clock;   // over branches
  };
  void addNode(Stream &stream, GraphNode node);

  std::vector<Branch> branches;
};

struct GraphExec {
  Graph graph;
  std::vector<Stream *> branches;
};

class Graphs {
public:
  CUresult begin(Stream &stream, CUstreamCaptureMode mode);
  CUresult end(Stream &stream, CUgraph *result);
  /// CUDA_SUCCESS, or why the stream cannot get work or events: its capture was
  /// invalidated, or it is the default stream beside a capture.
  CUresult mayEnqueue(Stream &stream);
  CUresult wait(Stream &stream, Event &event);

  /// `call` waits for, or frees, what a capture must not: refused, and the
  /// capture is invalid. With a stream: if that one is captured; without: if
  /// any capture forbids unsafe calls.
  CUresult mayCall(const char *call, Stream *stream);

  CUresult instantiate(CUgraph handle, CUgraphExec *result);
  CUresult launch(CUgraphExec handle, Stream &stream);
  CUresult destroy(CUgraph handle);
  CUresult destroy(CUgraphExec handle);
  std::vector<std::string> openHandles() const;

private:
  std::vector<std::shared_ptr<Capture>> captures; // that go on
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<GraphExec>> executables;
  uint64_t captureCount = 0;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_GRAPH_H
