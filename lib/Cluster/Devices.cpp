//===- Devices.cpp - The table of device types ----------------------------===//

#include "autopar/Cluster/Cluster.h"
#include "autopar/Support/Csv.h"
#include "autopar/Support/Text.h"
#include "data/devices.csv.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

using Row = CsvTable::Row;

/// The rows of the table, in the file's order.
static const CsvTable &deviceTable() {
  static const CsvTable table = cantFail(CsvTable::parse(kDeviceTable));
  return table;
}

static StringRef nameOf(const Row &row) { return row.front(); }

/// A type from its columns: of the table, or of a file.
static DeviceType deviceOf(StringRef name,
                           function_ref<StringRef(StringRef column)> text,
                           function_ref<double(StringRef column)> number) {
  auto link = [&](StringRef kind, StringRef which) {
    return Link{kind.str(), number((which + "_us").str()) * 1e-6,
                number((which + "_GBps").str()) * 1e9};
  };
  DeviceType type;
  type.name = name.str();
  type.kind = text("kind").str();
  type.fp32Flops = number("fp32_TF") * 1e12;
  type.tf32Flops = number("tf32_TF") * 1e12;
  type.fp16Flops = number("fp16_TF") * 1e12;
  type.bf16Flops = number("bf16_TF") * 1e12;
  type.memoryBytesPerSecond = number("mem_TBps") * 1e12;
  type.memoryBytes = int64_t(number("mem_GB") * 1e9);
  type.launchSeconds = number("launch_us") * 1e-6;
  type.gemmEfficiency = number("gemm");
  type.memoryEfficiency = number("memory");
  type.overlap = number("overlap");
  type.collectiveSeconds = number("collective_us") * 1e-6;
  type.collectiveBytesPerSecond = number("collective_GBps") * 1e9;
  type.lowLatencyBytesPerSecond = number("ll_GBps") * 1e9;
  type.switchesReduce = number("nvls") != 0;
  type.within = link(text("within"), "within");
  type.between = link("network", "between");
  return type;
}

static DeviceType deviceOfRow(const Row &row) {
  const CsvTable &table = deviceTable();
  return deviceOf(
      nameOf(row), [&](StringRef column) { return table.text(row, column); },
      [&](StringRef column) { return table.number(row, column); });
}

Expected<DeviceType> lookupDevice(StringRef name) {
  SmallVector<StringRef> names;
  for (const Row &row : deviceTable().rows()) {
    if (nameOf(row) == name)
      return deviceOfRow(row);
    names.push_back(nameOf(row));
  }
  return createStringError(
      "unknown device type '" + name + "'; known types: " + join(names, ", ") +
      ", and files that `autopar calibrate` wrote" + didYouMean(name, names));
}

/// Returns whether `words` are in `text` as whole words: "L4" is not in "L40S".
static bool hasWords(StringRef text, StringRef words) {
  for (size_t at = text.find(words); at != StringRef::npos;
       at = text.find(words, at + 1)) {
    StringRef before = text.take_front(at);
    StringRef after = text.drop_front(at + words.size());
    if ((before.empty() || !isAlnum(before.back())) &&
        (after.empty() || !isAlnum(after.front())))
      return true;
  }
  return false;
}

std::optional<DeviceType> deviceOfDriverName(StringRef driverName) {
  const Row *best = nullptr;
  size_t most = 0;
  for (const Row &row : deviceTable().rows()) {
    StringRef words = deviceTable().text(row, "driver_name");
    if (words.size() <= most || !hasWords(driverName, words))
      continue;
    best = &row;
    most = words.size();
  }
  if (!best)
    return std::nullopt;
  return deviceOfRow(*best);
}

DeviceType slowestLinkedGpu() {
  DeviceType slowest;
  for (const Row &row : deviceTable().rows()) {
    DeviceType type = deviceOfRow(row);
    if (type.kind == "gpu" &&
        (slowest.name.empty() ||
         type.within.bytesPerSecond < slowest.within.bytesPerSecond))
      slowest = std::move(type);
  }
  return slowest;
}

//===----------------------------------------------------------------------===//
// Types in files
//===----------------------------------------------------------------------===//

static constexpr StringLiteral numberColumns[] = {
    "fp32_TF",  "tf32_TF",     "fp16_TF",   "bf16_TF",      "mem_GB",
    "mem_TBps", "within_GBps", "within_us", "between_GBps", "between_us",
    "gemm",     "memory",      "launch_us"};
struct OptionalColumn {
  StringLiteral name;
  double otherwise; // the value if a file does not have the key
};
static constexpr OptionalColumn optionalColumns[] = {{"overlap", 1},
                                                     {"collective_us", 0},
                                                     {"collective_GBps", 0},
                                                     {"ll_GBps", 0},
                                                     {"nvls", 0}};
static const OptionalColumn *optionalColumn(StringRef name) {
  return find_if(optionalColumns,
                 [&](auto &column) { return column.name == name; });
}

/// A number that a type can have: finite, not negative.
static bool isNumberOfType(std::optional<double> number) {
  return number && *number >= 0 && *number <= 1e9;
}

Expected<DeviceType> deviceFromJSON(const json::Object &object,
                                    StringRef name) {
  auto fail = [&](const Twine &what) {
    return createStringError("cluster file " + name + ": " + what);
  };
  for (StringRef key : {"name", "kind", "within"})
    if (!object.getString(key))
      return fail("a type needs the text '" + key + "'");
  StringRef kind = *object.getString("kind");
  if (kind != "cpu" && kind != "gpu")
    return fail("the 'kind' of a type is cpu or gpu, not '" + kind + "'");
  if (!is_contained(kLinkKinds, *object.getString("within")))
    return fail("'within' of a type must be one of " +
                join(ArrayRef(kLinkKinds), ", "));
  for (StringRef column : numberColumns)
    if (!isNumberOfType(object.getNumber(column)))
      return fail("a type needs '" + column + "', a number of 0 or more");
  for (auto [column, otherwise] : optionalColumns)
    if (object.get(column) && !isNumberOfType(object.getNumber(column)))
      return fail("'" + column + "' of a type is a number of 0 or more");
  if (object.getNumber("overlap").value_or(1) > 1)
    return fail("'overlap' of a type is a share, 0 to 1");
  for (StringRef column :
       {"fp32_TF", "mem_TBps", "within_GBps", "between_GBps", "gemm", "memory"})
    if (*object.getNumber(column) < 1e-9)
      return fail("'" + column + "' of a type must be above 0, from 1e-9");
  for (const auto &entry : object)
    if (!is_contained(numberColumns, StringRef(entry.first)) &&
        optionalColumn(entry.first) == std::end(optionalColumns) &&
        !is_contained({"name", "kind", "within", "measured"},
                      StringRef(entry.first)))
      return fail("unknown key '" + StringRef(entry.first) + "' of a type");
  DeviceType type = deviceOf(
      *object.getString("name"),
      [&](StringRef column) { return *object.getString(column); },
      [&](StringRef column) {
        if (std::optional<double> number = object.getNumber(column))
          return *number;
        return optionalColumn(column)->otherwise;
      });
  type.fromFile = true;
  return type;
}

json::Object toJSON(const DeviceType &type) {
  // Rounds to six digits, so that reading and writing again changes nothing.
  auto digits = [](double value) {
    double rounded = 0;
    StringRef(formatv("{0:e5}", value).str()).getAsDouble(rounded);
    return rounded;
  };
  json::Object object{
      {"name", type.name},
      {"kind", type.kind},
      {"fp32_TF", digits(type.fp32Flops / 1e12)},
      {"tf32_TF", digits(type.tf32Flops / 1e12)},
      {"fp16_TF", digits(type.fp16Flops / 1e12)},
      {"bf16_TF", digits(type.bf16Flops / 1e12)},
      {"mem_GB", digits(double(type.memoryBytes) / 1e9)},
      {"mem_TBps", digits(type.memoryBytesPerSecond / 1e12)},
      {"within", type.within.kind},
      {"within_GBps", digits(type.within.bytesPerSecond / 1e9)},
      {"within_us", digits(type.within.latencySeconds * 1e6)},
      {"between_GBps", digits(type.between.bytesPerSecond / 1e9)},
      {"between_us", digits(type.between.latencySeconds * 1e6)},
      {"gemm", type.gemmEfficiency},
      {"memory", type.memoryEfficiency},
      {"overlap", digits(type.overlap)},
      {"launch_us", digits(type.launchSeconds * 1e6)}};
  if (type.kind == "cpu")
    return object;
  object["collective_us"] = digits(type.collectiveSeconds * 1e6);
  object["collective_GBps"] = digits(type.collectiveBytesPerSecond / 1e9);
  object["ll_GBps"] = digits(type.lowLatencyBytesPerSecond / 1e9);
  object["nvls"] = int64_t(type.switchesReduce);
  return object;
}

} // namespace autopar
