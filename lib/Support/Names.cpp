//===- Names.cpp - Names that people write --------------------------------===//

#include "autopar/Support/Names.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Greedy: after a mismatch the last `*` takes one more character.
bool matchesName(StringRef pattern, StringRef name) {
  size_t p = 0, n = 0, star = StringRef::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != StringRef::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

/// Edits from `text` to `name`, or to a beginning of it: what a `*` at the end
/// stands for is not compared.
static unsigned editsTo(StringRef text, StringRef name, bool open,
                        unsigned limit) {
  unsigned least = text.edit_distance_insensitive(name, true, limit);
  for (size_t length = text.size() - 1; open && length <= text.size() + 1;
       ++length)
    least = std::min(least, text.edit_distance_insensitive(
                                name.take_front(length), true, limit));
  return least;
}

std::string nearestNames(StringRef wanted, size_t count,
                         function_ref<StringRef(size_t)> name) {
  constexpr size_t kShown = 3;
  std::string plain = wanted.str();
  erase_if(plain, [](char c) { return c == '*'; });
  if (plain.empty())
    return "";
  unsigned limit = std::max<size_t>(1, plain.size() / 3);
  std::vector<std::pair<unsigned, size_t>> near;
  for (size_t i = 0; i < count; ++i) {
    unsigned edits = editsTo(plain, name(i), wanted.ends_with("*"), limit);
    if (edits <= limit)
      near.push_back({edits, i});
  }
  llvm::stable_sort(near, llvm::less_first());
  std::string text;
  for (auto [edits, i] : ArrayRef(near).take_front(kShown))
    text += (text.empty() ? "; nearest: '" : ", '") + name(i).str() + "'";
  return text;
}

std::vector<StringRef> sortedKeys(const json::Object &object) {
  std::vector<StringRef> keys;
  for (const auto &entry : object)
    keys.push_back(entry.first);
  llvm::sort(keys);
  return keys;
}

std::string unknownKey(const json::Object &object, ArrayRef<StringRef> known) {
  for (StringRef key : sortedKeys(object)) {
    if (is_contained(known, key))
      continue;
    std::string text = ("unknown key '" + key + "'; known: ").str();
    for (const auto &[index, name] : enumerate(known))
      text += (index ? ", '" : "'") + name.str() + "'";
    return text;
  }
  return "";
}

} // namespace autopar
