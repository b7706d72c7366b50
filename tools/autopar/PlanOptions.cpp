//===- PlanOptions.cpp - Options that shape a plan ------------------------===//

#include "Commands.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar::driver {

int complain(const Twine &message) {
  errs() << "autopar: error: " << printable(message.str()) << "\n";
  return 1;
}

void PlanOptions::addDemands(std::vector<Option> &options) {
  options.push_back(
      number("ranks", "N",
             "N ranks on this host (default 1): CPUs, or with --target a node "
             "of h100-80gb",
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
           "                             multiplications and convolutions in "
           "it, with sums in fp32",
           precision));
  options.push_back(
      flag("evaluate",
           "compile an export for training for inference: dropout off, batch "
           "norm\n                             on its running statistics; with "
           "--train one program that does both,\n"
           "                             in the entries train and evaluate",
           evaluates));
  options.push_back(
      text("train", "RECIPE.json",
           "compile a training step: loss, optimizer and schedule by this\n"
           "                             file (docs/Training.md)",
           recipe));
  options.push_back(text("strategy", "NAME[,NAME]",
                         "auto (default), replicated, data, row, column, "
                         "tensor, channel, spatial, layer",
                         strategy));
  options.push_back(text("mesh", "AXIS=N[,AXIS=N]",
                         "fix the mesh; with several demands one axis each; "
                         "layer=N counts stages",
                         mesh));
  options.push_back(number("micro-batches", "K",
                           "micro-batches of a pipeline (default: searched)",
                           microBatches));
  options.push_back(
      text("objective", "NAME",
           "what the plan makes least: latency (default), a step's seconds; "
           "throughput, the\n                             seconds from one "
           "step to the next, begun before it ends; step, a training step\n"
           "                             (default with --train)",
           objective));
  options.push_back(flag("fewest-devices",
                         "use no more of the cluster's devices than the "
                         "fastest step needs",
                         fewestDevices));
  options.push_back(
      text("memory-limit", "SIZE",
           "bytes per device, e.g. 16GiB (default: what the cluster says)",
           memoryLimit));
  options.push_back(text("constraints", "FILE",
                         "JSON that pins or forbids shardings, strategies, "
                         "stages and meshes (docs/Constraints.md)",
                         constraints));
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
  options.push_back(texts("bind", "NAME=INT",
                          "size of a symbolic dimension (repeatable); "
                          "INPUT.DIM=INT of one by its\n"
                          "                             place; INPUT=VALUE, "
                          "INPUT=[0,2], INPUT=@FILE.npz (or .npy):\n"
                          "                             the input is this "
                          "constant; a run may leave it out, and\n"
                          "                             another value is an "
                          "error",
                          bindings));
  options.push_back(texts("state", "IN=OUT",
                          "output OUT is input IN of the next step "
                          "(repeatable); it begins as the\n"
                          "                             array IN that the "
                          "executable gets, else as zeros; one that grows\n"
                          "                             by the step holds "
                          "what --bind says",
                          states));
  options.push_back(texts("entry", "NAME=INT[,...]",
                          "an entry with these sizes (repeatable): one "
                          "executable that picks by\n"
                          "                             the inputs' shapes; "
                          "each entry has a plan of its own, which\n"
                          "                             stores weights and "
                          "states as the first one's; the number of ranks\n"
                          "                             is that of all",
                          entries));
  options.push_back(
      flag("allow-linked-weights",
           "follow links to external data inside the model's folder",
           allowLinkedWeights));
  options.push_back(flag("check-numerics",
                         "end a run at its first NaN or infinity, naming step, "
                         "tensor and op (slower)",
                         checkNumerics));
  options.push_back(
      flag("trace-planning",
           "tell of each mesh that the search tries: what its "
           "best plan takes, or\n                             why "
           "it has none",
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

/// --bind and --state.
static Error readPorts(ArrayRef<std::string> bindings,
                       ArrayRef<std::string> states, ImportOptions &options) {
  for (const std::string &state : states)
    if (Error error = options.addState(state))
      return createStringError("--state " + state + ": " +
                               toString(std::move(error)));
  for (const std::string &binding : bindings)
    if (Error error = options.bind(binding))
      return createStringError("--bind " + binding + ": " +
                               toString(std::move(error)));
  return Error::success();
}

/// N ranks on this host, of the target's kind.
static Expected<Cluster> clusterOf(int64_t ranks, StringRef target) {
  if (target.empty() || target == kTargetCpu || ranks > APRT_MAX_RANKS)
    return clusterOfRanks(ranks);
  return parseCluster(("1x" + Twine(ranks) + ":h100-80gb").str());
}

Error PlanOptions::check() const {
  for (auto [name, word, known] :
       {std::tuple("target", StringRef(target), ArrayRef(kTargets)),
        {"precision", precision, kPrecisions}})
    if (!word.empty() && !is_contained(known, word))
      return createStringError("--" + Twine(name) + " " + word +
                               ": write one of " + join(known, ", ") +
                               didYouMean(word, known));
  if (!cluster.empty() && ranks != 0)
    return createStringError("--ranks and --cluster exclude each other");
  for (auto [name, given] : {std::pair("strategy", !strategy.empty()),
                             {"mesh", !mesh.empty()},
                             {"micro-batches", microBatches != 0},
                             {"objective", !objective.empty()},
                             {"fewest-devices", fewestDevices},
                             {"memory-limit", !memoryLimit.empty()}})
    if (given && !planFile.empty())
      return createStringError("--plan and --" + Twine(name) +
                               " exclude each other: a plan says all");
  if (evaluates && !recipe.empty() && !entries.empty())
    return createStringError("--train with --evaluate makes the entries train "
                             "and evaluate: leave --entry out");
  if (!planFile.empty() && !fromPlan.empty())
    return createStringError("--plan and --from exclude each other: a plan is "
                             "taken as it is, or followed where it fits");
  return Error::success();
}

Expected<CompileRequest> PlanOptions::request(StringRef model) const {
  CompileRequest result;
  result.model = model.str();
  result.verbose = verbose;
  result.tracePlanning = tracePlanning;
  result.remarks = remarks;
  result.planFile = planFile;
  result.fromPlan = fromPlan;
  result.recipe = recipe;
  result.checkNumerics = checkNumerics;
  result.import.evaluates = evaluates && recipe.empty();
  result.import.read.allowLinkedWeights = allowLinkedWeights;
  if (Error error = readPorts(bindings, states, result.import))
    return std::move(error);
  if (Error error = check())
    return std::move(error);
  result.target = target;
  result.precision = precision;
  result.clusterGiven = !cluster.empty() || ranks != 0;
  auto machine = cluster.empty() ? clusterOf(ranks == 0 ? 1 : ranks, target)
                                 : parseCluster(cluster);
  if (!machine)
    return machine.takeError();
  result.plan.cluster = std::move(*machine);
  if (!strategy.empty()) {
    auto names = parseStrategies(strategy);
    if (!names)
      return names.takeError();
    result.plan.strategies = std::move(*names);
  }
  if (!mesh.empty()) {
    auto axes = parseMesh(mesh);
    if (!axes)
      return axes.takeError();
    result.plan.mesh = std::move(*axes);
  }
  if (!constraints.empty()) {
    auto read = readConstraintsFile(constraints);
    if (!read)
      return read.takeError();
    result.plan.constraints = std::move(*read);
  }
  if (!objective.empty()) {
    auto least = parseObjective(objective);
    if (!least)
      return createStringError("--objective: " + toString(least.takeError()));
    result.plan.objective = *least;
  } else if (!recipe.empty()) {
    result.plan.objective = Objective::Step;
  }
  result.plan.microBatches = microBatches;
  result.plan.fewestDevices = fewestDevices;
  if (!memoryLimit.empty()) {
    auto bytes = parseSize(memoryLimit);
    if (!bytes)
      return createStringError("--memory-limit: " +
                               toString(bytes.takeError()));
    result.plan.memoryLimit = *bytes;
  }
  return result;
}

/// `batch=1,axes=[0,2]` cut at the commas that are in no list.
static SmallVector<StringRef> bindingsOfEntry(StringRef entry) {
  SmallVector<StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < entry.size(); ++i) {
    depth += (entry[i] == '[') - (entry[i] == ']');
    if (entry[i] != ',' || depth > 0)
      continue;
    parts.push_back(entry.slice(begin, i));
    begin = i + 1;
  }
  parts.push_back(entry.substr(begin));
  return parts;
}

/// `batch=1,seq=128` beside the bindings that all entries share.
static Error addEntry(StringRef entry, CompileRequest &request) {
  SmallVector<StringRef> parts = bindingsOfEntry(entry);
  ImportOptions own;
  for (StringRef part : parts)
    if (Error error = own.bind(part.trim()))
      return createStringError("--entry " + entry + ": at '" + part +
                               "': " + toString(std::move(error)));
  if (own.bindings.size() != parts.size())
    return createStringError("--entry " + entry + ": a size is given twice");
  for (const auto &[name, size] : own.bindings)
    if (!request.import.bindings.insert({name, size}).second)
      return createStringError("--entry " + entry + ": --bind gives '" + name +
                               "' a size already, for all entries");
  request.import.arrays.insert(own.arrays.begin(), own.arrays.end());
  request.entry = entry.str();
  return Error::success();
}

Expected<CompileRequest> requestForPlan(StringRef model, StringRef planFile,
                                        ArrayRef<std::string> bindings,
                                        ArrayRef<std::string> states,
                                        StringRef recipe, StringRef entry) {
  CompileRequest request;
  request.model = model.str();
  request.planFile = planFile.str();
  request.recipe = recipe.str();
  if (Error error = readPorts(bindings, states, request.import))
    return std::move(error);
  if (entry == kTrainEntry || entry == kEvaluateEntry)
    request.entry = entry.str();
  else if (!entry.empty())
    if (Error error = addEntry(entry, request))
      return std::move(error);
  return request;
}

/// A training, and the evaluation of what it trains. Constraints and objective
/// speak of the training; the evaluation follows how its tensors are stored.
static std::vector<CompileRequest> trainAndEvaluate(CompileRequest train) {
  train.entry = kTrainEntry.str();
  train.stored = std::make_shared<StoredTensors>();
  train.trained = std::make_shared<TrainedStates>();
  CompileRequest evaluate = train;
  evaluate.entry = kEvaluateEntry.str();
  evaluate.recipe.clear();
  evaluate.import.evaluates = true;
  evaluate.plan.constraints = {};
  evaluate.plan.objective.reset();
  return {std::move(train), std::move(evaluate)};
}

Expected<std::vector<CompileRequest>>
PlanOptions::requests(StringRef model) const {
  auto common = request(model);
  if (!common)
    return common.takeError();
  if (evaluates && !recipe.empty())
    return trainAndEvaluate(std::move(*common));
  if (entries.empty())
    return std::vector<CompileRequest>{*common};
  common->stored = std::make_shared<StoredTensors>();
  std::vector<CompileRequest> result;
  for (const std::string &entry : entries) {
    if (any_of(result, [&](const CompileRequest &other) {
          return other.entry == entry;
        }))
      return createStringError("--entry " + entry + " is given twice");
    result.push_back(*common);
    if (Error error = addEntry(entry, result.back()))
      return std::move(error);
  }
  return result;
}

int failedIn(StringRef entry) {
  if (!entry.empty())
    errs() << "autopar: note: in --entry " << entry << "\n";
  return 1;
}

void printPlan(raw_ostream &os, StringRef entry, StringRef table) {
  if (!entry.empty())
    os << "entry        " << entry << "\n";
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
