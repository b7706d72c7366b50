//===- Hyperparameters.cpp - Numbers that are set between steps -----------===//

#include "Hyperparameters.h"

#include "../files/Text.h"
#include "ManifestParts.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Reading the manifest
//===----------------------------------------------------------------------===//

/// Returns whether the member exists.
static bool readNumber(const JsonReader &json, const char *key,
                       double &number) {
  JsonReader member = json.member(key, /*optional=*/true);
  if (!member.isNull())
    number = member.number();
  return !member.isNull();
}

void parseHyperparameter(const JsonReader &json, PersistentEntry &entry) {
  JsonReader range = json.member("range");
  readNumber(range, "least", entry.range.least);
  entry.range.isAboveLeast = readNumber(range, "above", entry.range.least);
  readNumber(range, "below", entry.range.below);
  JsonReader integer = range.member("integer", /*optional=*/true);
  entry.range.isInteger = !integer.isNull() && integer.boolean();
  if (!entry.isState || entry.fill.size() != sizeof(double) ||
      entry.dtype != APRT_F64 || !entry.globalShape.empty())
    json.fail("is a hyperparameter and no state of one f64");
}

/// Each stage has all that its updates depend on.
std::vector<const PersistentEntry *>
hyperparametersOf(const Manifest &manifest) {
  std::vector<const PersistentEntry *> found;
  for (const PersistentEntry &entry : manifest.persistent.front())
    if (entry.isState && entry.role == StateRole::Hyperparameter)
      found.push_back(&entry);
  return found;
}

double fillOf(const PersistentEntry &hyperparameter) {
  double value = 0;
  std::memcpy(&value, hyperparameter.fill.data(), sizeof(value));
  return value;
}

std::string numberText(double value) {
  char text[64];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

std::string rangeText(const NumberRange &range) {
  std::string text = range.isInteger ? "an integer" : "a number";
  bool hasLeast = !std::isinf(range.least);
  if (hasLeast)
    text += range.isAboveLeast ? " above " + numberText(range.least)
                               : " of " + numberText(range.least) + " or more";
  if (!std::isinf(range.below))
    text += std::string(hasLeast ? " and" : "") + " below " +
            numberText(range.below);
  return text;
}

//===----------------------------------------------------------------------===//
// Checking and setting numbers
//===----------------------------------------------------------------------===//

static Status checkNumber(const PersistentEntry &entry, double value) {
  const NumberRange &range = entry.range;
  bool isAbove =
      range.isAboveLeast ? value > range.least : value >= range.least;
  bool isWhole = !range.isInteger || value == std::floor(value);
  if (std::isfinite(value) && isAbove && value < range.below && isWhole)
    return Status::success();
  return Status::error("hyperparameter '" + entry.name + "' must be " +
                       rangeText(range) + ", and is given " +
                       numberText(value));
}

Status checkState(const PersistentEntry &state, const void *value) {
  if (state.role != StateRole::Hyperparameter)
    return Status::success();
  double number = 0;
  std::memcpy(&number, value, sizeof(number));
  return checkNumber(state, number);
}

static Status noSuchHyperparameter(const Manifest &manifest,
                                   const std::string &name) {
  std::vector<std::string> known;
  std::string list;
  for (const PersistentEntry *entry : hyperparametersOf(manifest)) {
    known.push_back(entry->name);
    list += (list.empty() ? "'" : ", '") + entry->name + "'";
  }
  if (known.empty())
    return Status::error("the program has no hyperparameter that is set at run "
                         "time; a recipe names them 'at_run_time'");
  return Status::error("no hyperparameter '" + name +
                       "' is set at run time; those are " + list +
                       didYouMean(name, known));
}

static Status setHyperparameter(const std::string &name, double value,
                                Manifest &manifest) {
  bool isKnown = false;
  for (std::vector<PersistentEntry> &stage : manifest.persistent)
    for (PersistentEntry &entry : stage) {
      if (entry.role != StateRole::Hyperparameter || entry.name != name)
        continue;
      APRT_TRY(checkNumber(entry, value));
      std::memcpy(entry.fill.data(), &value, sizeof(value));
      isKnown = true;
    }
  return isKnown ? Status::success() : noSuchHyperparameter(manifest, name);
}

Status setHyperparameters(const std::vector<std::string> &assignments,
                          Manifest &manifest) {
  for (const std::string &assignment : assignments) {
    auto fail = [&](const std::string &what) {
      return Status::error("--set " + assignment + ": " + what);
    };
    size_t equals = assignment.rfind('=');
    const char *text =
        equals == std::string::npos ? "" : assignment.c_str() + equals + 1;
    char *end = nullptr;
    double value = std::strtod(text, &end);
    if (!*text || *end)
      return fail("is not NAME=NUMBER");
    Status status =
        setHyperparameter(assignment.substr(0, equals), value, manifest);
    if (status.failed())
      return fail(status.message());
  }
  return Status::success();
}

} // namespace autopar::runtime
