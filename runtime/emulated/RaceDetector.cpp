//===- RaceDetector.cpp - Races between streams ---------------------------===//

#include "RaceDetector.h"

#include <algorithm>

namespace autopar::runtime::emulated {

RaceDetector::Cells::iterator RaceDetector::cutAt(CUdeviceptr position) {
  auto next = cells.lower_bound(position);
  if (next == cells.begin() || (next != cells.end() && next->first == position))
    return next;
  auto before = std::prev(next);
  if (before->second.end <= position)
    return next;
  Cell upper = before->second;
  before->second.end = position;
  return cells.emplace_hint(next, position, std::move(upper));
}

std::optional<Conflict>
RaceDetector::conflictWith(const Cells::value_type &cell, bool writes,
                           const VectorClock &clock) {
  const OpRef &writer = cell.second.writer;
  if (writer.sequence && !writer.happensBefore(clock))
    return Conflict{writer, true, cell.first, cell.second.end};
  if (!writes)
    return std::nullopt;
  for (const OpRef &reader : cell.second.readers)
    if (!reader.happensBefore(clock))
      return Conflict{reader, false, cell.first, cell.second.end};
  return std::nullopt;
}

std::optional<Conflict> RaceDetector::access(CUdeviceptr begin, CUdeviceptr end,
                                             bool writes, const OpRef &op,
                                             const VectorClock &clock) {
  auto first = cutAt(begin);
  auto last = cutAt(end);
  // The second cut may have split the cell that the first one found.
  first = cells.lower_bound(begin);
  for (auto it = first; it != last; ++it)
    if (auto conflict = conflictWith(*it, writes, clock))
      return conflict;
  if (!writes) {
    addReader(begin, end, op, clock);
    return std::nullopt;
  }
  cells.erase(first, last);
  cells.emplace_hint(last, begin, Cell{end, op, {}});
  return std::nullopt;
}

void RaceDetector::addReader(CUdeviceptr begin, CUdeviceptr end,
                             const OpRef &op, const VectorClock &clock) {
  auto it = cells.lower_bound(begin);
  while (begin < end) {
    if (it == cells.end() || it->first > begin) {
      CUdeviceptr gapEnd = it == cells.end() ? end : std::min(end, it->first);
      cells.emplace_hint(it, begin, Cell{gapEnd, OpRef(), {op}});
      begin = gapEnd;
      continue;
    }
    // Who happens before this reader is covered by it.
    std::vector<OpRef> &readers = it->second.readers;
    readers.erase(std::remove_if(readers.begin(), readers.end(),
                                 [&](const OpRef &reader) {
                                   return reader.happensBefore(clock);
                                 }),
                  readers.end());
    readers.push_back(op);
    begin = it->second.end;
    ++it;
  }
}

std::optional<Conflict> RaceDetector::pending(CUdeviceptr begin,
                                              CUdeviceptr end, bool writes,
                                              const VectorClock &clock) const {
  auto it = cells.upper_bound(begin);
  if (it != cells.begin() && std::prev(it)->second.end > begin)
    --it;
  for (; it != cells.end() && it->first < end; ++it)
    if (auto conflict = conflictWith(*it, writes, clock))
      return conflict;
  return std::nullopt;
}

void RaceDetector::forget(CUdeviceptr begin, CUdeviceptr end) {
  cutAt(begin);
  auto last = cutAt(end);
  cells.erase(cells.lower_bound(begin), last);
}

} // namespace autopar::runtime::emulated
