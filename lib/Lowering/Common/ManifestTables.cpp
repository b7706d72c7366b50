//===- ManifestTables.cpp - What the calls of a program refer to ----------===//

#include "ManifestTables.h"
#include "LibraryCalls.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Tensor.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/shared_memory.h"
#include "files/ContentHash.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace json = llvm::json;

namespace autopar {

json::Array numbers(ArrayRef<int64_t> values) {
  json::Array array;
  for (int64_t value : values)
    array.push_back(value);
  return array;
}

/// The bytes of all elements, as they are in memory.
static std::vector<uint8_t> bytesOfElements(DenseElementsAttr value) {
  auto tensor = *interpreter::fromElements(value);
  int64_t width = elementBytes(value.getElementType());
  std::vector<uint8_t> bytes(tensor.size() * width);
  for (int64_t i = 0; i < tensor.size(); ++i)
    interpreter::storeElement(tensor, i, bytes.data() + i * width);
  return bytes;
}

json::Array fixedInputs(ModuleOp module) {
  json::Array result;
  auto list = module->getAttrOfType<ArrayAttr>(AutoparDialect::kFixedInputs);
  if (!list)
    return result;
  for (auto input : list.getAsRange<FixedInputAttr>()) {
    DenseElementsAttr value = input.getValue();
    std::vector<uint8_t> bytes = bytesOfElements(value);
    json::Object fixed{{"name", input.getName().getValue()},
                       {"dtype", dtypeName(value.getElementType())},
                       {"shape", numbers(value.getType().getShape())},
                       {"value", input.getText().getValue()}};
    if (value.getNumElements() <= kWrittenElements) {
      fixed["bytes"] = json::Array(bytes);
    } else {
      runtime::ContentHash hash;
      hash.add(bytes.data(), bytes.size());
      fixed["content"] = runtime::formatHash(hash.value());
    }
    result.push_back(std::move(fixed));
  }
  return result;
}

/// The bound of a port, whose shape begins with the number of blocks if it has
/// blocks of rows; all blocks have the bound.
static json::Object indexBound(IndexBoundAttr bound, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> starts(bound.getStarts().asArrayRef()),
      sizes(bound.getSizes().asArrayRef());
  if (shape.size() > sizes.size()) {
    starts.insert(starts.begin(), 0);
    sizes.insert(sizes.begin(), shape.front());
  }
  json::Object out{{"starts", numbers(starts)},
                   {"sizes", numbers(sizes)},
                   {"size", bound.getSize()}};
  if (bound.getTable()) {
    out["table"] = bound.getTable().getValue();
    out["dim"] = bound.getDim().getInt();
  } else {
    out["text"] = bound.getText().getValue();
  }
  if (bound.getIgnored())
    out["ignored"] = bound.getIgnored().getInt();
  return out;
}

void addIndexBounds(ModuleOp module, json::Array &inputs) {
  auto list = module->getAttrOfType<ArrayAttr>(AutoparDialect::kIndexBounds);
  if (!list)
    return;
  for (json::Value &input : inputs) {
    json::Object &port = *input.getAsObject();
    SmallVector<int64_t> shape;
    for (const json::Value &size : *port.getArray("shape"))
      shape.push_back(*size.getAsInteger());
    json::Array bounds;
    for (auto bound : list.getAsRange<IndexBoundAttr>())
      if (bound.getInput().getValue() == *port.getString("name"))
        bounds.push_back(indexBound(bound, shape));
    if (!bounds.empty())
      port["index_bounds"] = std::move(bounds);
  }
}

/// The entries of one stage.
static void addRangesOf(json::Array &stage,
                        const llvm::StringMap<json::Object> &ranges) {
  StringRef role = stringifyStateRole(StateRole::Hyperparameter);
  for (json::Value &entry : stage) {
    json::Object &fields = *entry.getAsObject();
    if (fields.getString("role") == role)
      fields["range"] = json::Object(ranges.lookup(*fields.getString("name")));
  }
}

void addRanges(ModuleOp module, json::Array &persistent) {
  auto list =
      module->getAttrOfType<ArrayAttr>(AutoparDialect::kHyperparameters);
  if (!list)
    return;
  llvm::StringMap<json::Object> ranges;
  for (auto number : list.getAsRange<HyperparameterAttr>()) {
    json::Object &range = ranges[number.getName().getValue()];
    if (number.getLeast())
      range["least"] = number.getLeast().getValueAsDouble();
    if (number.getAbove())
      range["above"] = number.getAbove().getValueAsDouble();
    if (number.getBelow())
      range["below"] = number.getBelow().getValueAsDouble();
    if (number.getInteger())
      range["integer"] = true;
  }
  for (json::Value &stage : persistent)
    addRangesOf(*stage.getAsArray(), ranges);
}

json::Array dimSlices(ShardingAttr attribute, ArrayRef<int64_t> shape,
                      const Mesh &mesh) {
  Sharding sharding = attribute.toSharding(mesh);
  json::Array result;
  for (auto [dim, size] : llvm::zip_equal(sharding.dims, shape)) {
    json::Array split;
    for (unsigned subAxis : dim.subAxes) {
      const SubAxis &what = mesh.subAxes()[subAxis];
      split.push_back(json::Array{static_cast<int64_t>(what.axis), what.divisor,
                                  what.size});
    }
    int64_t length = localSize(size, dim, mesh), step = length, offset = 0;
    if (dim.interval) {
      step = dim.interval->step;
      offset = dim.interval->offset;
    }
    result.push_back(json::Object{{"size", size},
                                  {"step", step},
                                  {"offset", offset},
                                  {"length", length},
                                  {"split", std::move(split)}});
  }
  return result;
}

static json::Array meshAxes(const HostProgram &program) {
  json::Array result;
  for (const MeshAxis &axis : program.mesh.axes())
    result.push_back(json::Array{axis.name, axis.size});
  return result;
}

static json::Array communicators(const HostProgram &program) {
  json::Array result;
  for (const ProgramCommunicator &comm : program.communicators) {
    json::Array axes, groups;
    for (const std::string &axis : comm.axes)
      axes.push_back(axis);
    for (const std::vector<int64_t> &group : comm.groups)
      groups.push_back(numbers(group));
    result.push_back(json::Object{{"axes", std::move(axes)},
                                  {"groups", std::move(groups)},
                                  {"bytes", comm.bytes}});
  }
  return result;
}

static json::Array channels(const HostProgram &program) {
  json::Array result;
  for (const ProgramChannel &channel : program.channels)
    result.push_back(json::Object{{"from_stage", channel.fromStage},
                                  {"to_stage", channel.toStage},
                                  {"bytes", channel.bytes},
                                  {"slots", shared_memory::kChannelSlots}});
  return result;
}

static json::Array ops(const HostProgram &program) {
  return arrayOf(program.ops, [](const ProgramOp &op) {
    return json::Object{{"name", op.name},
                        {"kind", op.kind},
                        {"stream", op.stream},
                        {"flops", op.flops},
                        {"bytes", op.bytes}};
  });
}

static json::Array kernels(const HostProgram &program) {
  json::Array result;
  for (const ProgramKernel &kernel : program.kernels) {
    json::Array buffers;
    for (const ProgramKernel::Buffer &buffer : kernel.buffers)
      buffers.push_back(
          json::Object{{"bytes", buffer.bytes},
                       {"access", buffer.reads && buffer.writes ? "rw"
                                  : buffer.writes               ? "w"
                                                                : "r"}});
    result.push_back(json::Object{{"name", kernel.name},
                                  {"threads", kernel.threads},
                                  {"shared_bytes", kernel.sharedBytes},
                                  {"scalars", kernel.scalars},
                                  {"buffers", std::move(buffers)}});
  }
  return result;
}

/// The libraries that the program's calls need, in the order of their kinds.
static json::Array libraries(const HostProgram &program) {
  bool onCpu = targetName(program.module) == kTargetCpu;
  llvm::SetVector<StringRef> names;
  for (const LibraryFunctions &row : libraryFunctions()) {
    StringRef library = onCpu ? row.onCpu : row.onGpu;
    bool isCalled = llvm::any_of(program.ops, [&](const ProgramOp &op) {
      return op.kind == stringifyCallKind(row.kind);
    });
    if (isCalled && !library.empty())
      names.insert(library);
  }
  if (!onCpu && program.stages * program.mesh.deviceCount() > 1)
    names.insert("nccl");
  return json::Array(names);
}

void addTables(const HostProgram &program, json::Object &root) {
  root["mesh"] = meshAxes(program);
  root["stages"] = program.stages;
  root["micro_batches"] = program.mesh.timeCount();
  root["communicators"] = communicators(program);
  root["channels"] = channels(program);
  root["ops"] = ops(program);
  root["kernels"] = kernels(program);
  root["libraries"] = libraries(program);
  if (auto steps = program.module->getAttrOfType<IntegerAttr>(
          AutoparDialect::kScheduleSteps))
    root["schedule_steps"] = steps.getInt();
}

void addEvaluation(ModuleOp module, json::Object &root) {
  if (Attribute evaluation = module->getAttr(AutoparDialect::kMetrics))
    root["evaluation"] = toJSON(evaluation);
  auto counted =
      module->getAttrOfType<StringAttr>(AutoparDialect::kCountedRows);
  for (json::Value &port : *root.getArray("inputs"))
    if (counted && port.getAsObject()->getString("name") == counted.getValue())
      (*port.getAsObject())["role"] = "counted_rows";
}

} // namespace autopar
