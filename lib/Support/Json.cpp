//===- Json.cpp - JSON that people write ----------------------------------===//

#include "autopar/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace autopar {

/// The end of the string that begins with the quote at `begin`.
static size_t endOfString(StringRef text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// An error that the parser does not look for; "" if there is none. For text
/// that is no JSON the result may be anything.
static std::string structureProblem(StringRef text) {
  constexpr size_t kMostLevels = 64; // the parser calls itself for each
  std::vector<StringSet<>> keys;     // of each open object or list
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '{' || c == '[') {
      if (keys.size() == kMostLevels)
        return "it is nested too deeply";
      keys.emplace_back();
    } else if ((c == '}' || c == ']') && !keys.empty()) {
      keys.pop_back();
    } else if (c == '"') {
      size_t end = endOfString(text, at);
      StringRef word = text.slice(at + 1, end - 1);
      if (!keys.empty() && text.drop_front(end).ltrim().starts_with(":") &&
          !keys.back().insert(word).second)
        return "key '" + word.str() + "' stands twice in an object";
      at = end - 1;
    }
  }
  return "";
}

Expected<json::Value> parseJson(StringRef text) {
  std::string problem = structureProblem(text);
  if (!problem.empty())
    return createStringError(problem);
  return json::parse(text);
}

Expected<json::Value> readJsonFile(StringRef kind, StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read " + kind + " " + path + ": " +
                             buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  std::string problem = structureProblem(text);
  if (!problem.empty())
    return createStringError(kind + " " + path + ": " + problem);
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError(kind + " " + path +
                             " is not JSON: " + toString(value.takeError()));
  return value;
}

} // namespace autopar
