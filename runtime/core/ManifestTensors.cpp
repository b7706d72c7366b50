//===- ManifestTensors.cpp - Tensors that a manifest names ----------------===//

#include "../files/ContentHash.h"
#include "ManifestParts.h"

#include <set>
#include <type_traits>

namespace autopar::runtime {

namespace {
constexpr int64_t maxElements = int64_t(1) << 48;
} // namespace

/// Returns the role whose name in `names` is given, or the first role if there
/// is none.
template <typename Role, size_t count>
static Role parseRole(const JsonReader &json,
                      const char *const (&names)[count]) {
  JsonReader role = json.member("role", /*optional=*/true);
  if (role.isNull())
    return Role(0);
  std::string text = role.string();
  int place = 0;
  for (const char *name : names) {
    if (text == name)
      return Role(place);
    ++place;
  }
  role.fail("is none that this runtime knows");
  return Role(0);
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
  if (shape.size() > APRT_MAX_DIMS)
    json.fail("has more than " + std::to_string(APRT_MAX_DIMS) + " dimensions");
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
        element.fail("is outside the stage's arena");
    }
    if (JsonReader after = element.member("after", /*optional=*/true);
        !after.isNull())
      place.after = after.integer(0, int64_t(manifest.ops.size()) - 1);
    port.stages.push_back(place);
  }
  return port;
}

/// Reads the shape of users' arrays and files, if the program uses another
/// shape for the same elements in the same order.
static void takeUserShape(const JsonReader &json, aprt_dtype dtype,
                          int64_t bytes, std::vector<int64_t> &shape) {
  JsonReader given = json.member("user_shape", /*optional=*/true);
  if (given.isNull())
    return;
  int64_t userBytes = 0;
  shape = parseShape(given, dtype, userBytes);
  if (userBytes != bytes)
    given.fail("has not as many elements as the tensor");
}

static void parseRoles(const JsonReader &json, std::vector<Port> &outputs) {
  std::set<OutputRole> found;
  std::vector<JsonReader> elements = json.elements();
  for (size_t i = 0; i < outputs.size() && i < elements.size(); ++i) {
    OutputRole &role = outputs[i].role;
    role = parseRole<OutputRole>(elements[i], outputRoleNames);
    bool isOnce = role != OutputRole::Model && role != OutputRole::Metric;
    if (isOnce && !found.insert(role).second)
      elements[i].fail("has the role of another one");
  }
}

static IndexBound parseIndexBound(const JsonReader &json,
                                  const std::vector<int64_t> &shape) {
  IndexBound bound;
  if (JsonReader text = json.member("text", /*optional=*/true);
      !text.isNull()) {
    bound.text = text.string();
  } else {
    bound.table = json.member("table").string();
    bound.dim = json.member("dim").integer(0, APRT_MAX_DIMS - 1);
  }
  if (JsonReader ignored = json.member("ignored", /*optional=*/true);
      !ignored.isNull())
    bound.ignored = ignored.integer(INT64_MIN, INT64_MAX);
  bound.size = json.member("size").integer(1, maxElements);
  bound.shape = shape;
  bound.starts = json.member("starts").integers(0, maxElements);
  bound.sizes = json.member("sizes").integers(1, maxElements);
  bool fits =
      bound.starts.size() == shape.size() && bound.sizes.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = bound.starts[d] + bound.sizes[d] <= shape[d];
  if (!fits)
    json.fail("is no part of the input");
  return bound;
}

/// The port has its shape in the program still.
static void parseIndexBounds(const JsonReader &json, Port &port) {
  JsonReader bounds = json.member("index_bounds", /*optional=*/true);
  if (bounds.isNull())
    return;
  for (const JsonReader &bound : bounds.elements())
    port.indexBounds.push_back(parseIndexBound(bound, port.shape));
  visitDtype(port.dtype, [&](auto element) {
    if (!std::is_integral_v<decltype(element)>)
      bounds.fail("are of numbers that are no integers");
  });
}

static void parsePorts(const JsonReader &json, const Manifest &manifest,
                       std::vector<Port> &ports) {
  std::set<std::string> names;
  for (const JsonReader &element : json.elements()) {
    ports.push_back(parsePort(element, manifest));
    Port &port = ports.back();
    parseIndexBounds(element, port);
    takeUserShape(element, port.dtype, port.globalBytes, port.shape);
    if (!names.insert(ports.back().name).second)
      element.fail("has the name of another one, '" + ports.back().name + "'");
  }
}

static Check parseCheck(const JsonReader &json, const Manifest &manifest) {
  Check check{parsePort(json, manifest), json.member("message").string(), {}};
  JsonReader places = json.member("places", /*optional=*/true);
  if (!places.isNull())
    for (const JsonReader &place : places.elements())
      check.places.push_back(place.string());
  bool isNumber = !places.isNull();
  if (isNumber && check.places.empty())
    json.fail("has no places");
  if (check.port.dtype != (isNumber ? APRT_I32 : APRT_BOOL) ||
      check.port.localBytes != (isNumber ? 4 : 1))
    json.fail(isNumber ? "must be one i32" : "must be one boolean");
  return check;
}

static FixedInput parseFixedInput(const JsonReader &json) {
  FixedInput input;
  input.name = json.member("name").string();
  input.dtype = json.member("dtype").dtype();
  input.shape = parseShape(json.member("shape"), input.dtype, input.bytes);
  input.text = json.member("value").string();
  JsonReader content = json.member("content", /*optional=*/true);
  input.isLarge = !content.isNull();
  if (input.isLarge) {
    if (!parseHash(content.string(), input.content))
      content.fail("is no hash");
    return input;
  }
  for (int64_t byte : json.member("bytes").integers(0, 255))
    input.data.push_back(char(byte));
  if (input.bytes != int64_t(input.data.size()))
    json.member("bytes").fail("are not those of the shape");
  return input;
}

/// Parses the whole tensor and a rank's part of it.
static void parseBlock(const JsonReader &json, const Manifest &manifest,
                       PersistentEntry &entry) {
  entry.globalShape =
      parseShape(json.member("global_shape"), entry.dtype, entry.globalBytes);
  entry.dims = parseDims(json.member("dims"), entry.globalShape, manifest);
  if (lengthsOf(entry.dims) != entry.shape)
    json.member("shape").fail("does not agree with 'dims'");
  takeUserShape(json, entry.dtype, entry.globalBytes, entry.globalShape);
}

static void parseParameter(const JsonReader &json, const Manifest &manifest,
                           PersistentEntry &entry) {
  if (manifest.weightFiles.empty())
    return json.fail("is a parameter but 'weights.files' is empty");
  entry.file = int(
      json.member("file").integer(0, int64_t(manifest.weightFiles.size()) - 1));
  entry.offset = json.member("offset").integer(0, maxBytes);
  JsonReader constant = json.member("constant", /*optional=*/true);
  entry.isConstant = !constant.isNull() && constant.boolean();
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
  entry.isInput = kind == "input";
  entry.isState = kind == "state";
  entry.role = parseRole<StateRole>(json, stateRoleNames);
  JsonReader fill = json.member("fill", /*optional=*/true);
  entry.isParameter = kind == "parameter" || (entry.isState && fill.isNull());
  if (entry.isState && !fill.isNull())
    for (int64_t byte : fill.integers(0, 255))
      entry.fill.push_back(char(byte));
  if (entry.isState && !entry.isParameter &&
      int64_t(entry.fill.size()) != elementBytes(entry.dtype))
    fill.fail("has not the bytes of one element");
  if (!entry.isParameter && !entry.isInput && !entry.isState && kind != "setup")
    json.member("kind").fail(
        "must be \"parameter\", \"setup\", \"state\" or \"input\"");
  if (entry.isParameter || entry.isState)
    parseBlock(json, manifest, entry);
  if (entry.isParameter)
    parseParameter(json, manifest, entry);
  if (entry.role == StateRole::Hyperparameter)
    parseHyperparameter(json, entry);
  return entry;
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

/// Returns a state as a port with the name `name`.
static Port portOfState(const PersistentEntry &entry, const std::string &name,
                        size_t stage, size_t index) {
  Port port;
  port.name = name;
  port.dtype = entry.dtype;
  port.shape = entry.globalShape;
  port.dims = entry.dims;
  port.stages.push_back({int(stage), 0, int64_t(index), -1});
  port.globalBytes = entry.globalBytes;
  port.localBytes = entry.bytes;
  return port;
}

/// Finds states that become ports: those that begin as parameters, their
/// averages, and those that were outputs of the model.
static void findStates(const JsonReader &root, Manifest &manifest) {
  JsonReader outputs = root.member("state_outputs", /*optional=*/true);
  for (size_t stage = 0; stage < manifest.persistent.size(); ++stage)
    for (size_t i = 0; i < manifest.persistent[stage].size(); ++i) {
      const PersistentEntry &entry = manifest.persistent[stage][i];
      if (!entry.isState)
        continue;
      if (entry.isParameter)
        (entry.role == StateRole::Average ? manifest.averages
                                          : manifest.trained)
            .push_back(portOfState(entry, entry.name, stage, i));
      if (entry.role != StateRole::Model)
        continue;
      JsonReader output = outputs.member(entry.name.c_str(), true);
      if (!output.isNull())
        manifest.stateOutputs.push_back(
            portOfState(entry, output.string(), stage, i));
    }
}

void parseTensors(const JsonReader &root, Manifest &manifest) {
  parsePorts(root.member("inputs"), manifest, manifest.inputs);
  parsePorts(root.member("outputs"), manifest, manifest.outputs);
  parseRoles(root.member("outputs"), manifest.outputs);
  JsonReader gradients = root.member("gradients", /*optional=*/true);
  if (!gradients.isNull())
    parsePorts(gradients, manifest, manifest.gradients);
  JsonReader checks = root.member("checks", /*optional=*/true);
  if (!checks.isNull())
    for (const JsonReader &element : checks.elements())
      manifest.checks.push_back(parseCheck(element, manifest));
  JsonReader fixed = root.member("fixed_inputs", /*optional=*/true);
  if (!fixed.isNull())
    for (const JsonReader &element : fixed.elements())
      manifest.fixedInputs.push_back(parseFixedInput(element));
  for (const JsonReader &stage :
       perStage(root.member("persistent"), manifest.stages)) {
    manifest.persistent.emplace_back();
    for (const JsonReader &entry : stage.elements())
      manifest.persistent.back().push_back(parsePersistent(entry, manifest));
  }
  manifest.persistent.resize(size_t(manifest.stages)); // where it is damaged
  checkHeldInputs(root, manifest);
  findStates(root, manifest);
}

} // namespace autopar::runtime
