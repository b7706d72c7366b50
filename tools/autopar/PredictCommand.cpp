//===- PredictCommand.cpp - autopar predict -------------------------------===//

#include "Commands.h"
#include "autopar/Cost/PredictCollectives.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

namespace {

struct PredictOptions {
  std::string collectives, output;
};

CommandLine commandLine(PredictOptions &options) {
  CommandLine line;
  line.usage = "autopar predict --collectives FILE.csv [-o OUT.csv]";
  line.about =
      "Copies a table of measured collectives and adds what the cost model "
      "says "
      "each takes\n(predicted_us, microseconds). Read are the columns device, "
      "collective, algo, ranks, nodes,\ninter_node, size_bytes and source, "
      "never a measured one. A row that cannot be predicted\ngets an empty "
      "cell, and a warning says why.";
  line.options = {
      text("collectives", "FILE.csv", "the table", options.collectives),
      text("o", "OUT.csv", "where to write it (default: -, standard output)",
           options.output)};
  return line;
}

int predict(const PredictOptions &options) {
  if (options.collectives.empty())
    return complain("nothing to predict; usage: autopar predict --collectives "
                    "FILE.csv [-o OUT.csv]");
  StringRef path = options.collectives;
  auto fail = [&](Error error) {
    return complain(path + ": " + toString(std::move(error)));
  };
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return complain("cannot read " + path + ": " + buffer.getError().message());
  Expected<CsvTable> table = CsvTable::parse((*buffer)->getBuffer());
  if (!table)
    return fail(table.takeError());
  Error error = predictCollectives(*table, [&](StringRef why) {
    errs() << "autopar: warning: " << path << ": " << why << "\n";
  });
  if (error)
    return fail(std::move(error));
  StringRef output = options.output.empty() ? StringRef("-") : options.output;
  error = writeFile(output, table->str());
  return error ? complain(toString(std::move(error))) : 0;
}

} // namespace

int predictCommand(ArrayRef<const char *> arguments) {
  PredictOptions options;
  int code = 0;
  return parseOrExit(commandLine(options), arguments, code) ? code
                                                            : predict(options);
}

} // namespace autopar::driver
