//===- NaiveConv.cpp - Convolution by plain loops -------------------------===//

#include "NaiveConv.h"
#include "../core/DataType.h"
#include "Activation.h"

namespace autopar::runtime {

namespace {

constexpr int maxSpatial = APRT_CONV_MAX_SPATIAL;

/// Addresses of a dense tensor [n, c, spatial...], or [n, spatial..., c].
struct ImageLayout {
  int64_t channels;
  int64_t pixels;
  bool channelsLast;
  int64_t at(int64_t n, int64_t c, int64_t pixel) const {
    return channelsLast ? (n * pixels + pixel) * channels + c
                        : (n * channels + c) * pixels + pixel;
  }
};

/// The description with three spatial dimensions, missing ones in front.
struct Geometry {
  int64_t in[maxSpatial], window[maxSpatial], out[maxSpatial];
  int64_t strides[maxSpatial], dilations[maxSpatial], pad[maxSpatial];
  ImageLayout x, y;

  explicit Geometry(const aprt_conv_desc &desc) {
    int64_t missing = maxSpatial - desc.spatial_rank;
    for (int64_t d = 0; d < maxSpatial; ++d) {
      int64_t s = d - missing;
      in[d] = s < 0 ? 1 : desc.in[s];
      window[d] = s < 0 ? 1 : desc.window[s];
      out[d] = s < 0 ? 1 : desc.out[s];
      strides[d] = s < 0 ? 1 : desc.strides[s];
      dilations[d] = s < 0 ? 1 : desc.dilations[s];
      pad[d] = s < 0 ? 0 : desc.pad_low[s];
    }
    x = {desc.c, in[0] * in[1] * in[2], desc.channels_last != 0};
    y = {desc.o, out[0] * out[1] * out[2], desc.channels_last != 0};
  }
};

/// The sum over channels and window for one output position.
template <typename T>
typename Element<T>::Compute
convolveAt(const aprt_conv_desc &desc, const Geometry &g, const T *x,
           const T *w, int64_t n, int64_t o, const int64_t *position) {
  using E = Element<T>;
  typename E::Compute sum = 0;
  int64_t perGroup = desc.c / desc.groups;
  int64_t firstChannel = o / (desc.o / desc.groups) * perGroup;
  int64_t windowSize = g.window[0] * g.window[1] * g.window[2];
  for (int64_t tap = 0; tap < windowSize; ++tap) {
    int64_t rest = tap, pixel = 0, scale = 1;
    bool inside = true;
    for (int d = maxSpatial - 1; d >= 0; --d) {
      int64_t i = position[d] * g.strides[d] - g.pad[d] +
                  rest % g.window[d] * g.dilations[d];
      rest /= g.window[d];
      inside &= i >= 0 && i < g.in[d];
      pixel += i * scale;
      scale *= g.in[d];
    }
    for (int64_t c = 0; inside && c < perGroup; ++c)
      sum += E::load(x[g.x.at(n, firstChannel + c, pixel)]) *
             E::load(w[(o * perGroup + c) * windowSize + tap]);
  }
  return sum;
}

template <typename T>
void convPlane(const aprt_conv_desc &desc, const Geometry &g, const T *x,
               const T *w, const T *bias, const T *addend, T *y, int64_t n,
               int64_t o) {
  using E = Element<T>;
  for (int64_t pixel = 0; pixel < g.y.pixels; ++pixel) {
    int64_t at = g.y.at(n, o, pixel);
    int64_t position[maxSpatial] = {pixel / (g.out[1] * g.out[2]),
                                    pixel / g.out[2] % g.out[1],
                                    pixel % g.out[2]};
    auto sum = convolveAt(desc, g, x, w, n, o, position);
    if (desc.bias)
      sum += E::load(bias[o]);
    if (desc.addend)
      sum += E::load(addend[at]);
    y[at] = E::store(activate(desc.activation, sum));
  }
}

/// The sum over images and positions for one element of the filter.
template <typename T>
typename Element<T>::Compute
gradientAt(const aprt_conv_desc &desc, const Geometry &g, const T *x,
           const T *gradient, int64_t o, int64_t c, const int64_t *tap) {
  using E = Element<T>;
  typename E::Compute sum = 0;
  for (int64_t pixel = 0; pixel < g.y.pixels; ++pixel) {
    int64_t rest = pixel, from = 0, scale = 1;
    bool inside = true;
    for (int d = maxSpatial - 1; d >= 0; --d) {
      int64_t i =
          rest % g.out[d] * g.strides[d] - g.pad[d] + tap[d] * g.dilations[d];
      rest /= g.out[d];
      inside &= i >= 0 && i < g.in[d];
      from += i * scale;
      scale *= g.in[d];
    }
    for (int64_t n = 0; inside && n < desc.n; ++n)
      sum += E::load(x[g.x.at(n, c, from)]) *
             E::load(gradient[g.y.at(n, o, pixel)]);
  }
  return sum;
}

} // namespace

void naiveFilterGradient(const aprt_conv_desc &desc, const void *x,
                         const void *gradient, void *w, ThreadPool &pool) {
  Geometry g(desc);
  int64_t windowSize = g.window[0] * g.window[1] * g.window[2];
  visitDtype(desc.dtype, [&](auto example) {
    using T = decltype(example);
    pool.split(desc.o * desc.c, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * windowSize; i < end * windowSize; ++i) {
        int64_t rest = i % windowSize, filter = i / windowSize;
        int64_t tap[maxSpatial] = {rest / (g.window[1] * g.window[2]),
                                   rest / g.window[2] % g.window[1],
                                   rest % g.window[2]};
        static_cast<T *>(w)[i] = Element<T>::store(
            gradientAt(desc, g, static_cast<const T *>(x),
                       static_cast<const T *>(gradient), filter / desc.c,
                       filter % desc.c, tap));
      }
    });
  });
}

void naiveConv(const aprt_conv_desc &desc, const void *x, const void *w,
               const void *bias, const void *addend, void *y,
               ThreadPool &pool) {
  Geometry geometry(desc);
  visitDtype(desc.dtype, [&](auto example) {
    using T = decltype(example);
    pool.split(desc.n * desc.o, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        convPlane(desc, geometry, static_cast<const T *>(x),
                  static_cast<const T *>(w), static_cast<const T *>(bias),
                  static_cast<const T *>(addend), static_cast<T *>(y),
                  i / desc.o, i % desc.o);
    });
  });
}

} // namespace autopar::runtime
