//===- IndexCheck.cpp - Indices that are outside of a table ---------------===//

#include "IndexCheck.h"

#include <algorithm>
#include <type_traits>

namespace autopar::runtime {

namespace {

struct Loop {
  int64_t count = 1;
  int64_t stride = 1; // elements
};

/// The part of an input that has a bound, as loops over its elements, the
/// innermost one first.
struct PartLoops {
  explicit PartLoops(const IndexBound &bound);
  /// Returns the element at which iteration `i` of the outer loops begins.
  int64_t startOf(int64_t i) const;

  int64_t first = 0;
  int64_t turns = 1; // of all loops but the innermost one
  std::vector<Loop> loops;
};

} // namespace

/// Merges a loop with the one within it if together they cover consecutive
/// elements at one stride.
PartLoops::PartLoops(const IndexBound &bound) {
  int64_t stride = 1;
  for (size_t d = bound.shape.size(); d-- > 0; stride *= bound.shape[d]) {
    first += bound.starts[d] * stride;
    int64_t count = bound.sizes[d];
    if (count == 1)
      continue;
    if (!loops.empty() && loops.back().count * loops.back().stride == stride)
      loops.back().count *= count;
    else
      loops.push_back({count, stride});
  }
  if (loops.empty())
    loops.emplace_back();
  for (size_t i = 1; i < loops.size(); ++i)
    turns *= loops[i].count;
}

int64_t PartLoops::startOf(int64_t i) const {
  int64_t at = first;
  for (size_t loop = 1; loop < loops.size(); ++loop) {
    at += i % loops[loop].count * loops[loop].stride;
    i /= loops[loop].count;
  }
  return at;
}

namespace {

/// The numbers that a bound allows: `count` numbers from `least` on, and one
/// extra number.
struct Allowed {
  explicit Allowed(const IndexBound &bound)
      : least(bound.text.empty() ? -bound.size : 0),
        count(uint64_t(bound.size) - uint64_t(least)),
        ignored(bound.ignored.value_or(least)) {}
  /// One subtraction takes the range to [0, count).
  template <typename T> bool has(T value) const {
    return (uint64_t(int64_t(value)) - uint64_t(least) < count) |
           (int64_t(value) == ignored);
  }

  int64_t least;
  uint64_t count;
  int64_t ignored;
};

} // namespace

/// Returns the first element of a row that is not a valid index, or `count`. A
/// loop over all elements has no early exit, so that it is vectorized.
template <typename T>
static int64_t findInRow(const T *row, Loop loop, Allowed allowed) {
  bool fits = true;
  if (loop.stride == 1)
    for (int64_t i = 0; i < loop.count; ++i)
      fits &= allowed.has(row[i]);
  else
    for (int64_t i = 0; i < loop.count; ++i)
      fits &= allowed.has(row[i * loop.stride]);
  int64_t at = fits ? loop.count : 0;
  while (at < loop.count && allowed.has(row[at * loop.stride]))
    ++at;
  return at;
}

/// Returns the element of the part that is not a valid index, or -1.
template <typename T>
static int64_t findOutside(const T *data, const IndexBound &bound) {
  PartLoops part(bound);
  Allowed allowed(bound);
  Loop inner = part.loops.front();
  for (int64_t i = 0; i < part.turns; ++i) {
    int64_t start = part.startOf(i);
    int64_t at = findInRow(data + start, inner, allowed);
    if (at < inner.count)
      return start + at * inner.stride;
  }
  return -1;
}

/// Returns the place of an element, such as ` at step 4, [3, 2]`. It is empty
/// if there is only one number.
static std::string placeOf(int64_t element, const std::vector<int64_t> &shape,
                           const std::string &step) {
  std::string indices;
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    indices = std::to_string(element % shape[d]) +
              (indices.empty() ? "" : ", ") + indices;
  if (!indices.empty())
    indices = "[" + indices + "]";
  std::string between = step.empty() || indices.empty() ? "" : ", ";
  std::string place = step + between + indices;
  return place.empty() ? "" : " at " + place;
}

/// Describes the valid labels, or the number of rows of the table and their
/// indices.
static std::string tellRange(const IndexBound &bound) {
  if (!bound.text.empty())
    return bound.text;
  std::string size = std::to_string(bound.size);
  std::string what = bound.dim == 0 ? "row" : "element";
  std::string along =
      bound.dim == 0 ? "" : " in dimension " + std::to_string(bound.dim);
  return "the table '" + bound.table + "' has " + size + " " + what +
         (bound.size == 1 ? "" : "s") + along + ", of which indices are -" +
         size + " to " + std::to_string(bound.size - 1);
}

template <typename T>
static Status checkStep(const Port &port, const T *data,
                        const std::string &step, int64_t *outside) {
  for (const IndexBound &bound : port.indexBounds) {
    int64_t element = findOutside(data, bound);
    if (element >= 0 && outside)
      *outside = element;
    if (element >= 0)
      return Status::error(
          "input '" + port.name + "' has " + std::to_string(data[element]) +
          placeOf(element, port.shape, step) + ": " + tellRange(bound));
  }
  return Status::success();
}

Status checkIndices(const Port &port, const void *data, int64_t steps,
                    int64_t *outside) {
  Status status;
  if (port.indexBounds.empty() || port.globalBytes == 0)
    return status;
  visitDtype(port.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      const T *first = static_cast<const T *>(data);
      for (int64_t step = 0; step < std::max<int64_t>(steps, 1); ++step) {
        std::string where = steps > 0 ? "step " + std::to_string(step) : "";
        status = checkStep(
            port, first + step * (port.globalBytes / int64_t(sizeof(T))), where,
            outside);
        if (status.failed())
          return;
      }
    }
  });
  return status;
}

Status checkIndices(const Port &port, const Array &array, int64_t steps) {
  if (array.data.empty())
    return Status::success();
  return checkIndices(port, array.data.data(),
                      steps > 0 ? std::min(steps, array.shape.front()) : 0);
}

} // namespace autopar::runtime
