//===- Ports.cpp - Inputs of a run ----------------------------------------===//

#include "Ports.h"

#include "../files/Text.h"
#include "../session/FixedInputs.h"
#include "../session/IndexCheck.h"

#include <algorithm>

namespace autopar::runtime {

std::string listPorts(const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += (text.empty() ? "" : ", ") + port.name + " " +
            describeTensor(port.dtype, port.shape);
  return text.empty() ? "none" : text;
}

const Port *findPort(const std::vector<Port> &ports, const std::string &name) {
  for (const Port &port : ports)
    if (port.name == name)
      return &port;
  return nullptr;
}

std::string meantPort(const std::vector<Port> &ports, const std::string &name) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back(port.name);
  return didYouMean(name, names);
}

namespace {
/// The arrays and shards of the command line.
struct Given {
  NamedArrays arrays;
  Shards shards;
};
} // namespace

static Status openShards(const std::string &argument, const AcceptArray &accept,
                         Shards &shards) {
  if (!shards.columns().empty())
    return Status::error("--data names two folders or patterns, '" +
                         shards.where() + "' and '" + argument +
                         "': rows are of one");
  APRT_TRY(shards.open(argument));
  for (const Shards::Column &column : shards.columns())
    APRT_TRY(accept(column.name));
  return Status::success();
}

static Status readArrays(const std::vector<std::string> &arguments,
                         const AcceptArray &accept, Given &given) {
  NamedArrays &arrays = given.arrays;
  for (const std::string &argument : arguments) {
    if (Shards::isNamedBy(argument)) {
      APRT_TRY(openShards(argument, accept, given.shards));
      continue;
    }
    ArrayFile file;
    APRT_TRY(parseArrayFile(argument, file));
    if (file.name.empty()) {
      APRT_TRY(readNpz(file.path, arrays, accept));
      continue;
    }
    APRT_TRY(accept(file.name));
    Array array;
    APRT_TRY(readNpy(file.path, array));
    if (!arrays.emplace(file.name, std::move(array)).second)
      return Status::error("input '" + file.name + "' is given twice");
  }
  return Status::success();
}

std::vector<int64_t> ofSteps(const std::vector<int64_t> &shape, int64_t steps) {
  std::vector<int64_t> all = shape;
  if (steps > 0)
    all.insert(all.begin(), steps);
  return all;
}

/// Returns a hint for a file whose arrays have rows and no steps, or "" for
/// others.
static std::string rowsHint(const Port &port, const Array &array) {
  bool hasRows = !port.shape.empty() &&
                 array.shape.size() == port.shape.size() &&
                 std::equal(port.shape.begin() + 1, port.shape.end(),
                            array.shape.begin() + 1);
  return hasRows ? "; rows are read of a folder or a pattern of files, as "
                   "--data 'all.np*'"
                 : "";
}

static Status checkArray(const Port &port, const Array &array, bool ownData) {
  if (ownData && array.shape.size() == port.shape.size() + 1 &&
      array.shape.front() == 0)
    return Status::error("input '" + port.name + "' has no step: it is " +
                         describeTensor(array.dtype, array.shape) +
                         ", and its first dimension counts steps");
  bool hasSteps = !array.shape.empty() && array.shape.front() > 0 &&
                  array.shape == ofSteps(port.shape, array.shape.front());
  if (array.dtype == port.dtype &&
      (ownData ? hasSteps : array.shape == port.shape))
    return Status::success();
  std::string hint =
      array.dtype == port.dtype ? "" : "; convert it, nothing is cast here";
  return Status::error(
      "input '" + port.name + "' is " +
      describeTensor(array.dtype, array.shape) + " but the program expects " +
      describeTensor(port.dtype, port.shape) +
      (ownData    ? " with a leading dimension of steps"
       : hasSteps ? "; --steps N takes arrays with a leading dimension of steps"
                  : "") +
      (ownData ? rowsHint(port, array) : "") + hint);
}

static Status checkFixed(const FixedInput &input, const Array &array) {
  return checkFixed(input, array.dtype, array.shape, array.data.data());
}

/// Returns whether every input is present with the shape of this entry, and
/// every fixed input has its value.
static bool fits(const Manifest &manifest, const Given &given, bool ownData) {
  for (const auto &[name, array] : given.arrays)
    if (const FixedInput *fixed = findFixed(manifest, name))
      if (checkFixed(*fixed, array).failed())
        return false;
  int64_t batch = 0;
  for (const Port &port : manifest.inputs) {
    auto found = given.arrays.find(port.name);
    if (port.countsRows && found == given.arrays.end())
      continue;
    const Shards::Column *column = given.shards.find(port.name);
    if (column ? RowStream::checkColumn(*column, port, batch).failed()
               : found == given.arrays.end() ||
                     checkArray(port, found->second, ownData).failed())
      return false;
  }
  return true;
}

static std::string listEntries(const std::vector<Program> &programs,
                               const std::vector<size_t> &shown) {
  std::string text;
  for (size_t i : shown) {
    const Manifest &manifest = programs[i].manifest;
    std::string line =
        "\n  " + manifest.entry + ": " + listPorts(manifest.inputs);
    // An entry for several numbers of ranks has the same line for each.
    if (text.find(line) == std::string::npos)
      text += line;
  }
  return text;
}

static Status chooseEntry(const std::vector<Program> &programs,
                          const Options &options, const Given *given,
                          size_t &chosen) {
  const std::string &wanted = options.entry;
  std::vector<size_t> fitting, all;
  bool isOneEntry =
      std::all_of(programs.begin(), programs.end(), [&](const Program &other) {
        return other.manifest.entry == programs.front().manifest.entry;
      });
  for (size_t i = 0; i < programs.size(); ++i) {
    all.push_back(i);
    bool fitsName = wanted.empty() || programs[i].manifest.entry == wanted;
    // Arrays for the only candidate are checked later, input by input.
    bool alone = isOneEntry || !wanted.empty();
    if (fitsName && (!given || alone ||
                     fits(programs[i].manifest, *given, options.steps > 0)))
      fitting.push_back(i);
  }
  if (fitting.empty() && !wanted.empty())
    return Status::error("no entry is called '" + wanted +
                         "'; the entries:" + listEntries(programs, all));
  // Inputs of the entry that trains are checked later, one by one.
  if (fitting.empty() && programs.front().manifest.trains()) {
    chosen = 0;
    return Status::success();
  }
  if (fitting.empty()) {
    std::string shapes;
    auto add = [&](const std::string &name, aprt_dtype dtype,
                   const std::vector<int64_t> &shape) {
      shapes += (shapes.empty() ? "" : ", ") + name + " " +
                describeTensor(dtype, shape);
    };
    for (const auto &[name, array] : given->arrays)
      add(name, array.dtype, array.shape);
    for (const Shards::Column &column : given->shards.columns())
      add("rows of " + column.name, column.dtype, column.rowShape);
    return Status::error("no entry takes the inputs " + shapes +
                         "; the entries:" + listEntries(programs, all));
  }
  chosen = fitting.front();
  return Status::success();
}

/// Returns the state of that name if the run's arrays may set its initial
/// value. Such a state is an input of --state or the number of its rows in use.
static const PersistentEntry *findState(const Manifest &manifest,
                                        const std::string &name) {
  for (const std::vector<PersistentEntry> &stage : manifest.persistent)
    for (const PersistentEntry &entry : stage)
      if (entry.isGivenState() && entry.name == name)
        return &entry;
  return nullptr;
}

/// Explains why data has no array of that name, as the end of a sentence.
static std::string whyNoInput(const Manifest &manifest,
                              const std::string &name) {
  for (const std::vector<PersistentEntry> &stage : manifest.persistent)
    for (const PersistentEntry &entry : stage)
      if (entry.name == name && (entry.isParameter || entry.isState))
        return entry.isParameter
                   ? "; it is a parameter, which begins as --weights says"
                   : "; it is a state that the program keeps for itself";
  return meantPort(manifest.inputs, name);
}

static Status checkState(const PersistentEntry &state, const Array &array) {
  if (array.dtype == state.dtype && array.shape == state.globalShape)
    return Status::success();
  return Status::error("state '" + state.name + "' is " +
                       describeTensor(array.dtype, array.shape) +
                       " but the program's is " +
                       describeTensor(state.dtype, state.globalShape));
}

static Status noSuchInput(const Manifest &manifest, const std::string &name) {
  return Status::error("the model has no input '" + name + "'; its inputs: " +
                       listPorts(manifest.inputs) + whyNoInput(manifest, name));
}

/// Checks that some entry has an input or a state of that name, so that unknown
/// names are rejected before they are read.
static Status acceptInput(const std::vector<Program> &programs,
                          const std::string &name) {
  for (const Program &program : programs)
    if (const Manifest &manifest = program.manifest;
        findPort(manifest.inputs, name) || findFixed(manifest, name) ||
        findState(manifest, name))
      return Status::success();
  return noSuchInput(programs.front().manifest, name);
}

/// Shards have inputs of steps.
static Status takeRows(const Manifest &manifest, Given &given,
                       const Options &options, RowStream &rows) {
  if (options.steps == 0 && options.firstStep == 0)
    return Status::error("rows of '" + given.shards.where() +
                         "' are the data of steps: add --steps N");
  for (const Shards::Column &column : given.shards.columns()) {
    if (given.arrays.count(column.name))
      return Status::error("input '" + column.name + "' is given twice");
    if (findFixed(manifest, column.name))
      return Status::error("input '" + column.name +
                           "' has a fixed value: shards cannot have it");
    if (!findPort(manifest.inputs, column.name))
      return noSuchInput(manifest, column.name);
  }
  return rows.open(std::move(given.shards), manifest, options.shuffle);
}

Status loadEvaluationRows(const Manifest &manifest, const std::string &argument,
                          RowStream &rows) {
  Shards shards;
  APRT_TRY(shards.open(argument));
  for (const Shards::Column &column : shards.columns())
    if (!findPort(manifest.inputs, column.name))
      return noSuchInput(manifest, column.name);
  for (const Port &port : manifest.inputs)
    if (!port.countsRows && !shards.find(port.name))
      return Status::error("'" + argument + "' has no array '" + port.name +
                           "', an input of the evaluation; its inputs: " +
                           listPorts(manifest.inputs));
  rows.firstStep = std::nullopt;
  return rows.open(std::move(shards), manifest, /*shuffle=*/std::nullopt);
}

static Status takeInputs(const Manifest &manifest, Given &given, int64_t steps,
                         std::vector<Array> &arrays, NamedArrays &states) {
  bool ownData = steps > 0;
  for (auto &[name, array] : given.arrays)
    if (const FixedInput *fixed = findFixed(manifest, name))
      APRT_TRY(checkFixed(*fixed, array));
    else if (findPort(manifest.inputs, name))
      continue;
    else if (const PersistentEntry *state = findState(manifest, name)) {
      APRT_TRY(checkState(*state, array));
      states[name] = std::move(array);
    } else
      return noSuchInput(manifest, name);
  const Port *first = nullptr; // of which there is an array
  int64_t stepsOfFirst = 0;
  for (const Port &port : manifest.inputs) {
    arrays.emplace_back();
    bool isGiven = given.arrays.count(port.name) > 0;
    if (given.shards.find(port.name) || (port.countsRows && !isGiven))
      continue;
    auto found = given.arrays.find(port.name);
    if (found == given.arrays.end())
      return Status::error(
          "input '" + port.name +
          "' is missing; the model's inputs: " + listPorts(manifest.inputs));
    Array &array = arrays.back();
    APRT_TRY(checkArray(port, found->second, ownData));
    array = std::move(found->second);
    APRT_TRY(checkIndices(port, array, steps));
    if (!ownData)
      continue;
    if (!first) {
      first = &port;
      stepsOfFirst = array.shape.front();
    }
    if (array.shape.front() != stepsOfFirst)
      return Status::error("input '" + port.name + "' has " +
                           std::to_string(array.shape.front()) +
                           " steps, but '" + first->name + "' " +
                           std::to_string(stepsOfFirst));
  }
  return Status::success();
}

Status loadInputs(const std::vector<Program> &programs, const Options &options,
                  size_t &chosen, std::vector<Array> &arrays,
                  NamedArrays &states, RowStream &rows) {
  Given given;
  auto accept = [&](const std::string &name) {
    return acceptInput(programs, name);
  };
  APRT_TRY(readArrays(options.inputs, accept, given));
  bool zeros = options.inputs.empty();
  APRT_TRY(chooseEntry(programs, options, zeros ? nullptr : &given, chosen));
  const Manifest &manifest = programs[chosen].manifest;
  bool keeps = !options.final.empty() || !options.log.empty() ||
               !options.gradients.empty();
  if (zeros && manifest.trains() && (options.steps > 0 || keeps))
    return Status::error("--data is missing: there is nothing to train on");
  if (options.shuffle && given.shards.columns().empty())
    return Status::error("--shuffle is of rows: --data names no folder and no "
                         "pattern of shards");
  if (!zeros) {
    APRT_TRY(takeInputs(manifest, given, options.firstStep + options.steps,
                        arrays, states));
    return given.shards.columns().empty()
               ? Status::success()
               : takeRows(manifest, given, options, rows);
  }
  for (const Port &port : manifest.inputs)
    arrays.push_back(
        {port.dtype, port.shape, ArrayBytes(size_t(port.globalBytes))});
  return Status::success();
}

} // namespace autopar::runtime
