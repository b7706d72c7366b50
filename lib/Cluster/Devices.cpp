//===- Devices.cpp - The table of device types ----------------------------===//

#include "DeviceData.h"
#include "autopar/Cluster/Cluster.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

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

  const SmallVector<StringRef> *find(StringRef name) const {
    for (const SmallVector<StringRef> &row : rows)
      if (row.front() == name)
        return &row;
    return nullptr;
  }

  std::string names() const {
    return join(map_range(rows, [](const auto &row) { return row.front(); }),
                ", ");
  }

  StringRef text(const SmallVector<StringRef> &row, StringRef column) const {
    return row[llvm::find(header, column) - header.begin()];
  }
  double number(const SmallVector<StringRef> &row, StringRef column) const {
    double value = 0;
    text(row, column).getAsDouble(value);
    return value;
  }

private:
  SmallVector<StringRef> header;
  SmallVector<SmallVector<StringRef>> rows;
};

} // namespace

static Link linkOf(StringRef kind, double latencyUs, double gigabytes) {
  return {kind.str(), latencyUs * 1e-6, gigabytes * 1e9, false};
}

Expected<DeviceType> lookupDevice(StringRef name) {
  DeviceTable table;
  const SmallVector<StringRef> *row = table.find(name);
  if (!row)
    return createStringError("unknown device type '" + name +
                             "'; known types: " + table.names());
  auto number = [&](StringRef column) { return table.number(*row, column); };
  DeviceType type;
  type.name = name.str();
  type.kind = table.text(*row, "kind").str();
  type.fp32Flops = number("fp32_TF") * 1e12;
  type.tf32Flops = number("tf32_TF") * 1e12;
  type.fp16Flops = number("fp16_TF") * 1e12;
  type.bf16Flops = number("bf16_TF") * 1e12;
  type.memoryBytesPerSecond = number("mem_TBps") * 1e12;
  type.memoryBytes = int64_t(number("mem_GB") * 1e9);
  type.launchSeconds = number("launch_us") * 1e-6;
  type.gemmEfficiency = number("gemm");
  type.memoryEfficiency = number("memory");
  type.within = linkOf(table.text(*row, "within"), number("within_us"),
                       number("within_GBps"));
  type.between =
      linkOf("network", number("between_us"), number("between_GBps"));
  return type;
}

} // namespace autopar
