//===- Manifest.cpp - What a program says about itself --------------------===//

#include "Manifest.h"

#include "../files/ContentHash.h"
#include "JsonReader.h"

#include <algorithm>
#include <set>

namespace autopar::runtime {

namespace {
constexpr int64_t maxRanks = APRT_MAX_RANKS;
constexpr int64_t maxBytes = int64_t(1) << 50;
constexpr int64_t maxElements = int64_t(1) << 48;
constexpr int64_t maxCount = int64_t(1) << 24;
constexpr int64_t maxStreams = 64;
// Of CUDA's devices: threads of a block, its static shared memory.
constexpr int64_t maxThreads = 1024;
constexpr int64_t maxSharedBytes = 48 << 10;
} // namespace

bool Manifest::uses(const std::string &library) const {
  return std::find(libraries.begin(), libraries.end(), library) !=
         libraries.end();
}

const char *Manifest::opName(int op) const {
  return op >= 0 && size_t(op) < ops.size() ? ops[op].name.c_str() : "(start)";
}

const char *Manifest::opKind(int op) const {
  return op >= 0 && size_t(op) < ops.size() ? ops[op].kind.c_str() : "runtime";
}

std::vector<int64_t> Manifest::coordinates(int worldRank, int64_t time) const {
  std::vector<int64_t> result(mesh.size());
  int64_t index = worldRank % devicesPerStage;
  for (int axis = int(mesh.size()) - 1; axis >= 0; --axis) {
    if (axis == timeAxis) {
      result[axis] = time;
      continue;
    }
    result[axis] = index % mesh[axis].size;
    index /= mesh[axis].size;
  }
  return result;
}

static void parseMesh(const JsonReader &root, Manifest &manifest) {
  int64_t devices = 1;
  for (const JsonReader &axis : root.member("mesh").elements()) {
    std::vector<JsonReader> pair = axis.elements();
    if (pair.size() != 2)
      return axis.fail("must be [name, size]");
    MeshAxis entry{pair[0].string(), pair[1].integer(1, maxCount)};
    if (entry.name == "time") {
      if (manifest.timeAxis >= 0)
        return axis.fail("is a second axis 'time'");
      manifest.timeAxis = int(manifest.mesh.size());
    } else {
      devices *= entry.size;
    }
    if (devices > maxRanks)
      return axis.fail("makes more than " + std::to_string(maxRanks) +
                       " devices");
    manifest.mesh.push_back(std::move(entry));
  }
  manifest.devicesPerStage = int(devices);
  manifest.stages = int(root.member("stages").integer(1, maxRanks / devices));
  manifest.microBatches = root.member("micro_batches").integer(1, maxCount);
  if (manifest.timeAxis >= 0 &&
      manifest.mesh[manifest.timeAxis].size != manifest.microBatches)
    root.member("micro_batches").fail("differs from the size of axis 'time'");
}

static DimSlice parseDim(const JsonReader &json, const Manifest &manifest) {
  DimSlice dim;
  dim.size = json.member("size").integer(0, maxElements);
  dim.step = json.member("step").integer(-maxElements, maxElements);
  dim.offset = json.member("offset").integer(-maxElements, maxElements);
  dim.length = json.member("length").integer(0, maxElements);
  int64_t blocks = 1;
  for (const JsonReader &element : json.member("split").elements()) {
    std::vector<JsonReader> triple = element.elements();
    if (triple.size() != 3) {
      element.fail("must be [axis, divisor, modulus]");
      return dim;
    }
    SplitDigit digit;
    digit.axis = triple[0].integer(0, int64_t(manifest.mesh.size()) - 1);
    digit.divisor = triple[1].integer(1, maxCount);
    digit.modulus = triple[2].integer(1, maxCount);
    blocks = std::min(maxCount + 1, blocks * digit.modulus);
    dim.split.push_back(digit);
  }
  int64_t reach;
  if (blocks > maxCount ||
      __builtin_mul_overflow(blocks, std::abs(dim.step), &reach) ||
      reach > maxElements)
    json.fail("reaches too far");
  return dim;
}

static std::vector<DimSlice> parseDims(const JsonReader &json,
                                       const std::vector<int64_t> &globalShape,
                                       const Manifest &manifest) {
  std::vector<DimSlice> dims;
  for (const JsonReader &element : json.elements())
    dims.push_back(parseDim(element, manifest));
  bool agrees = dims.size() == globalShape.size();
  for (size_t i = 0; agrees && i < dims.size(); ++i)
    agrees = dims[i].size == globalShape[i];
  if (!agrees)
    json.fail("does not agree with the tensor's shape");
  return dims;
}

static std::vector<int64_t> parseShape(const JsonReader &json, aprt_dtype dtype,
                                       int64_t &bytes) {
  std::vector<int64_t> shape = json.integers(0, maxElements);
  if (shape.size() > 32)
    json.fail("has more than 32 dimensions");
  if (!tensorBytes(dtype, shape, bytes) || bytes > maxBytes) {
    json.fail("is too large");
    bytes = 0;
  }
  return shape;
}

static std::vector<int64_t> lengthsOf(const std::vector<DimSlice> &dims) {
  std::vector<int64_t> lengths;
  for (const DimSlice &dim : dims)
    lengths.push_back(dim.length);
  return lengths;
}

static Port parsePort(const JsonReader &json, const Manifest &manifest) {
  Port port;
  port.name = json.member("name").string();
  port.dtype = json.member("dtype").dtype();
  port.shape = parseShape(json.member("shape"), port.dtype, port.globalBytes);
  port.dims = parseDims(json.member("dims"), port.shape, manifest);
  if (!tensorBytes(port.dtype, lengthsOf(port.dims), port.localBytes)) {
    json.member("dims").fail("is too large");
    port.localBytes = 0;
  }
  for (const JsonReader &element : json.member("stages").elements()) {
    PortPlacement place;
    place.stage = int(element.member("stage").integer(0, manifest.stages - 1));
    if (JsonReader held = element.member("persistent", /*optional=*/true);
        !held.isNull()) {
      place.persistent = held.integer(0, maxCount);
    } else {
      place.arenaOffset = element.member("offset").integer(0, maxBytes);
      if (place.arenaOffset + port.localBytes >
          manifest.arenaBytes[place.stage])
        element.fail("lies outside the stage's arena");
    }
    port.stages.push_back(place);
  }
  return port;
}

static void parsePorts(const JsonReader &json, const Manifest &manifest,
                       std::vector<Port> &ports) {
  std::set<std::string> names;
  for (const JsonReader &element : json.elements()) {
    ports.push_back(parsePort(element, manifest));
    if (!names.insert(ports.back().name).second)
      element.fail("has the name of another one, '" + ports.back().name + "'");
  }
}

static Check parseCheck(const JsonReader &json, const Manifest &manifest) {
  Check check{parsePort(json, manifest), json.member("message").string()};
  if (check.port.dtype != APRT_BOOL || check.port.localBytes != 1)
    json.fail("must be one boolean");
  return check;
}

static FixedInput parseFixedInput(const JsonReader &json) {
  FixedInput input;
  int64_t bytes = 0;
  input.name = json.member("name").string();
  input.dtype = json.member("dtype").dtype();
  input.shape = parseShape(json.member("shape"), input.dtype, bytes);
  for (int64_t byte : json.member("bytes").integers(0, 255))
    input.data.push_back(char(byte));
  input.text = json.member("value").string();
  if (bytes != int64_t(input.data.size()))
    json.member("bytes").fail("are not those of one element");
  return input;
}

static void parseParameter(const JsonReader &json, const Manifest &manifest,
                           PersistentEntry &entry) {
  if (manifest.weightFiles.empty())
    return json.fail("is a parameter but 'weights.files' is empty");
  entry.file = int(
      json.member("file").integer(0, int64_t(manifest.weightFiles.size()) - 1));
  entry.offset = json.member("offset").integer(0, maxBytes);
  entry.globalShape =
      parseShape(json.member("global_shape"), entry.dtype, entry.globalBytes);
  entry.dims = parseDims(json.member("dims"), entry.globalShape, manifest);
  JsonReader constant = json.member("constant", /*optional=*/true);
  entry.isConstant = !constant.isNull() && constant.boolean();
  if (lengthsOf(entry.dims) != entry.shape)
    json.member("shape").fail("does not agree with 'dims'");
  if (entry.offset + entry.globalBytes > manifest.weightFiles[entry.file].bytes)
    json.member("offset").fail("reaches past the end of its file");
}

static PersistentEntry parsePersistent(const JsonReader &json,
                                       const Manifest &manifest) {
  PersistentEntry entry;
  entry.name = json.member("name").string();
  entry.dtype = json.member("dtype").dtype();
  entry.shape = parseShape(json.member("shape"), entry.dtype, entry.bytes);
  std::string kind = json.member("kind").string();
  entry.isParameter = kind == "parameter";
  entry.isInput = kind == "input";
  if (!entry.isParameter && !entry.isInput && kind != "setup")
    json.member("kind").fail("must be \"parameter\", \"setup\" or \"input\"");
  if (entry.isParameter)
    parseParameter(json, manifest, entry);
  return entry;
}

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
  auto number = [&](const char *key) {
    JsonReader member = json.member(key, /*optional=*/true);
    return member.isNull() ? 0.0 : member.number();
  };
  JsonReader stream = json.member("stream", /*optional=*/true);
  op.stream = stream.isNull() ? 0 : stream.integer(0, maxStreams - 1);
  op.flops = number("flops");
  op.bytes = number("bytes");
  op.seconds = number("seconds");
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

static Target parseTarget(const JsonReader &json) {
  std::string name = json.isNull() ? "cpu" : json.string();
  if (name == "cuda")
    return Target::Cuda;
  if (name == "emulated")
    return Target::Emulated;
  if (name != "cpu")
    json.fail("must be \"cpu\", \"cuda\" or \"emulated\"");
  return Target::Cpu;
}

static void parseKernels(const JsonReader &json, Manifest &manifest) {
  if (json.isNull())
    return;
  for (const JsonReader &element : json.elements())
    manifest.kernels.push_back(parseKernel(element));
  if (manifest.target == Target::Cpu && !manifest.kernels.empty())
    json.fail("is for GPUs only");
}

/// An array with one element per stage.
static std::vector<JsonReader> perStage(const JsonReader &json, int stages) {
  std::vector<JsonReader> elements = json.elements();
  if (elements.size() == size_t(stages))
    return elements;
  json.fail("must have one element per stage");
  return {};
}

static std::vector<int64_t> perStageIntegers(const JsonReader &json, int stages,
                                             int64_t most) {
  std::vector<int64_t> result;
  for (const JsonReader &element : perStage(json, stages))
    result.push_back(element.integer(0, most));
  result.resize(stages);
  return result;
}

static void parsePredicted(const JsonReader &root, Manifest &manifest) {
  JsonReader predicted = root.member("predicted", /*optional=*/true);
  if (predicted.isNull())
    return;
  manifest.predictedStepSeconds = predicted.member("step_seconds").number();
  JsonReader memory = predicted.member("peak_memory_bytes");
  if (memory.elements().empty()) // nothing was planned
    return;
  for (const JsonReader &element : perStage(memory, manifest.stages))
    manifest.predictedPeakMemoryBytes.push_back(element.number());
}

/// 16 hexadecimal digits; 0 (and a failure) if it is something else.
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

static void parseTables(const JsonReader &root, Manifest &manifest) {
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

/// Each persistent tensor that is an input has one that is like it, on a CPU.
static void checkHeldInputs(const JsonReader &root, const Manifest &manifest) {
  std::set<std::pair<int, int64_t>> held;
  for (const Port &input : manifest.inputs)
    for (const PortPlacement &place : input.stages) {
      if (place.persistent < 0)
        continue;
      const auto &tensors = manifest.persistent[size_t(place.stage)];
      bool fits = size_t(place.persistent) < tensors.size() &&
                  tensors[size_t(place.persistent)].isInput &&
                  tensors[size_t(place.persistent)].bytes == input.localBytes &&
                  held.insert({place.stage, place.persistent}).second;
      if (!fits || manifest.target != Target::Cpu)
        return root.member("inputs").fail(
            "has '" + input.name + "' in a persistent tensor that is not its");
    }
  size_t inputs = 0;
  for (const std::vector<PersistentEntry> &tensors : manifest.persistent)
    for (const PersistentEntry &tensor : tensors)
      inputs += tensor.isInput;
  if (inputs != held.size())
    root.member("persistent").fail("has an input that is none");
}

static void parseRoot(const JsonReader &root, Manifest &manifest) {
  int64_t abi = root.member("abi").integer(0, INT32_MAX);
  if (abi != APRT_ABI_VERSION)
    return root.member("abi").fail(
        "is " + std::to_string(abi) + " but this runtime has version " +
        std::to_string(APRT_ABI_VERSION) + "; compile the model again");
  manifest.model = root.member("model").string();
  if (JsonReader entry = root.member("entry", /*optional=*/true);
      !entry.isNull())
    manifest.entry = entry.string();
  if (JsonReader compiler = root.member("compiler", /*optional=*/true);
      !compiler.isNull())
    manifest.compiler = compiler.string();
  manifest.target = parseTarget(root.member("target", /*optional=*/true));
  JsonReader tf32 = root.member("tf32", /*optional=*/true);
  manifest.tf32 = !tf32.isNull() && tf32.boolean();
  manifest.cpuFeatures = root.member("cpu_features").strings();
  manifest.libraries = root.member("libraries").strings();
  parseMesh(root, manifest);
  parseTables(root, manifest);
  int stages = manifest.stages;
  manifest.arenaBytes =
      perStageIntegers(root.member("arena_bytes"), stages, maxBytes);
  manifest.setupArenaBytes =
      perStageIntegers(root.member("setup_arena_bytes"), stages, maxBytes);
  manifest.packedSlots =
      perStageIntegers(root.member("packed_slots"), stages, maxCount);
  parsePorts(root.member("inputs"), manifest, manifest.inputs);
  parsePorts(root.member("outputs"), manifest, manifest.outputs);
  JsonReader checks = root.member("checks", /*optional=*/true);
  if (!checks.isNull())
    for (const JsonReader &element : checks.elements())
      manifest.checks.push_back(parseCheck(element, manifest));
  JsonReader fixed = root.member("fixed_inputs", /*optional=*/true);
  if (!fixed.isNull())
    for (const JsonReader &element : fixed.elements())
      manifest.fixedInputs.push_back(parseFixedInput(element));
  for (const JsonReader &stage : perStage(root.member("persistent"), stages)) {
    manifest.persistent.emplace_back();
    for (const JsonReader &entry : stage.elements())
      manifest.persistent.back().push_back(parsePersistent(entry, manifest));
  }
  checkHeldInputs(root, manifest);
  parsePredicted(root, manifest);
}

Status parseManifest(const char *text, Manifest &manifest) {
  nlohmann::json document =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    return Status::error("the program's manifest is not a JSON object");
  Status status;
  parseRoot(JsonReader(document, "", status), manifest);
  if (status.failed())
    return Status::error("the program's manifest is damaged: " +
                         status.message());
  return status;
}

} // namespace autopar::runtime
