//===- Repeats.cpp - Adjacent repetitions in a sequence -------------------===//

#include "Repeats.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using llvm::ArrayRef;

namespace autopar {

namespace {

/// Periods tried at one position: the distances to the next places of its
/// token. A long period needs one token in it that is no more frequent.
constexpr unsigned kPeriodsTried = 32;

/// Hashes of all prefixes, to compare stretches at once.
class PrefixHashes {
public:
  explicit PrefixHashes(ArrayRef<unsigned> tokens)
      : hashes(tokens.size() + 1), powers(tokens.size() + 1, 1) {
    for (auto [i, token] : llvm::enumerate(tokens)) {
      hashes[i + 1] = hashes[i] * kBase + token + 1;
      powers[i + 1] = powers[i] * kBase;
    }
  }

  bool equal(size_t a, size_t b, size_t length) const {
    return hash(a, length) == hash(b, length);
  }

  /// The length over which the stretches at a < b agree.
  size_t common(size_t a, size_t b) const {
    size_t low = 0, high = hashes.size() - 1 - b;
    while (low < high) {
      size_t middle = (low + high + 1) / 2;
      if (equal(a, b, middle))
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

private:
  static constexpr uint64_t kBase = 0x9E3779B97F4A7C15;
  uint64_t hash(size_t begin, size_t length) const {
    return hashes[begin + length] - hashes[begin] * powers[length];
  }
  std::vector<uint64_t> hashes, powers;
};

/// The next position with the same token, for each position; or the end.
std::vector<size_t> nextPlaces(ArrayRef<unsigned> tokens) {
  std::vector<size_t> next(tokens.size(), tokens.size());
  std::map<unsigned, size_t> last;
  for (size_t i = tokens.size(); i-- > 0; last[tokens[i]] = i)
    if (auto found = last.find(tokens[i]); found != last.end())
      next[i] = found->second;
  return next;
}

/// Hashes may lie.
bool isRepeat(ArrayRef<unsigned> tokens, const Repeat &repeat) {
  ArrayRef<unsigned> all =
      tokens.slice(repeat.begin, repeat.end() - repeat.begin);
  return all.drop_front(repeat.period) == all.drop_back(repeat.period);
}

} // namespace

std::vector<Repeat> findRepeats(ArrayRef<unsigned> tokens, size_t least) {
  PrefixHashes hashes(tokens);
  std::vector<size_t> next = nextPlaces(tokens);
  std::vector<Repeat> found;
  for (size_t i = 0; i < tokens.size(); ++i) {
    Repeat best{i, 1, 1};
    size_t j = next[i];
    for (unsigned tried = 0; tried < kPeriodsTried; ++tried, j = next[j]) {
      size_t period = j - i;
      if (i + 2 * period > tokens.size())
        break;
      if (!hashes.equal(i, j, period))
        continue;
      Repeat repeat{i, period, 1 + hashes.common(i, j) / period};
      if (best.count == 1 || repeat.gain() > best.gain())
        best = repeat;
    }
    if (best.saved() >= least)
      found.push_back(best);
  }
  llvm::stable_sort(found, [](const Repeat &a, const Repeat &b) {
    return std::pair(a.gain(), a.saved()) > std::pair(b.gain(), b.saved());
  });
  std::map<size_t, Repeat> taken; // by begin
  for (const Repeat &repeat : found) {
    auto after = taken.lower_bound(repeat.begin);
    bool free = (after == taken.end() || after->first >= repeat.end()) &&
                (after == taken.begin() ||
                 std::prev(after)->second.end() <= repeat.begin);
    if (free && isRepeat(tokens, repeat))
      taken.emplace(repeat.begin, repeat);
  }
  std::vector<Repeat> result;
  for (auto &[begin, repeat] : taken)
    result.push_back(repeat);
  return result;
}

} // namespace autopar
