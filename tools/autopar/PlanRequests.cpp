//===- PlanRequests.cpp - Options made into requests of compilations ------===//

#include "Commands.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Support/Json.h"
#include "autopar/runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace autopar::driver {

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
  if (!cluster.empty() && !ranks.empty())
    return createStringError("--ranks and --cluster exclude each other");
  for (const RequestOption &option : kRequestOptions)
    if (!planFile.empty() && !asked.at(option.name).empty() &&
        !std::holds_alternative<ConstraintsOption>(option.kind))
      return createStringError("--plan and --" + option.name +
                               " exclude each other: a plan says all");
  if (!planFile.empty() && !fromPlan.empty())
    return createStringError("--plan and --from exclude each other: a plan is "
                             "taken as it is, or followed where it fits");
  return Error::success();
}

Expected<CompileRequest> PlanOptions::request(StringRef model,
                                              int64_t ranks) const {
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
  result.clusterGiven = !cluster.empty() || !this->ranks.empty();
  auto machine =
      cluster.empty() ? clusterOf(ranks, target) : parseCluster(cluster);
  if (!machine)
    return machine.takeError();
  result.plan.cluster = std::move(*machine);
  for (const RequestOption &option : kRequestOptions)
    if (const std::string &given = asked.at(option.name); !given.empty())
      if (Error error = parseOption(option, given, result.plan))
        return std::move(error);
  if (!result.plan.objective && !recipe.empty())
    result.plan.objective = Objective::Step;
  return result;
}

/// The numbers of --ranks.
static Expected<SmallVector<int64_t>> parseRanks(StringRef text) {
  if (text.empty())
    return SmallVector<int64_t>{1};
  SmallVector<int64_t> numbers;
  for (StringRef part : split(text, ',')) {
    int64_t number = 0;
    if (part.trim().getAsInteger(10, number))
      return createStringError("--ranks " + text + ": '" + part +
                               "' is not a number; write one, or several with "
                               "commas, e.g. 1,2,4");
    if (is_contained(numbers, number))
      return createStringError("--ranks " + text + ": " + Twine(number) +
                               " is given twice");
    numbers.push_back(number);
  }
  return numbers;
}

/// `batch=1,2-ranks`.
static std::string planNameOf(StringRef entry, int64_t ranks) {
  std::string number = std::to_string(ranks) + kRanksSuffix.str();
  return entry.empty() ? number : entry.str() + "," + number;
}

StringRef entryOfPlan(StringRef planName) {
  auto [entry, last] = planName.rsplit(',');
  if (last.empty())
    std::swap(entry, last);
  int64_t number = 0;
  bool isNumber =
      last.consume_back(kRanksSuffix) && !last.getAsInteger(10, number);
  return isNumber ? entry : planName;
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
  request.entry = entry.str();
  if (entry.empty())
    return Error::success();
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
  return Error::success();
}

Expected<CompileRequest> requestForPlan(StringRef model, StringRef planFile,
                                        ArrayRef<std::string> bindings,
                                        ArrayRef<std::string> states,
                                        StringRef recipe, StringRef planName) {
  CompileRequest request;
  request.model = model.str();
  request.planFile = planFile.str();
  request.recipe = recipe.str();
  if (Error error = readPorts(bindings, states, request.import))
    return std::move(error);
  StringRef entry = entryOfPlan(planName);
  if (entry == kTrainEntry || entry == kEvaluateEntry)
    request.entry = entry.str();
  else if (Error error = addEntry(entry, request))
    return std::move(error);
  request.planName = planName.str();
  return request;
}

/// True if the recipe says how its training is evaluated. What is wrong with
/// the file is told where all of it is read.
static bool saysEvaluation(StringRef recipe) {
  auto buffer = MemoryBuffer::getFile(recipe, /*IsText=*/true);
  auto value = buffer ? parseJson((*buffer)->getBuffer())
                      : Expected<json::Value>(json::Value(nullptr));
  if (!value) {
    consumeError(value.takeError());
    return false;
  }
  const json::Object *object = value->getAsObject();
  const json::Value *given = object ? object->get("evaluation") : nullptr;
  return given && !given->getAsNull();
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

Error PlanOptions::addEntries(const CompileRequest &common,
                              std::vector<CompileRequest> &requests) const {
  if (entries.empty()) {
    requests.push_back(common);
    return Error::success();
  }
  auto stored = std::make_shared<StoredTensors>();
  for (auto [i, entry] : enumerate(entries)) {
    if (is_contained(ArrayRef(entries).take_front(i), entry))
      return createStringError("--entry " + entry + " is given twice");
    requests.push_back(common);
    requests.back().stored = stored;
    if (Error error = addEntry(entry, requests.back()))
      return error;
  }
  return Error::success();
}

Expected<std::vector<CompileRequest>>
PlanOptions::requests(StringRef model) const {
  auto numbers = parseRanks(ranks);
  if (!numbers)
    return numbers.takeError();
  bool alsoEvaluates = !recipe.empty() && (evaluates || saysEvaluation(recipe));
  if (alsoEvaluates && !entries.empty())
    return createStringError("--train with --evaluate, or a recipe's "
                             "'evaluation', makes the entries train and "
                             "evaluate: leave --entry out");
  std::vector<CompileRequest> result;
  for (int64_t number : *numbers) {
    auto common = request(model, number);
    if (!common)
      return common.takeError();
    size_t first = result.size();
    if (alsoEvaluates)
      append_range(result, trainAndEvaluate(std::move(*common)));
    else if (Error error = addEntries(*common, result))
      return std::move(error);
    for (size_t i = first; i < result.size(); ++i)
      result[i].planName = numbers->size() > 1
                               ? planNameOf(result[i].entry, number)
                               : result[i].entry;
  }
  return result;
}

} // namespace autopar::driver
