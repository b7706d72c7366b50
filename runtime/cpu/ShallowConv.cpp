//===- ShallowConv.cpp - Convolutions that add few terms ------------------===//
//
// The channels that a group reads are first copied with their padding, cut by
// the strides: with strides 2 and 3 there are 6 planes, each of every second
// row and third column. In those, one tap of the window reads neighbours for
// neighbouring outputs, and taps below one another read rows that the outputs
// of the next row read too: some rows are summed at a time, each vector that is
// loaded serving all of them.
//
//===----------------------------------------------------------------------===//

#include "ShallowConv.h"

#include "../core/DataType.h"
#include "ShallowLoops.h"

namespace autopar::runtime {

using namespace shallow;

namespace {

int64_t wholeVectors(int64_t floats) {
  return (floats + lanes - 1) / lanes * lanes;
}

/// The planes of one channel and the sums of one output.
struct Geometry {
  int64_t in[2], out[2], window[2], strides[2], dilations[2], pad[2];
  int64_t rows, pitch; // of a plane
  int64_t planes;      // of a channel
  int64_t channels;    // that an output reads
  int64_t sumPitch;    // of an output's rows of sums

  explicit Geometry(const aprt_conv_desc &given) {
    aprt_conv_desc desc = imageConv(given);
    channels = desc.c / desc.groups;
    for (int64_t d = 0; d < 2; ++d) {
      in[d] = desc.in[d];
      out[d] = desc.out[d];
      window[d] = desc.window[d];
      strides[d] = desc.strides[d];
      dilations[d] = desc.dilations[d];
      pad[d] = desc.pad_low[d];
    }
    auto reach = [&](int64_t d) {
      return out[d] + (window[d] - 1) * dilations[d] / strides[d];
    };
    rows = reach(0);
    pitch = reach(1);
    planes = strides[0] * strides[1];
    sumPitch = wholeVectors(out[1]);
  }

  int64_t sums() const { return out[0] * sumPitch; }
  int64_t taps() const { return channels * window[0] * window[1]; }
  int64_t planeSize() const { return rows * pitch; }
  /// Of all channels; the last vectors reach over the end.
  int64_t padded() const {
    return wholeVectors(channels * planes * planeSize() + lanes);
  }
  int64_t offset(int64_t channel, int64_t row, int64_t column) const {
    int64_t r = row * dilations[0], c = column * dilations[1];
    int64_t plane =
        channel * planes + r % strides[0] * strides[1] + c % strides[1];
    return plane * planeSize() + r / strides[0] * pitch + c / strides[1];
  }
};

/// The columns of taps of all outputs. `weightOf[i]` is the place in W of the
/// i-th tap of all columns together.
struct Taps {
  std::vector<TapColumn> columns;
  std::vector<int64_t> weightOf;

  explicit Taps(const Geometry &g) {
    for (int64_t channel = 0; channel < g.channels; ++channel)
      for (int64_t phase = 0; phase < g.strides[0]; ++phase)
        for (int64_t column = 0; column < g.window[1]; ++column)
          addTaps(g, channel, phase, column);
  }

private:
  /// The taps of a column of the window that read every `strides[0]`-th row.
  void addTaps(const Geometry &g, int64_t channel, int64_t phase,
               int64_t column) {
    int64_t next = -1; // row of the plane that would continue the last column
    for (int64_t row = 0; row < g.window[0]; ++row) {
      if (row * g.dilations[0] % g.strides[0] != phase)
        continue;
      int64_t at = row * g.dilations[0] / g.strides[0];
      if (at != next || columns.back().count == mostTaps)
        columns.push_back({g.offset(channel, row, column), 0});
      ++columns.back().count;
      next = at + 1;
      weightOf.push_back((channel * g.window[0] + row) * g.window[1] + column);
    }
  }
};

#define APRT_FUNCTIONS(name, target, wide)                                     \
  target void add##name(const float *from, int64_t pitch,                      \
                        const std::vector<TapColumn> &taps,                    \
                        const float *weights, float bias, int64_t rows,        \
                        float *sums, int64_t sumPitch) {                       \
    addRows<wide>(from, pitch, taps, weights, bias, rows, sums, sumPitch);     \
  }                                                                            \
  target void finish##name(int64_t activation, float *sums, int64_t count) {   \
    finishSums(activation, sums, count);                                       \
  }                                                                            \
  target void copy##name(const float *from, int64_t fromPitch, float *to,      \
                         int64_t toPitch, int64_t rows, int64_t count) {       \
    copyLines(from, fromPitch, to, toPitch, rows, count);                      \
  }                                                                            \
  target void part##name(const float *from, int64_t pairs, float *even,        \
                         float *odd) {                                         \
    partLine(from, pairs, even, odd);                                          \
  }
APRT_FUNCTIONS(Plain, , false)
#if defined(__x86_64__)
APRT_FUNCTIONS(Avx2, [[gnu::target("avx2,fma")]], false)
APRT_FUNCTIONS(Avx512,
               [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]], true)
#endif
#undef APRT_FUNCTIONS

/// The loops that this host runs best.
struct Functions {
  AddFunction add = addPlain;
  FinishFunction finish = finishPlain;
  CopyFunction copy = copyPlain;
  PartFunction part = partPlain;

  Functions() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      *this = {addAvx512, finishAvx512, copyAvx512, partAvx512};
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      *this = {addAvx2, finishAvx2, copyAvx2, partAvx2};
#endif
  }

private:
  Functions(AddFunction add, FinishFunction finish, CopyFunction copy,
            PartFunction part)
      : add(add), finish(finish), copy(copy), part(part) {}
};

/// One thread's scratch: padded planes, sums and weights of the taps.
struct Scratch {
  float *planes, *sums, *weights;

  static int64_t bytes(const Geometry &g) {
    return (g.padded() + g.sums() + g.taps()) * int64_t(sizeof(float));
  }
  Scratch(const Geometry &g, void *memory)
      : planes(static_cast<float *>(memory)), sums(planes + g.padded()),
        weights(sums + g.sums()) {}
};

/// One convolution of elements of type T.
template <typename T> class Shallow {
public:
  Shallow(const aprt_conv_desc &desc, const Geometry &g, const void *w,
          const ConvOperands &operands)
      : desc(desc), g(g), x(static_cast<const T *>(operands.x)),
        w(static_cast<const T *>(w)),
        bias(static_cast<const T *>(operands.bias)),
        addend(static_cast<const T *>(operands.addend)),
        y(static_cast<T *>(operands.y)), perGroup(desc.o / desc.groups),
        taps(g) {}

  /// Pieces are groups of images, or where those are few parts of the outputs
  /// of one.
  void run(ThreadPool &pool, const Workspace &workspace) const {
    constexpr double smallConv = 1 << 16; // terms not worth a thread
    int64_t groups = desc.n * desc.groups, outputs = desc.n * desc.o;
    double terms = double(countOutputs(desc)) * double(g.taps());
    int64_t unit = groups >= 4 * pool.threads() ? perGroup : 1;
    int64_t units = outputs / unit;
    int64_t grain = int64_t(smallConv / terms * double(units)) + 1;
    // A range is one thread's: number it by where it begins.
    int64_t pieces = std::clamp<int64_t>(units / grain, 1, pool.threads());
    pool.run(pieces, [&](int64_t piece) {
      Scratch scratch(g, workspace.block(piece));
      runRange(units * piece / pieces * unit,
               units * (piece + 1) / pieces * unit, scratch);
    });
  }

private:
  void runRange(int64_t begin, int64_t end, const Scratch &scratch) const {
    std::fill_n(scratch.planes, g.padded(), 0.0f); // padding stays so
    int64_t filled = -1;
    for (int64_t output = begin; output < end; ++output) {
      int64_t group = output / perGroup; // of all images
      if (group != filled)
        fill(group, scratch.planes);
      filled = group;
      convolve(output, scratch);
    }
  }

  /// The planes of the group's channels, all but the padding.
  void fill(int64_t group, float *planes) const {
    int64_t size = g.in[0] * g.in[1];
    const T *image = x + group * g.channels * size;
    for (int64_t channel = 0; channel < g.channels; ++channel) {
      float *to = planes + channel * g.planes * g.planeSize();
      fillChannel(image + channel * size, to);
    }
  }

  void fillChannel(const T *from, float *planes) const {
    if constexpr (std::is_same_v<T, float>)
      if (g.planes == 1) {
        int64_t rows = std::min(g.in[0], g.rows - g.pad[0]);
        int64_t count = std::min(g.in[1], g.pitch - g.pad[1]);
        functions.copy(from, g.in[1], planes + g.pad[0] * g.pitch + g.pad[1],
                       g.pitch, rows, count);
        return;
      }
    for (int64_t row = 0; row < g.in[0]; ++row) {
      int64_t padded = row + g.pad[0], at = padded / g.strides[0];
      int64_t phase = padded % g.strides[0];
      if (at < g.rows)
        fillRow(from + row * g.in[1],
                planes + phase * g.strides[1] * g.planeSize() + at * g.pitch);
    }
  }

  /// Columns of the padded row by turns to the planes of a row's phase.
  void fillRow(const T *from, float *planes) const {
    // What no output reads stays out.
    int64_t count = std::min(g.in[1], g.pitch * g.strides[1] - g.pad[1]);
    int64_t column = 0;
    if constexpr (std::is_same_v<T, float>)
      if (g.strides[1] == 2) {
        int64_t pad = g.pad[1], size = g.planeSize();
        functions.part(from, std::max<int64_t>(count, 0) / 2,
                       planes + pad % 2 * size + pad / 2,
                       planes + (pad + 1) % 2 * size + (pad + 1) / 2);
        column = std::max<int64_t>(count, 0) / 2 * 2;
      }
    int64_t phase = (column + g.pad[1]) % g.strides[1];
    int64_t at = (column + g.pad[1]) / g.strides[1];
    for (; column < count; ++column) {
      planes[phase * g.planeSize() + at] =
          float(Element<T>::load(from[column]));
      if (++phase == g.strides[1]) {
        phase = 0;
        ++at;
      }
    }
  }

  void convolve(int64_t output, const Scratch &scratch) const {
    int64_t o = output % desc.o, at = output * g.out[0] * g.out[1];
    for (size_t t = 0; t < taps.weightOf.size(); ++t)
      scratch.weights[t] =
          float(Element<T>::load(w[o * g.taps() + taps.weightOf[t]]));
    functions.add(scratch.planes, g.pitch, taps.columns, scratch.weights,
                  desc.bias ? float(Element<T>::load(bias[o])) : 0.0f, g.out[0],
                  scratch.sums, g.sumPitch);
    if (desc.addend)
      for (int64_t row = 0; row < g.out[0]; ++row)
        for (int64_t i = 0; i < g.out[1]; ++i)
          scratch.sums[row * g.sumPitch + i] +=
              float(Element<T>::load(addend[at + row * g.out[1] + i]));
    if (desc.activation != APRT_ACT_NONE)
      functions.finish(desc.activation, scratch.sums, g.sums());
    store(scratch.sums, y + at);
  }

  void store(const float *sums, T *to) const {
    if constexpr (std::is_same_v<T, float>)
      functions.copy(sums, g.sumPitch, to, g.out[1], g.out[0], g.out[1]);
    else
      for (int64_t row = 0; row < g.out[0]; ++row)
        for (int64_t i = 0; i < g.out[1]; ++i)
          to[row * g.out[1] + i] =
              Element<T>::store(sums[row * g.sumPitch + i]);
  }

  const aprt_conv_desc &desc;
  const Geometry &g;
  const T *x, *w, *bias, *addend;
  T *y;
  int64_t perGroup;
  Taps taps;
  Functions functions;
};

} // namespace

bool isShallowConv(const aprt_conv_desc &desc) {
  bool floats = desc.dtype == APRT_F32 || desc.dtype == APRT_F16 ||
                desc.dtype == APRT_BF16;
  if (desc.channels_last || !floats || countOutputs(desc) == 0 ||
      countWeights(desc) == 0 || countInputs(desc) == 0)
    return false;
  aprt_conv_desc image = imageConv(desc);
  for (int64_t d = 0; d < image.spatial_rank; ++d)
    if (image.pad_low[d] < 0)
      return false;
  return image.spatial_rank == 2 && Geometry(desc).taps() <= mostShallowTaps;
}

int64_t shallowConvScratch(const aprt_conv_desc &desc) {
  return Scratch::bytes(Geometry(desc));
}

void shallowConv(const aprt_conv_desc &desc, const void *w,
                 const ConvOperands &operands, ThreadPool &pool,
                 const Workspace &workspace) {
  Geometry geometry(desc);
  visitDtype(desc.dtype, [&](auto example) {
    using T = decltype(example);
    if constexpr (std::is_same_v<typename Element<T>::Compute, float>)
      Shallow<T>(desc, geometry, w, operands).run(pool, workspace);
  });
}

} // namespace autopar::runtime
