//===- OpsCommand.cpp - autopar ops ---------------------------------------===//

#include "Commands.h"
#include "autopar/Frontend/OnnxSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

/// `6 to 28`: the versions of the standard that the table covers.
static std::string opsetText() {
  auto [oldest, newest] = onnxOpsets();
  return formatv("{0} to {1}", oldest, newest);
}

static void printOps(ArrayRef<OnnxOpSupport> ops, raw_ostream &os) {
  size_t width = 0, compiled = 0;
  for (const OnnxOpSupport &op : ops) {
    width = std::max(width, op.name.size());
    compiled += !op.versions.empty();
  }
  os << compiled << " operators of the standard (ai.onnx) in opsets "
     << opsetText() << ", and functions that the model defines\n"
     << "tensors of " << join(onnxElementTypes(), ", ") << "\n\n"
     << left_justify("operator", unsigned(width) + 2)
     << "versions that changed it; what is left out\n";
  bool isFirst = true;
  for (const OnnxOpSupport &op : ops) {
    if (op.versions.empty() && isFirst)
      os << "\nnot compiled\n";
    isFirst &= !op.versions.empty();
    os << left_justify(op.name, unsigned(width) + 2)
       << join(map_range(
                   op.versions,
                   [](int64_t version) { return std::to_string(version); }),
               " ")
       << (op.leftOut.empty() || op.versions.empty() ? "" : "; without ")
       << op.leftOut << "\n";
  }
}

static json::Value opsToJSON(ArrayRef<OnnxOpSupport> ops) {
  json::Array compiled, others;
  for (const OnnxOpSupport &op : ops) {
    if (op.versions.empty())
      others.push_back(json::Object{{"name", op.name}, {"why", op.leftOut}});
    else
      compiled.push_back(json::Object{{"name", op.name},
                                      {"versions", json::Array(op.versions)},
                                      {"left_out", op.leftOut}});
  }
  auto [oldest, newest] = onnxOpsets();
  return json::Object{{"opsets", json::Array{oldest, newest}},
                      {"types", json::Array(onnxElementTypes())},
                      {"operators", std::move(compiled)},
                      {"not_compiled", std::move(others)}};
}

int opsCommand(ArrayRef<const char *> arguments) {
  std::string json;
  CommandLine line;
  line.usage = "autopar ops [--json FILE]";
  line.about = "Lists the ONNX operators that can be compiled: the versions of "
               "the standard that changed\neach, and what of it is left out; "
               "then those that cannot, and why.";
  line.options.push_back(text("json", "FILE", "write the list as JSON", json));
  int code = 0;
  if (parseOrExit(line, arguments, code))
    return code;
  std::vector<OnnxOpSupport> ops = onnxOpSupport();
  if (!json.empty())
    if (Error error = writeFile(json, formatv("{0:2}\n", opsToJSON(ops)).str()))
      return complain(toString(std::move(error)));
  if (!goesToStdout(json))
    printOps(ops, outs());
  return 0;
}

} // namespace autopar::driver
