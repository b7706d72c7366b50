//===- ReadPlanFile.cpp - Plans in files ----------------------------------===//

#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "autopar/Planning/Plan/PlanFromJson.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

/// Returns the plan of `entry` in a file with or without entries.
static Expected<const json::Value *>
findEntry(const json::Value &value, StringRef path, StringRef entry) {
  const json::Object *object = value.getAsObject();
  const json::Object *entries = object ? object->getObject("entries") : nullptr;
  if (!entries && entry.empty())
    return &value;
  auto fail = [&](const Twine &what) {
    return createStringError("plan file " + path + ": " + what);
  };
  if (!entries)
    return fail("has no 'entries', but there is --entry " + entry);
  std::string known = join(sortedKeys(*entries), "', '");
  bool hasRanks = StringRef(known).ends_with(kRanksSuffix);
  if (entry.empty())
    return fail("has plans for entries: add --entry for each of '" + known +
                "'" +
                (hasRanks ? "; to compile, --ranks with all of the "
                            "numbers"
                          : ""));
  if (const json::Value *found = entries->get(entry))
    return found;
  return fail("has no plan for --entry " + entry + "; it has '" + known + "'");
}

static Expected<Plan> readPlan(const json::Value &value, StringRef path,
                               StringRef entry) {
  Expected<const json::Value *> found = findEntry(value, path, entry);
  if (!found)
    return found.takeError();
  return planFromJSON(
      **found, entry.empty() ? path.str() : (path + ", entry " + entry).str());
}

Expected<Plan> readPlanFile(StringRef path, StringRef entry) {
  Expected<json::Value> value = readJsonFile("plan file", path);
  if (!value)
    return value.takeError();
  return readPlan(*value, path, entry);
}

Expected<Plan> readOldPlanFile(StringRef path, StringRef entry) {
  Expected<json::Value> value = readJsonFile("plan file", path);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  bool hasEntries = object && object->get("entries");
  return readPlan(*value, path, hasEntries ? entry : "");
}

} // namespace autopar
