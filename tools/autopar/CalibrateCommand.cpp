//===- CalibrateCommand.cpp - autopar calibrate ---------------------------===//
//
// autopar-measure runs what is measured, with the runtime's own calls; here its
// numbers become a cluster file of this host.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "autopar/Cluster/MeasuredCluster.h"
#include "autopar/Lowering/Executable.h"
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
  std::vector<std::string> notes;
  Expected<json::Value> file = measuredCluster(*measured, notes);
  if (!file)
    return complain(toString(file.takeError()));
  for (const std::string &note : notes)
    errs() << "autopar: note: " << note << "\n";
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
