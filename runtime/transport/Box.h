//===- Box.h - A part of a dense tensor as a byte sequence ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_BOX_H
#define AUTOPAR_RUNTIME_TRANSPORT_BOX_H

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace autopar::runtime {

/// A box inside a dense tensor, seen as the row-major sequence of its bytes.
/// Any range of that sequence can be packed or unpacked, so that a box moves
/// through buffers of any size.
class Box {
public:
  static constexpr int maxRank = 9;

  /// The bytes of [outer, length, inner] inside [outer, pitch, inner], the
  /// middle dimension from `start`. `inner` is in bytes.
  static Box rows(int64_t outer, int64_t pitch, int64_t start, int64_t length,
                  int64_t inner) {
    Box box;
    box.base = start * inner;
    box.add(length > 0 ? outer : 0, pitch * inner);
    box.run = length * inner;
    return box;
  }

  /// The whole of a tensor of `rank` dimensions except [start, start+length) of
  /// `dim1` and [0, length2) of `dim2`.
  static Box inTensor(int rank, const int64_t *shape, int64_t elementBytes,
                      int dim1, int64_t start1, int64_t length1, int dim2,
                      int64_t length2) {
    Box box;
    int64_t strides[maxRank];
    int64_t stride = elementBytes;
    for (int d = rank - 1; d >= 0; --d) {
      strides[d] = stride;
      stride *= shape[d];
    }
    box.run = elementBytes;
    for (int d = 0; d < rank; ++d) {
      int64_t length = d == dim1 ? length1 : d == dim2 ? length2 : shape[d];
      box.base += d == dim1 ? start1 * strides[d] : 0;
      box.add(length, strides[d]);
    }
    // Fold what is contiguous into the run.
    while (box.rank > 0 && box.strides[box.rank - 1] == box.run) {
      box.run *= box.shape[--box.rank];
    }
    return box;
  }

  int64_t bytes() const {
    int64_t total = run;
    for (int d = 0; d < rank; ++d)
      total *= shape[d];
    return total;
  }

  /// True if the box is one contiguous range of memory.
  bool contiguous() const {
    return rank == 0 || (rank == 1 && (shape[0] <= 1 || strides[0] == run));
  }
  int64_t offset() const { return base; }

  /// Copies bytes [begin, end) of the box inside `tensor` to `to`.
  void pack(const void *tensor, int64_t begin, int64_t end, char *to) const {
    const char *from = static_cast<const char *>(tensor);
    forEachRow(begin, end, [&](int64_t at, int64_t flat, int64_t count) {
      std::memcpy(to + (flat - begin), from + at, size_t(count));
    });
  }

  /// Copies `from` to bytes [begin, end) of the box inside `tensor`.
  void unpack(void *tensor, int64_t begin, int64_t end,
              const char *from) const {
    char *to = static_cast<char *>(tensor);
    forEachRow(begin, end, [&](int64_t at, int64_t flat, int64_t count) {
      std::memcpy(to + at, from + (flat - begin), size_t(count));
    });
  }

private:
  void add(int64_t length, int64_t stride) {
    shape[rank] = length;
    strides[rank++] = stride;
  }

  /// Calls visit(memory offset, offset in the sequence, bytes) for the pieces
  /// of [begin, end).
  template <typename Visit>
  void forEachRow(int64_t begin, int64_t end, const Visit &visit) const {
    if (begin >= end || run == 0)
      return;
    int64_t position[maxRank];
    int64_t row = begin / run;
    int64_t at = base;
    for (int d = rank - 1; d >= 0; --d) {
      position[d] = row % shape[d];
      row /= shape[d];
      at += position[d] * strides[d];
    }
    int64_t skip = begin % run;
    while (begin < end) {
      int64_t count = std::min(run - skip, end - begin);
      visit(at + skip, begin, count);
      begin += count;
      skip = 0;
      for (int d = rank - 1; d >= 0; --d) {
        at += strides[d];
        if (++position[d] < shape[d])
          break;
        at -= shape[d] * strides[d];
        position[d] = 0;
      }
    }
  }

  int rank = 0;
  int64_t base = 0;
  int64_t run = 0;
  int64_t shape[maxRank];
  int64_t strides[maxRank];
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_BOX_H
