//===- Manifest.cpp - What a program says about itself --------------------===//
//
// Writes the JSON of docs/RuntimeABI.md from the attributes that Schedule left
// and the tables that the host functions filled.
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"
#include "HostProgram.h"
#include "ManifestTables.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/runtime.h"
#include "autopar/version.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace autopar {

namespace {

class ManifestWriter {
public:
  explicit ManifestWriter(const HostProgram &program) : program(program) {}
  FailureOr<std::string> write();

private:
  void collectPorts(StringRef listName, StringRef which, int64_t stage);
  void addPort(PortAttr port, StringRef name, StringRef which, int64_t stage);
  std::optional<int64_t> writerOf(PortAttr port, int64_t stage);
  void addPorts(json::Object &root);
  json::Array portsOf(StringRef which);
  json::Array persistent();
  int64_t arenaOf(StringRef kind, int64_t stage);
  json::Object persistentTensor(PersistentAttr row);
  void addBlock(json::Object &out, PersistentAttr row);
  void addState(json::Object &out, PersistentAttr row, StateAttr state);
  void addParameter(json::Object &, PersistentAttr row, ParameterAttr source);
  int64_t fileIndex(StringRef file, int64_t end);

  json::Object weights();

  const HostProgram &program;
  /// The files as parameters name them, and the end of the last one in each.
  std::vector<std::pair<std::string, int64_t>> files;
  std::map<StringRef, std::map<std::string, json::Object>> ports; // by kind
  std::map<StringRef, std::vector<std::string>> portOrder;
  bool failed = false;
};

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

/// Returns whether the manifest tells what the output is for: checks have a
/// list of their own.
static bool hasOwnRole(OutputAttr output) {
  return output && output.getRole() != OutputRole::Model &&
         output.getRole() != OutputRole::Check;
}

/// The shape of users' arrays, where the program's is another.
static SmallVector<int64_t> userShapeOf(PortAttr port) {
  if (auto gradient = dyn_cast<GradientAttr>(port.getWhat()))
    return SmallVector<int64_t>(gradient.getFileShape());
  auto input = dyn_cast<InputAttr>(port.getWhat());
  return input && input.getBlocks()
             ? input.joinBlocks(port.getGlobalType().getShape())
             : SmallVector<int64_t>();
}

void ManifestWriter::addPort(PortAttr port, StringRef name, StringRef which,
                             int64_t stage) {
  bool isInArena = port.getSpace() == BufferSpace::Arena;
  bool held = !isInArena && which == "input";
  if (!isInArena && !held) {
    ModuleOp(program.module).emitError()
        << which << " '" << name
        << "' is not in the arena; assign-buffers must put it there";
    failed = true;
    return;
  }
  auto [it, isNew] = ports[which].try_emplace(name.str());
  if (isNew) {
    portOrder[which].push_back(name.str());
    RankedTensorType whole = port.getGlobalType();
    it->second = json::Object{
        {"name", name},
        {"dtype", dtypeName(whole.getElementType())},
        {"shape", numbers(whole.getShape())},
        {"dims", dimSlices(port.getSharding(), whole.getShape(), program.mesh)},
        {"stages", json::Array{}}};
    if (SmallVector<int64_t> users = userShapeOf(port); !users.empty())
      it->second["user_shape"] = numbers(users);
    if (auto output = dyn_cast<OutputAttr>(port.getWhat()); hasOwnRole(output))
      it->second["role"] = stringifyOutputRole(output.getRole());
  }
  json::Object place{{"stage", stage},
                     {held ? "persistent" : "offset", port.getPosition()}};
  if (which == "gradient")
    if (std::optional<int64_t> op = writerOf(port, stage))
      place["after"] = *op;
  it->second.getArray("stages")->push_back(std::move(place));
}

/// The op that writes a result of the stage's step; none if there is nothing
/// to write.
std::optional<int64_t> ManifestWriter::writerOf(PortAttr port, int64_t stage) {
  Operation *step = findStageFunction(program.module, "step", stage);
  auto writer = program.writers.find({step, port.getValue()});
  if (writer == program.writers.end())
    return std::nullopt;
  return writer->second;
}

void ManifestWriter::collectPorts(StringRef listName, StringRef which,
                                  int64_t stage) {
  Operation *step = findStageFunction(program.module, "step", stage);
  auto list = step ? step->getAttrOfType<ArrayAttr>(listName) : nullptr;
  if (!list)
    return;
  for (auto port : list.getAsRange<PortAttr>()) {
    if (auto input = dyn_cast_or_null<InputAttr>(port.getWhat()))
      addPort(port, input.getName(), which, stage);
    if (auto output = dyn_cast_or_null<OutputAttr>(port.getWhat()))
      addPort(port, output.getName(),
              output.getRole() == OutputRole::Check ? "check" : which, stage);
    if (auto gradient = dyn_cast_or_null<GradientAttr>(port.getWhat()))
      addPort(port, gradient.getName(), "gradient", stage);
  }
}

/// The bytes of an element, as they are in memory.
static json::Array bytesOfElement(const APInt &bits) {
  json::Array bytes;
  for (unsigned at = 0; at < bits.getBitWidth(); at += 8)
    bytes.push_back(static_cast<int64_t>(bits.lshr(at).getRawData()[0] & 0xff));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Persistent tensors
//===----------------------------------------------------------------------===//

int64_t ManifestWriter::fileIndex(StringRef file, int64_t end) {
  auto it =
      llvm::find_if(files, [&](auto &known) { return known.first == file; });
  if (it == files.end())
    it = files.insert(files.end(), {file.str(), 0});
  it->second = std::max(it->second, end);
  return it - files.begin();
}

/// Writes a file of which parameters read the first `bytes`; `row` has what
/// place-weights found out, or is null.
static json::Object weightFile(StringRef file, int64_t bytes,
                               WeightFileAttr row) {
  json::Object out{{"name", row ? row.getName().getValue() : file},
                   {"bytes", bytes}};
  if (row && row.getSize())
    out["size"] = row.getSize().getInt();
  if (row && row.getStructure())
    out["structure"] = row.getStructure().getValue();
  if (row && row.getContent())
    out["content"] = row.getContent().getValue();
  if (row && row.getMade())
    out["made"] = true;
  return out;
}

/// Writes the files of weights. The model's own file is among them even if it
/// holds no parameter, because it says where other files hold them.
json::Object ManifestWriter::weights() {
  json::Array list, known;
  llvm::MapVector<StringRef, WeightFileAttr> placed;
  if (auto rows = program.module->getAttrOfType<ArrayAttr>(
          AutoparDialect::kWeightFiles))
    for (auto row : rows.getAsRange<WeightFileAttr>())
      placed.insert({row.getFile().getValue(), row});
  for (auto &[name, bytes] : files)
    list.push_back(weightFile(name, bytes, placed.lookup(name)));
  for (const auto &place : placed)
    if (llvm::none_of(files,
                      [&](auto &file) { return file.first == place.first; }))
      list.push_back(weightFile(place.first, 0, place.second));
  if (auto tensors = program.module->getAttrOfType<ArrayAttr>(
          AutoparDialect::kKnownTensors))
    for (auto tensor : tensors.getAsRange<KnownTensorAttr>())
      known.push_back(
          json::Object{{"name", tensor.getName().getValue()},
                       {"bytes", tensor.getBytes()},
                       {"content", tensor.getContent().getValue()}});
  return json::Object{{"files", std::move(list)}, {"known", std::move(known)}};
}

void ManifestWriter::addParameter(json::Object &out, PersistentAttr row,
                                  ParameterAttr source) {
  if (source.getOffset() < 0) {
    ModuleOp(program.module).emitError()
        << "parameter '" << source.getName().getValue()
        << "' has no raw bytes in a file; compile with `autopar compile`, "
           "which writes them beside the executable";
    failed = true;
  }
  int64_t end = source.getOffset() + bytesOf(row.getGlobalType());
  if (!source.getFileShape().empty())
    out["user_shape"] = numbers(source.getFileShape());
  out["file"] = fileIndex(source.getFile().getValue(), end);
  out["offset"] = source.getOffset();
  addBlock(out, row);
}

/// The whole tensor, and which part of it a rank has.
void ManifestWriter::addBlock(json::Object &out, PersistentAttr row) {
  ArrayRef<int64_t> shape = row.getGlobalType().getShape();
  out["global_shape"] = numbers(shape);
  out["dims"] = dimSlices(row.getSharding(), shape, program.mesh);
}

/// A state begins as a parameter, or with one number in all elements.
void ManifestWriter::addState(json::Object &out, PersistentAttr row,
                              StateAttr state) {
  if (auto parameter = dyn_cast<ParameterAttr>(state.getInitial()))
    return addParameter(out, row, parameter);
  Type element = row.getType().getElementType();
  APInt bits;
  if (auto type = dyn_cast<FloatType>(element)) {
    auto real = dyn_cast<FloatAttr>(state.getInitial());
    APFloat value =
        real ? real.getValue()
             : APFloat(double(cast<IntegerAttr>(state.getInitial()).getInt()));
    bool inexact = false;
    (void)value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                        &inexact);
    bits = value.bitcastToAPInt();
  } else {
    auto number = dyn_cast<IntegerAttr>(state.getInitial());
    if (!number) {
      ModuleOp(program.module).emitError()
          << "state " << state.getName() << " of integers begins as "
          << state.getInitial();
      failed = true;
      return;
    }
    bits = number.getValue().sextOrTrunc(
        std::max(8u, element.getIntOrFloatBitWidth()));
  }
  out["fill"] = bytesOfElement(bits);
  addBlock(out, row);
}

json::Object ManifestWriter::persistentTensor(PersistentAttr row) {
  auto source = dyn_cast<ParameterAttr>(row.getWhat());
  auto input = dyn_cast<InputAttr>(row.getWhat());
  auto state = dyn_cast<StateAttr>(row.getWhat());
  std::string name;
  if (source)
    name = source.getName().str();
  else if (auto value = dyn_cast<SetupValueAttr>(row.getWhat()))
    name = value.getName().str();
  else if (input)
    name = input.getName().str();
  else if (state)
    name = state.getName().str();
  ShapedType type = row.getType();
  json::Object out{{"name", name},
                   {"dtype", dtypeName(type.getElementType())},
                   {"shape", numbers(type.getShape())},
                   {"kind", source  ? "parameter"
                            : input ? "input"
                            : state ? "state"
                                    : "setup"}};
  if (source)
    addParameter(out, row, source);
  if (state)
    addState(out, row, state);
  if (state && state.getRole() != StateRole::Model)
    out["role"] = stringifyStateRole(state.getRole());
  if (row.getConstant())
    out["constant"] = true;
  return out;
}

json::Array ManifestWriter::persistent() {
  json::Array result;
  auto stages =
      program.module->getAttrOfType<ArrayAttr>(AutoparDialect::kPersistent);
  for (int64_t stage = 0; stage < program.stages; ++stage) {
    json::Array entries;
    if (stages && stage < static_cast<int64_t>(stages.size()))
      entries = arrayOf(cast<ArrayAttr>(stages[stage]), [&](Attribute row) {
        return persistentTensor(cast<PersistentAttr>(row));
      });
    result.push_back(std::move(entries));
  }
  return result;
}

int64_t ManifestWriter::arenaOf(StringRef kind, int64_t stage) {
  Operation *function = findStageFunction(program.module, kind, stage);
  auto size =
      function
          ? function->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes)
          : IntegerAttr();
  return size ? size.getInt() : 0;
}

json::Array ManifestWriter::portsOf(StringRef which) {
  return arrayOf(portOrder[which], [&](const std::string &name) {
    return std::move(ports[which][name]);
  });
}

/// Adds all ports of the stages, in the order in which they came.
void ManifestWriter::addPorts(json::Object &root) {
  llvm::StringMap<CheckAttr> checks; // by outputs
  if (auto list =
          program.module->getAttrOfType<ArrayAttr>(AutoparDialect::kChecks))
    for (auto check : list.getAsRange<CheckAttr>())
      checks[check.getOutput().getValue()] = check;
  root["inputs"] = portsOf("input");
  addIndexBounds(program.module, *root.getArray("inputs"));
  if (json::Array gradients = portsOf("gradient"); !gradients.empty())
    root["gradients"] = std::move(gradients);
  json::Array checked = portsOf("check");
  for (json::Value &port : checked) {
    json::Object &fields = *port.getAsObject();
    CheckAttr check = checks.lookup(*fields.getString("name"));
    if (check)
      fields["message"] = check.getMessage().getValue();
    if (check && check.getPlaces())
      fields["places"] = toJSON(check.getPlaces());
  }
  if (!checked.empty())
    root["checks"] = std::move(checked);
  root["outputs"] = portsOf("output");
}

FailureOr<std::string> ManifestWriter::write() {
  json::Array arenaBytes, setupArenaBytes, packedSlots;
  for (int64_t stage = 0; stage < program.stages; ++stage) {
    arenaBytes.push_back(arenaOf("step", stage));
    setupArenaBytes.push_back(arenaOf("setup", stage));
    packedSlots.push_back(static_cast<int64_t>(program.packed[stage].size()));
    collectPorts(AutoparDialect::kArguments, "input", stage);
    collectPorts(AutoparDialect::kResults, "output", stage);
  }
  json::Array persistentTensors = persistent();
  addRanges(program.module, persistentTensors);
  json::Object root{
      {"abi", APRT_ABI_VERSION},
      {"compiler", "autopar " AUTOPAR_VERSION},
      {"target", targetName(program.module)},
      {"tf32", allowsTf32(program.module)},
      {"cpu_features", json::Array(cpuFeaturesOf(program.module))},
      {"weights", weights()},
      {"persistent", std::move(persistentTensors)},
      {"arena_bytes", std::move(arenaBytes)},
      {"setup_arena_bytes", std::move(setupArenaBytes)},
      {"packed_slots", std::move(packedSlots)}};
  auto model =
      program.module->getAttrOfType<StringAttr>(AutoparDialect::kModel);
  root["model"] = model ? model.getValue() : "model";
  if (auto entry =
          program.module->getAttrOfType<StringAttr>(AutoparDialect::kEntry))
    root["entry"] = entry.getValue();
  if (Attribute outputs =
          program.module->getAttr(AutoparDialect::kStateOutputs))
    root["state_outputs"] = toJSON(outputs);
  if (json::Array fixed = fixedInputs(program.module); !fixed.empty())
    root["fixed_inputs"] = std::move(fixed);
  addTables(program, root);
  addPorts(root);
  addEvaluation(program.module, root);
  if (mlir::failed(addPlan(program, root)) || failed)
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(root));
  return text;
}

} // namespace

FailureOr<std::string> makeManifest(const HostProgram &program) {
  return ManifestWriter(program).write();
}

} // namespace autopar
