//===- Text.cpp - Parts of messages ---------------------------------------===//

#include "Text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>

namespace autopar::runtime {

/// Insertions, removals, replacements and swaps of neighbours that lead from
/// `a` to `b`.
static size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1,
                         above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

static std::string lowerCase(std::string text) {
  for (char &c : text)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Words that go on after `given` with a dash: of `h100` `h100-80gb`.
static std::vector<std::string>
continuations(const std::string &given, const std::vector<std::string> &known) {
  std::vector<std::string> longer;
  for (const std::string &word : known)
    if (!given.empty() && lowerCase(word).rfind(given + "-", 0) == 0)
      longer.push_back(word);
  return longer;
}

/// The known word that the fewest slips of the fingers make of `given`; null if
/// all are far.
static const std::string *nearest(const std::string &given,
                                  const std::vector<std::string> &known) {
  const size_t longest = 64; // what is longer is no slip of the fingers
  size_t best = std::max<size_t>(1, given.size() / 3) + 1;
  const std::string *found = nullptr;
  for (const std::string &word : known) {
    if (given.size() > longest || word.size() > longest)
      continue;
    size_t distance = editDistance(given, lowerCase(word));
    if (distance >= best || distance >= word.size())
      continue;
    best = distance;
    found = &word;
  }
  return found;
}

std::string didYouMean(const std::string &given,
                       const std::vector<std::string> &known) {
  const size_t most = 3; // of many, none is meant more than another
  std::string lower = lowerCase(given);
  std::vector<std::string> meant = continuations(lower, known);
  if (meant.empty() || meant.size() > most) {
    const std::string *word = nearest(lower, known);
    meant.clear();
    if (word)
      meant.push_back(*word);
  }
  std::string text;
  for (const std::string &word : meant)
    text += (text.empty() ? "; did you mean '" : " or '") + word + "'";
  return text.empty() ? "" : text + "?";
}

/// How many bytes the control character at the text's beginning has: C0 and DEL
/// have one, C1 has two in UTF-8, and other characters count 0.
static size_t controlBytes(std::string_view text) {
  unsigned char first = static_cast<unsigned char>(text[0]);
  if (first == '\n' || first == '\t')
    return 0;
  if (first < 0x20 || first == 0x7f)
    return 1;
  unsigned char second = text.size() > 1 ? text[1] : 0;
  return first == 0xc2 && second >= 0x80 && second < 0xa0 ? 2 : 0;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t control = controlBytes(text);
    if (control == 0)
      out += text[0];
    for (size_t i = 0; i < control; ++i) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\x%02x",
                    static_cast<unsigned char>(text[i]));
      out += code;
    }
    text.remove_prefix(std::max<size_t>(1, control));
  }
  return out;
}

std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  char text[64];
  std::snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", bytes,
                units[unit]);
  return text;
}

} // namespace autopar::runtime
