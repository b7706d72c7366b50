//===- ManifestTables.cpp - What the calls of a program refer to ----------===//

#include "ManifestParts.h"

#include "../files/ContentHash.h"

#include <algorithm>

namespace autopar::runtime {

namespace {
constexpr int64_t maxStreams = 64;
// The limits of CUDA devices: the threads of a block and its static shared
// memory.
constexpr int64_t maxThreads = 1024;
constexpr int64_t maxSharedBytes = 48 << 10;
} // namespace

static Communicator parseCommunicator(const JsonReader &json, int world) {
  Communicator result;
  result.axes = json.member("axes").strings();
  result.bytes = json.member("bytes").integer(0, maxBytes);
  std::vector<bool> taken(world);
  for (const JsonReader &group : json.member("groups").elements()) {
    std::vector<int> members;
    for (int64_t rank : group.integers(0, world - 1)) {
      if (taken[rank])
        group.fail("holds rank " + std::to_string(rank) + " a second time");
      taken[rank] = true;
      members.push_back(int(rank));
    }
    if (members.empty())
      group.fail("is empty");
    result.groups.push_back(std::move(members));
  }
  return result;
}

static Channel parseChannel(const JsonReader &json, int stages) {
  Channel channel;
  channel.fromStage = int(json.member("from_stage").integer(0, stages - 1));
  channel.toStage = int(json.member("to_stage").integer(0, stages - 1));
  channel.bytes = json.member("bytes").integer(0, maxBytes);
  channel.slots = json.member("slots").integer(1, 4096);
  int64_t total;
  if (!checkedMultiply(channel.bytes, channel.slots, total) || total > maxBytes)
    json.fail("is too large");
  return channel;
}

static OpEntry parseOp(const JsonReader &json) {
  OpEntry op;
  op.name = json.member("name").string();
  op.kind = json.member("kind").string();
  JsonReader stream = json.member("stream", /*optional=*/true);
  op.stream = stream.isNull() ? 0 : stream.integer(0, maxStreams - 1);
  JsonReader bytes = json.member("bytes", /*optional=*/true);
  op.bytes = bytes.isNull() ? 0.0 : bytes.number();
  return op;
}

static KernelEntry parseKernel(const JsonReader &json) {
  KernelEntry kernel;
  kernel.name = json.member("name").string();
  kernel.threads = json.member("threads").integer(1, maxThreads);
  kernel.sharedBytes = json.member("shared_bytes").integer(0, maxSharedBytes);
  kernel.scalars = json.member("scalars").integer(0, maxCount);
  for (const JsonReader &element : json.member("buffers").elements()) {
    KernelEntry::BufferEntry buffer;
    buffer.bytes = element.member("bytes").integer(0, maxBytes);
    std::string access = element.member("access").string();
    buffer.reads = access == "r" || access == "rw";
    buffer.writes = access == "w" || access == "rw";
    if (!buffer.reads && !buffer.writes)
      element.member("access").fail("must be \"r\", \"w\" or \"rw\"");
    kernel.buffers.push_back(buffer);
  }
  return kernel;
}

static void parseKernels(const JsonReader &json, Manifest &manifest) {
  if (json.isNull())
    return;
  for (const JsonReader &element : json.elements())
    manifest.kernels.push_back(parseKernel(element));
  if (manifest.target == Target::Cpu && !manifest.kernels.empty())
    json.fail("is for GPUs only");
}

/// Parses 16 hexadecimal digits. Returns 0 and records a failure for anything
/// else.
static uint64_t parseHashText(const JsonReader &json) {
  uint64_t hash = 0;
  if (!parseHash(json.string(), hash))
    json.fail("must be 16 hexadecimal digits");
  return hash;
}

static WeightFileEntry parseWeightFile(const JsonReader &json) {
  WeightFileEntry entry;
  entry.name = json.member("name").string();
  entry.bytes = json.member("bytes").integer(0, maxBytes);
  JsonReader made = json.member("made", /*optional=*/true);
  entry.isMade = !made.isNull() && made.boolean();
  JsonReader size = json.member("size", /*optional=*/true);
  if (!size.isNull())
    entry.size = size.integer(entry.bytes, maxBytes);
  JsonReader structure = json.member("structure", /*optional=*/true);
  if (!structure.isNull())
    entry.structure = parseHashText(structure);
  JsonReader content = json.member("content", /*optional=*/true);
  if (!content.isNull())
    entry.content = parseHashText(content);
  return entry;
}

static void parseWeights(const JsonReader &json, Manifest &manifest) {
  for (const JsonReader &element : json.member("files").elements())
    manifest.weightFiles.push_back(parseWeightFile(element));
  JsonReader known = json.member("known", /*optional=*/true);
  if (known.isNull())
    return;
  for (const JsonReader &element : known.elements()) {
    KnownTensor tensor;
    tensor.name = element.member("name").string();
    tensor.bytes = element.member("bytes").integer(0, maxBytes);
    tensor.content = parseHashText(element.member("content"));
    manifest.knownTensors.push_back(std::move(tensor));
  }
}

void parseTables(const JsonReader &root, Manifest &manifest) {
  for (const JsonReader &json : root.member("communicators").elements())
    manifest.communicators.push_back(
        parseCommunicator(json, manifest.worldSize()));
  for (const JsonReader &json : root.member("channels").elements())
    manifest.channels.push_back(parseChannel(json, manifest.stages));
  for (const JsonReader &json : root.member("ops").elements())
    manifest.ops.push_back(parseOp(json));
  for (const OpEntry &op : manifest.ops)
    manifest.streams = std::max(manifest.streams, op.stream + 1);
  parseKernels(root.member("kernels", /*optional=*/true), manifest);
  parseWeights(root.member("weights"), manifest);
}

} // namespace autopar::runtime
