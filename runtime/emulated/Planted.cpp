//===- Planted.cpp - A host that is not as it should be -------------------===//

#include "Planted.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace autopar::runtime::emulated {

namespace {
constexpr size_t kKinds = size_t(Planted::count);

constexpr const char *kNames[kKinds] = {
#define APEMU_NAME(kind, name, what) name,
    APEMU_PLANTED(APEMU_NAME)
#undef APEMU_NAME
};

struct State {
  std::array<std::optional<int64_t>, kKinds> values;
  Status problem;
};
} // namespace

static Status parseOne(const std::string &text, State &state) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  for (size_t i = 0; i < kKinds && equals != std::string::npos; ++i) {
    if (name != kNames[i])
      continue;
    char *end = nullptr;
    const char *digits = text.c_str() + equals + 1;
    state.values[i] = std::strtoll(digits, &end, 10);
    if (end != digits && *end == 0)
      return Status::success();
  }
  std::string known;
  for (const char *each : kNames)
    known += (known.empty() ? "" : ", ") + std::string(each);
  return Status::error("AUTOPAR_EMULATED_PLANT has '" + text +
                       "', not NAME=NUMBER with one of " + known);
}

static State parse(const std::string &text) {
  State state;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    if (Status status = parseOne(part, state); status.failed())
      state.problem = status;
  return state;
}

static State &state() {
  static State state = [] {
    const char *text = std::getenv("AUTOPAR_EMULATED_PLANT");
    return parse(text ? text : "");
  }();
  return state;
}

bool isPlanted(Planted kind) {
  return state().values[size_t(kind)].has_value();
}
int64_t planted(Planted kind) {
  return state().values[size_t(kind)].value_or(0);
}

Status plant(const std::string &text) {
  state() = parse(text);
  return state().problem;
}
const Status &plantedProblem() { return state().problem; }

} // namespace autopar::runtime::emulated
