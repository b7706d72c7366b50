//===- Devices.cpp - The table of device types ----------------------------===//

#include "DeviceData.h"
#include "autopar/Cluster/Cluster.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

namespace {

/// The rows of the table by column name, in the file's order.
class DeviceTable {
public:
  DeviceTable() {
    SmallVector<StringRef> lines;
    StringRef(kDeviceTable).split(lines, '\n');
    for (StringRef line : lines) {
      if (line.trim().empty() || line.starts_with("#"))
        continue;
      SmallVector<StringRef> cells;
      line.split(cells, ',');
      (header.empty() ? header : rows.emplace_back()) = std::move(cells);
    }
  }

  using Row = SmallVector<StringRef>;
  ArrayRef<Row> all() const { return rows; }

  const Row *find(StringRef name) const {
    for (const Row &row : rows)
      if (row.front() == name)
        return &row;
    return nullptr;
  }

  SmallVector<StringRef> names() const {
    return to_vector(
        map_range(rows, [](const Row &row) { return row.front(); }));
  }

  StringRef text(const Row &row, StringRef column) const {
    return row[llvm::find(header, column) - header.begin()];
  }
  double number(const Row &row, StringRef column) const {
    double value = 0;
    text(row, column).getAsDouble(value);
    return value;
  }

private:
  Row header;
  SmallVector<Row> rows;
};

} // namespace

/// A type from its columns: of the table, or of a file.
static DeviceType deviceOf(StringRef name,
                           function_ref<StringRef(StringRef column)> text,
                           function_ref<double(StringRef column)> number) {
  auto link = [&](StringRef kind, StringRef which) {
    return Link{kind.str(), number((which + "_us").str()) * 1e-6,
                number((which + "_GBps").str()) * 1e9, false};
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
  type.within = link(text("within"), "within");
  type.between = link("network", "between");
  return type;
}

static DeviceType deviceOfRow(const DeviceTable &table,
                              const DeviceTable::Row &row) {
  return deviceOf(
      row.front(), [&](StringRef column) { return table.text(row, column); },
      [&](StringRef column) { return table.number(row, column); });
}

Expected<DeviceType> lookupDevice(StringRef name) {
  DeviceTable table;
  const DeviceTable::Row *row = table.find(name);
  if (!row)
    return createStringError("unknown device type '" + name +
                             "'; known types: " + join(table.names(), ", ") +
                             ", and files that `autopar calibrate` wrote" +
                             didYouMean(name, table.names()));
  return deviceOfRow(table, *row);
}

/// Whether `words` are in `text` as whole words: "L4" is not in "L40S".
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
  DeviceTable table;
  const DeviceTable::Row *best = nullptr;
  size_t most = 0;
  for (const DeviceTable::Row &row : table.all()) {
    StringRef words = table.text(row, "driver_name");
    if (words.size() <= most || !hasWords(driverName, words))
      continue;
    best = &row;
    most = words.size();
  }
  if (!best)
    return std::nullopt;
  return deviceOfRow(table, *best);
}

DeviceType slowestLinkedGpu() {
  DeviceTable table;
  DeviceType slowest;
  for (const DeviceTable::Row &row : table.all()) {
    DeviceType type = deviceOfRow(table, row);
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
  for (StringRef column : numberColumns) {
    std::optional<double> number = object.getNumber(column);
    if (!number || !(*number >= 0) || *number > 1e9)
      return fail("a type needs '" + column + "', a number of 0 or more");
  }
  for (StringRef column :
       {"fp32_TF", "mem_TBps", "within_GBps", "between_GBps", "gemm", "memory"})
    if (*object.getNumber(column) == 0)
      return fail("'" + column + "' of a type must be above 0");
  for (const auto &entry : object)
    if (!is_contained(numberColumns, StringRef(entry.first)) &&
        !is_contained({"name", "kind", "within", "measured"},
                      StringRef(entry.first)))
      return fail("unknown key '" + StringRef(entry.first) + "' of a type");
  DeviceType type = deviceOf(
      *object.getString("name"),
      [&](StringRef column) { return *object.getString(column); },
      [&](StringRef column) { return *object.getNumber(column); });
  type.fromFile = true;
  return type;
}

json::Object toJSON(const DeviceType &type) {
  // In six digits: reading and writing again changes nothing.
  auto digits = [](double value) {
    double rounded = 0;
    StringRef(formatv("{0:e5}", value).str()).getAsDouble(rounded);
    return rounded;
  };
  return json::Object{
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
      {"launch_us", digits(type.launchSeconds * 1e6)}};
}

} // namespace autopar
