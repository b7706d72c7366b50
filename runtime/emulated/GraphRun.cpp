//===- GraphRun.cpp - Computing a graph of the emulated cuDNN -------------===//
//
// Tensors between operations are dense floats, row-major, rounded to their own
// type.
//
//===----------------------------------------------------------------------===//

#include "../core/DataType.h"
#include "../cpu/Activation.h"
#include "../cpu/BlockedGemm.h"
#include "HostCompute.h"
#include "OperationGraph.h"

#include <algorithm>

namespace autopar::runtime::emulated {

namespace {

using Values = std::vector<float>;

/// Calls `visit(offset in the tensor's memory)` for every element, in row-major
/// order of the indices.
template <typename Visit>
void forEachElement(const GraphTensor &tensor, Visit &&visit) {
  size_t rank = tensor.sizes.size();
  std::vector<int64_t> index(rank, 0);
  int64_t last = rank ? tensor.sizes[rank - 1] : 1;
  int64_t step = rank ? tensor.strides[rank - 1] : 0, offset = 0;
  for (int64_t rows = tensor.count() / last; rows > 0; --rows) {
    for (int64_t i = 0; i < last; ++i)
      visit(offset + i * step);
    for (size_t d = rank - 1; d-- > 0;) {
      offset += tensor.strides[d];
      if (++index[d] < tensor.sizes[d])
        break;
      offset -= index[d] * tensor.strides[d];
      index[d] = 0;
    }
  }
}

/// Calls `visitor` with a value of the C++ type of a tensor.
template <typename Visitor>
void visitType(cudnnDataType_t type, Visitor &&visitor) {
  if (type == CUDNN_DATA_HALF)
    visitor(Float16());
  else if (type == CUDNN_DATA_BFLOAT16)
    visitor(BFloat16());
  else
    visitor(float());
}

Values load(const GraphTensor &tensor, CUdeviceptr address) {
  Values values;
  values.reserve(size_t(tensor.count()));
  visitType(tensor.type, [&](auto example) {
    using T = decltype(example);
    const T *from = memoryAs<T>(address);
    forEachElement(tensor, [&](int64_t at) {
      values.push_back(Element<T>::load(from[at]));
    });
  });
  return values;
}

void store(const GraphTensor &tensor, const Values &values,
           CUdeviceptr address) {
  const float *next = values.data();
  visitType(tensor.type, [&](auto example) {
    using T = decltype(example);
    T *to = memoryAs<T>(address);
    forEachElement(tensor,
                   [&](int64_t at) { to[at] = Element<T>::store(*next++); });
  });
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// A convolution with three spatial dimensions, missing ones in front.
struct Geometry {
  int64_t in[3], out[3], window[3], stride[3], dilation[3], pad[3];
  int64_t images, groups, inGroup, outGroup; // channels of a group

  Geometry(const OperationGraph &graph, const GraphOperation &operation) {
    const GraphTensor &x = graph.tensor(operation.x);
    const GraphTensor &w = graph.tensor(operation.w);
    const GraphTensor &y = graph.tensor(operation.y);
    images = x.sizes[0];
    inGroup = w.sizes[1];
    groups = x.sizes[1] / inGroup;
    outGroup = y.sizes[1] / groups;
    size_t missing = 3 - operation.strides.size();
    for (size_t d = 0; d < 3; ++d) {
      bool is = d >= missing;
      size_t s = d - missing;
      in[d] = is ? x.sizes[s + 2] : 1;
      out[d] = is ? y.sizes[s + 2] : 1;
      window[d] = is ? w.sizes[s + 2] : 1;
      stride[d] = is ? operation.strides[s] : 1;
      dilation[d] = is ? operation.dilations[s] : 1;
      pad[d] = is ? operation.padLow[s] : 0;
    }
  }
  int64_t inPixels() const { return in[0] * in[1] * in[2]; }
  int64_t outPixels() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return window[0] * window[1] * window[2]; }
};

/// What one tap of the window reads of one channel, for every output position;
/// zeros outside.
void gatherTap(const Geometry &g, const float *channel, int64_t tap,
               float *to) {
  int64_t t[3] = {tap / (g.window[1] * g.window[2]),
                  tap / g.window[2] % g.window[1], tap % g.window[2]};
  auto at = [&](int d, int64_t position) {
    return position * g.stride[d] - g.pad[d] + t[d] * g.dilation[d];
  };
  for (int64_t i = 0; i < g.out[0]; ++i)
    for (int64_t j = 0; j < g.out[1]; ++j) {
      int64_t a = at(0, i), b = at(1, j);
      bool inside = a >= 0 && a < g.in[0] && b >= 0 && b < g.in[1];
      const float *row = channel + (a * g.in[1] + b) * g.in[2];
      for (int64_t k = 0; k < g.out[2]; ++k) {
        int64_t c = at(2, k);
        *to++ = inside && c >= 0 && c < g.in[2] ? row[c] : 0.0f;
      }
    }
}

void multiply(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
              float *c) {
  aprt_gemm_desc desc{};
  desc.dtype = APRT_F32;
  desc.m = m;
  desc.n = n;
  desc.k = k;
  desc.a_strides[0] = k;
  desc.b_strides[0] = desc.c_strides[0] = n;
  desc.a_strides[1] = desc.b_strides[1] = desc.c_strides[1] = 1;
  desc.slot = -1;
  HostCompute &host = hostCompute();
  // Fails only where the host has no memory left.
  if (host.workspace.reserve(blockedGemmScratch(desc)).ok())
    blockedGemm(desc, a, b, nullptr, nullptr, c, host.pool, host.workspace);
}

Values convolve(const Geometry &g, const Values &x, const Values &w) {
  int64_t depth = g.inGroup * g.taps(), pixels = g.outPixels();
  Values y(size_t(g.images * g.groups * g.outGroup * pixels));
  Values gathered(size_t(depth * pixels));
  for (int64_t image = 0; image < g.images; ++image)
    for (int64_t group = 0; group < g.groups; ++group) {
      int64_t part = image * g.groups + group;
      const float *channels = x.data() + part * g.inGroup * g.inPixels();
      for (int64_t i = 0; i < depth; ++i)
        gatherTap(g, channels + i / g.taps() * g.inPixels(), i % g.taps(),
                  gathered.data() + i * pixels);
      multiply(g.outGroup, pixels, depth, w.data() + group * g.outGroup * depth,
               gathered.data(), y.data() + part * g.outGroup * pixels);
    }
  return y;
}

//===----------------------------------------------------------------------===//
// Pointwise operations
//===----------------------------------------------------------------------===//

int64_t activationOf(cudnnPointwiseMode_t mode) {
  switch (mode) {
  case CUDNN_POINTWISE_RELU_FWD:
    return APRT_ACT_RELU;
  case CUDNN_POINTWISE_TANH_FWD:
    return APRT_ACT_TANH;
  case CUDNN_POINTWISE_SIGMOID_FWD:
    return APRT_ACT_SIGMOID;
  case CUDNN_POINTWISE_GELU_FWD:
    return APRT_ACT_GELU_ERF;
  case CUDNN_POINTWISE_SWISH_FWD:
    return APRT_ACT_SILU;
  case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
    return APRT_ACT_GELU_TANH;
  default:
    return APRT_ACT_NONE;
  }
}

/// The tensor with dense strides, 0 where it is spread over `result`.
GraphTensor spread(const GraphTensor &tensor, const GraphTensor &result) {
  GraphTensor view = result;
  int64_t stride = 1;
  for (size_t d = tensor.sizes.size(); d-- > 0;) {
    view.strides[d] = tensor.sizes[d] == 1 ? 0 : stride;
    stride *= tensor.sizes[d];
  }
  return view;
}

Values pointwise(const OperationGraph &graph, const GraphOperation &operation,
                 const Values &x, const Values *b) {
  const GraphTensor &result = graph.tensor(operation.y);
  Values y;
  y.reserve(size_t(result.count()));
  forEachElement(spread(graph.tensor(operation.x), result),
                 [&](int64_t at) { y.push_back(x[size_t(at)]); });
  float *next = y.data();
  if (b)
    forEachElement(spread(graph.tensor(operation.b), result),
                   [&](int64_t at) { *next++ += (*b)[size_t(at)]; });
  int64_t activation = activationOf(operation.mode);
  for (float &value : y)
    value = activate(activation, value);
  return y;
}

void roundTo(cudnnDataType_t type, Values &values) {
  visitType(type, [&](auto example) {
    using E = Element<decltype(example)>;
    for (float &value : values)
      value = E::load(E::store(value));
  });
}

} // namespace

void runGraph(const OperationGraph &graph, int64_t engine,
              const std::map<int64_t, CUdeviceptr> &memory) {
  std::map<int64_t, Values> values;
  for (int64_t id : graph.inputs())
    values[id] = load(graph.tensor(id), memory.at(id));
  for (const GraphOperation &operation : graph.operations) {
    Values &x = values[operation.x];
    Values y;
    if (operation.isConvolution) {
      Values &w = values[operation.w];
      if (engine == tensorCoreEngine) // what a float becomes there
        for (Values *operand : {&x, &w})
          for (float &value : *operand)
            value = roundToTf32(value);
      y = convolve(Geometry(graph, operation), x, w);
    } else {
      y = pointwise(graph, operation, x,
                    operation.b ? &values[operation.b] : nullptr);
    }
    roundTo(graph.tensor(operation.y).type, y);
    values[operation.y] = std::move(y);
  }
  store(graph.tensor(graph.output()), values[graph.output()],
        memory.at(graph.output()));
}

void copyTensor(const GraphTensor &from, CUdeviceptr source,
                const GraphTensor &to, CUdeviceptr result) {
  store(to, load(from, source), result);
}

} // namespace autopar::runtime::emulated
