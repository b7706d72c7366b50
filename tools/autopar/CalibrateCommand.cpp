//===- CalibrateCommand.cpp - autopar calibrate ---------------------------===//
//
// autopar-measure runs what is measured, with the runtime's own calls; here its
// numbers become a cluster file of this host.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "autopar/Lowering/Executable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

struct CalibrateOptions {
  std::string output, target;
};

CommandLine commandLine(CalibrateOptions &options) {
  CommandLine line;
  line.usage = "autopar calibrate [--target KIND] [-o FILE]";
  line.about =
      "Measures this host into a file that --cluster takes: GEMMs by "
      "type, memory\nbandwidth and the cost of a launch, of its cores and of "
      "its GPU where there is one; of cores\nalso how far computing and "
      "memory traffic overlap and what two ranks exchange. The versions\nof "
      "driver and libraries stand beside. Keep the host idle meanwhile.";
  line.options = {
      text("o", "FILE", "where to write it (default: -, standard output)",
           options.output),
      text("target", "KIND", "measure only the cpu, or only cuda: the GPU",
           options.target)};
  return line;
}

/// What a program prints.
struct TemporaryText {
  SmallString<128> path;
  FileRemover remover;

  bool make() {
    if (sys::fs::createTemporaryFile("autopar", "txt", path))
      return false;
    remover.setFile(path);
    return true;
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
};

/// What autopar-measure prints.
Expected<json::Value> measure(StringRef target) {
  Expected<std::string> stub = findStub();
  if (!stub)
    return stub.takeError();
  SmallString<128> program = sys::path::parent_path(*stub);
  sys::path::append(program, "autopar-measure");
  if (!sys::fs::can_execute(program))
    return createStringError("no 'autopar-measure' beside '" + *stub +
                             "'; build the target autopar-measure, or install");
  TemporaryText out, errors;
  SmallVector<StringRef> arguments{program};
  if (!target.empty())
    arguments.append({"--target", target});
  if (!out.make() || !errors.make())
    return createStringError("cannot make a temporary file");
  std::optional<StringRef> redirects[] = {std::nullopt, out.path.str(),
                                          errors.path.str()};
  if (sys::ExecuteAndWait(program, arguments, std::nullopt, redirects)) {
    std::string text = errors.read();
    StringRef message = StringRef(text).trim();
    message.consume_front("error: ");
    return createStringError(message.empty() ? "autopar-measure failed"
                                             : message);
  }
  errs() << errors.read(); // warnings
  return json::parse(out.read());
}

/// "NVIDIA H100 80GB HBM3 (sm_90, ...)" -> "nvidia-h100-80gb-hbm3".
std::string shortName(StringRef device) {
  std::string name;
  for (char letter : device.take_until([](char c) { return c == '('; }).trim())
    name += isAlnum(letter) ? toLower(letter) : '-';
  return name;
}

/// The row of the table whose links the device's are taken to be where they are
/// not measured.
Expected<DeviceType> modelOfLinks(StringRef kind, StringRef device) {
  if (kind == "cpu")
    return lookupDevice("cpu");
  if (std::optional<DeviceType> known = deviceOfDriverName(device))
    return *known;
  DeviceType type = slowestLinkedGpu();
  errs() << "autopar: note: the table of devices has no '" << device
         << "': its links are guessed to be those of " << type.name
         << "; set within_* and between_* of the type in the file to what "
            "they are\n";
  return type;
}

/// A measurement as a type of a cluster file.
Expected<json::Object> typeOf(const json::Object &measured) {
  StringRef kind = measured.getString("kind").value_or("");
  StringRef device = measured.getString("device").value_or("");
  Expected<DeviceType> type = modelOfLinks(kind, device);
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

/// All types; the nodes have the last one, the GPU where there is one.
Expected<json::Value> clusterFileOf(const json::Value &measurements) {
  json::Array types;
  json::Object node{{"count", 1}};
  const json::Array *list = measurements.getAsArray();
  if (!list)
    return createStringError("autopar-measure printed no list");
  for (const json::Value &each : *list) {
    const json::Object *measured = each.getAsObject();
    if (!measured)
      continue;
    Expected<json::Object> type = typeOf(*measured);
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

int calibrate(const CalibrateOptions &options) {
  if (options.target == "emulated")
    return complain("an emulated GPU has no speed of its own to measure; "
                    "--target takes cpu or cuda");
  if (!is_contained({"", "cpu", "cuda"}, StringRef(options.target)))
    return complain("--target takes cpu or cuda, not '" + options.target + "'");
  errs() << "measuring this host\n";
  Expected<json::Value> measured = measure(options.target);
  if (!measured)
    return complain(toString(measured.takeError()));
  Expected<json::Value> file = clusterFileOf(*measured);
  if (!file)
    return complain(toString(file.takeError()));
  StringRef path = options.output.empty() ? StringRef("-") : options.output;
  Error error = writeFile(path, formatv("{0:2}\n", *file).str());
  return error ? complain(toString(std::move(error))) : 0;
}

} // namespace

int calibrateCommand(ArrayRef<const char *> arguments) {
  CalibrateOptions options;
  int code = 0;
  return parseOrExit(commandLine(options), arguments, code)
             ? code
             : calibrate(options);
}

} // namespace autopar::driver
