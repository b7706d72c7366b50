//===- MeasuredCluster.cpp - Measurements of a host as a cluster file -----===//

#include "autopar/Cluster/MeasuredCluster.h"
#include "autopar/Cluster/Cluster.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

/// "NVIDIA H100 80GB HBM3 (sm_90, ...)" -> "nvidia-h100-80gb-hbm3".
static std::string shortName(StringRef device) {
  std::string name;
  for (char letter : device.take_until([](char c) { return c == '('; }).trim())
    name += isAlnum(letter) ? toLower(letter) : '-';
  return name;
}

/// The row of the table whose links the device's are taken to be where they are
/// not measured.
static Expected<DeviceType> modelOfLinks(StringRef kind, StringRef device,
                                         std::vector<std::string> &notes) {
  if (kind == "cpu")
    return lookupDevice("cpu");
  if (std::optional<DeviceType> known = deviceOfDriverName(device))
    return *known;
  DeviceType type = slowestLinkedGpu();
  notes.push_back(("the table of devices has no '" + device +
                   "': its links are guessed to be those of " + type.name +
                   "; set within_* and between_* of the type in the file to "
                   "what they are")
                      .str());
  return type;
}

/// A measurement as a type of a cluster file.
static Expected<json::Object> typeOf(const json::Object &measured,
                                     std::vector<std::string> &notes) {
  StringRef kind = measured.getString("kind").value_or("");
  StringRef device = measured.getString("device").value_or("");
  Expected<DeviceType> type = modelOfLinks(kind, device, notes);
  if (!type)
    return type.takeError();
  std::string links = type->name;
  auto number = [&](StringRef key) {
    return measured.getNumber(key).value_or(0);
  };
  type->name = shortName(device);
  type->kind = kind.str();
  type->fp32Flops = number("fp32_TF") * 1e12;
  type->tf32Flops = number("tf32_TF") * 1e12;
  type->fp16Flops = number("fp16_TF") * 1e12;
  type->bf16Flops = number("bf16_TF") * 1e12;
  type->memoryBytes = int64_t(number("mem_GB") * 1e9);
  type->memoryBytesPerSecond = number("mem_TBps") * 1e12;
  type->launchSeconds = number("launch_us") * 1e-6;
  type->gemmEfficiency = type->memoryEfficiency = 1; // rates that were reached
  type->overlap = number("overlap");
  links = "of " + links;
  if (number("within_GBps") > 0) {
    type->within.bytesPerSecond = number("within_GBps") * 1e9;
    links = "within_GBps measured, others " + links;
  }
  json::Object object = toJSON(*type);
  json::Object how{{"device", device.str()}, {"links", links}};
  if (const json::Object *versions = measured.getObject("versions"))
    how["versions"] = json::Object(*versions);
  object["measured"] = std::move(how);
  return object;
}

Expected<json::Value> measuredCluster(const json::Value &measurements,
                                      std::vector<std::string> &notes) {
  json::Array types;
  json::Object node{{"count", 1}};
  const json::Array *list = measurements.getAsArray();
  if (!list)
    return createStringError("measurements are no list");
  for (const json::Value &each : *list) {
    const json::Object *measured = each.getAsObject();
    if (!measured)
      continue;
    Expected<json::Object> type = typeOf(*measured, notes);
    if (!type)
      return type.takeError();
    node["type"] = *type->getString("name");
    node["devices"] = measured->getInteger("count").value_or(1);
    types.push_back(std::move(*type));
  }
  if (types.empty())
    return createStringError("nothing was measured");
  return json::Object{{"types", std::move(types)},
                      {"nodes", json::Array{std::move(node)}}};
}

} // namespace autopar
