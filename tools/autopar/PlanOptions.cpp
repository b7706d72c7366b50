//===- PlanOptions.cpp - Options that shape a plan ------------------------===//

#include "Commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

int complain(const Twine &message) {
  errs() << "autopar: error: " << printable(message.str()) << "\n";
  return 1;
}

/// An option whose text is kept; it is parsed where requests are made.
Option PlanOptions::optionOf(const RequestOption &row) {
  std::string &given = asked[row.name];
  Option option = text(row.name.str(), row.value.str(), row.help.str(), given);
  if (row.value.empty())
    option.apply = [&given](StringRef) {
      given = "true";
      return Error::success();
    };
  return option;
}

void PlanOptions::addDemands(std::vector<Option> &options) {
  options.push_back(
      text("ranks", "N[,M...]",
           "N ranks on this host (default 1): CPUs, or with --target a node of "
           "h100-80gb;\n"
           "of several numbers the executable's --ranks takes one",
           ranks));
  options.push_back(text(
      "cluster", "SPEC",
      "a cluster file, or NODESxDEVICES:TYPE[@GBps], e.g. 16x8:a100-80gb@25",
      cluster));
  options.push_back(
      text("target", "KIND",
           "cpu, cuda, or emulated: a GPU that the host plays, with checks "
           "(default: the cluster's kind)",
           target));
  options.push_back(
      text("precision", "TYPE",
           "fp32 (default: as exported), tf32, bf16 or fp16: matrix\n"
           "multiplications and convolutions in it, with sums in fp32",
           precision));
  options.push_back(flag(
      "evaluate",
      "compile an export for training for inference: dropout off, batch norm\n"
      "on its running statistics; with --train one program that does both,\n"
      "in the entries train and evaluate",
      evaluates));
  options.push_back(
      text("train", "RECIPE.json",
           "compile a training step: loss, optimizer and schedule by this\n"
           "file (docs/Training.md)",
           recipe));
  for (const RequestOption &row : kRequestOptions)
    options.push_back(optionOf(row));
  options.push_back(
      text("plan", "FILE",
           "use this plan, of its --bind and --state, instead of searching one",
           planFile));
  options.push_back(
      text("save-plan", "FILE", "keep the plan as JSON", savePlan));
}

void PlanOptions::addTo(CommandLine &line) {
  std::vector<Option> &options = line.options;
  addDemands(options);
  options.push_back(texts(
      "bind", "NAME=INT",
      "size of a symbolic dimension (repeatable); INPUT.DIM=INT of one by its\n"
      "place; INPUT=VALUE, INPUT=[0,2], INPUT=@FILE.npz (or .npy):\n"
      "the input is this constant; a run may leave it out, and\n"
      "another value is an error",
      bindings));
  options.push_back(texts(
      "state", "IN=OUT",
      "output OUT is input IN of the next step (repeatable); it begins as the\n"
      "array IN that the executable gets, else as zeros; one that grows\n"
      "by the step holds what --bind says",
      states));
  options.push_back(texts(
      "entry", "NAME=INT[,...]",
      "an entry with these sizes (repeatable): one executable that picks by\n"
      "the inputs' shapes; each entry has a plan of its own, which\n"
      "stores weights and states as the first one's",
      entries));
  options.push_back(
      flag("allow-linked-weights",
           "follow links to external data inside the model's folder",
           allowLinkedWeights));
  options.push_back(flag("check-numerics",
                         "end a run at its first NaN or infinity, naming step, "
                         "tensor and op (slower)",
                         checkNumerics));
  options.push_back(flag(
      "trace-planning",
      "tell of each mesh that the search tries: what its best plan takes, or\n"
      "why it has none",
      tracePlanning));
  options.push_back(flag("remarks",
                         "tell what was decided at each node, and why it "
                         "communicates",
                         remarks));
  options.push_back(flag("verbose", "tell the time of each phase", verbose));
}

raw_ostream &PlanOptions::messages(ArrayRef<StringRef> files) const {
  bool isTaken = goesToStdout(savePlan) || any_of(files, goesToStdout);
  return isTaken ? errs() : outs();
}

int failedIn(const CompileRequest &request) {
  if (!request.planName.empty())
    errs() << "autopar: note: in entry " << request.planName << "\n";
  return 1;
}

void printPlan(raw_ostream &os, const CompileRequest &request,
               StringRef table) {
  if (!request.planName.empty())
    os << "entry        " << request.planName << "\n";
  os << table;
}

bool parseOrExit(const CommandLine &line, ArrayRef<const char *> arguments,
                 int &code) {
  for (StringRef argument : arguments)
    if (argument == "--help" || argument == "-h") {
      line.printHelp();
      code = 0;
      return true;
    }
  if (Error error = line.parse(arguments)) {
    code =
        complain(toString(std::move(error)) +
                 "; `autopar help` lists commands, --help a command's options");
    return true;
  }
  return false;
}

mlir::LogicalResult savePlans(ArrayRef<EntryPlan> plans,
                              ArrayRef<std::string> paths) {
  for (const std::string &path : paths)
    if (!path.empty())
      if (Error error = writePlanFile(plans, path)) {
        complain(toString(std::move(error)));
        return mlir::failure();
      }
  return mlir::success();
}

} // namespace autopar::driver
