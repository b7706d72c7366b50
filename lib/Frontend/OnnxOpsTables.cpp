//===- OnnxOpsTables.cpp - ONNX tables of signals -------------------------===//
//
// Windows and filters whose sizes are known: they are computed here.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// A table is part of the program.
constexpr int64_t kMostElements = 1 << 20;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Element `turn` of a window: 0 where it begins, 2 pi where it ends.
using Window = double (*)(double turn);

double hann(double turn) { return 0.5 - 0.5 * std::cos(turn); }
double hamming(double turn) {
  return 25.0 / 46.0 - 21.0 / 46.0 * std::cos(turn);
}
double blackman(double turn) {
  return 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn);
}

FailureOr<Type> tableType(OnnxNode &node) {
  FailureOr<Type> element = node.elementType(
      node.getInt("output_datatype", onnx::TensorProto::FLOAT));
  if (succeeded(element) && element->isInteger(1))
    return node.error("its output_datatype must not be BOOL");
  return element;
}

template <Window window> LogicalResult windowTable(OnnxNode &node) {
  FailureOr<int64_t> size = node.scalarInt(0);
  FailureOr<Type> element = tableType(node);
  if (failed(size) || failed(element))
    return failure();
  if (*size < 0 || *size > kMostElements)
    return node.error("its size " + Twine(*size) + " is out of range");
  int64_t span = node.getInt("periodic", 1) ? *size : *size - 1;
  SmallVector<double> values;
  for (int64_t i = 0; i < *size; ++i)
    values.push_back(span == 0 ? 1 : window(2 * M_PI * double(i) / span));
  return node.finish(node.floats(values, *element));
}

//===----------------------------------------------------------------------===//
// MelWeightMatrix
//===----------------------------------------------------------------------===//

/// Triangles that overlap, of equal widths on the scale of mels: elements of
/// the spectrum where each begins, peaks and ends.
FailureOr<SmallVector<int64_t>> triangleEdges(OnnxNode &node, int64_t bins,
                                              int64_t length) {
  double numbers[3];
  for (unsigned i = 2; i < 5; ++i) {
    std::optional<SmallVector<double>> known = node.knownNumbers(i);
    if (!known || known->size() != 1)
      return node.error("its input " + Twine(i) +
                        " must be one number, known while compiling" +
                        node.howToBind(i));
    numbers[i - 2] = known->front();
  }
  auto [rate, lower, upper] = numbers;
  auto mels = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mels(lower), step = (mels(upper) - low) / double(bins + 2);
  int64_t last = length / 2;
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hertz = 700 * (std::pow(10, (low + step * i) / 2595) - 1);
    double edge = std::floor(double(length + 1) * hertz / rate);
    if (!(edge >= 0 && edge <= double(last)))
      return node.error("its frequencies are not between 0 and half of the "
                        "sample rate");
    edges.push_back(int64_t(edge));
  }
  if (!llvm::is_sorted(edges))
    return node.error("its frequencies are not between 0 and half of the "
                      "sample rate");
  return edges;
}

LogicalResult melWeightMatrix(OnnxNode &node) {
  FailureOr<int64_t> bins = node.scalarInt(0), length = node.scalarInt(1);
  FailureOr<Type> element = tableType(node);
  if (failed(bins) || failed(length) || failed(element))
    return failure();
  if (*bins < 1 || *length < 1 || *bins > kMostElements ||
      *length > kMostElements || (*length / 2 + 1) * *bins > kMostElements)
    return node.error("its sizes " + Twine(*bins) + " and " + Twine(*length) +
                      " are out of range");
  FailureOr<SmallVector<int64_t>> edges = triangleEdges(node, *bins, *length);
  if (failed(edges))
    return failure();
  int64_t rows = *length / 2 + 1;
  SmallVector<double> table(rows * *bins, 0);
  for (int64_t bin = 0; bin < *bins; ++bin) {
    int64_t begin = (*edges)[bin], peak = (*edges)[bin + 1],
            end = (*edges)[bin + 2];
    auto at = [&](int64_t row) -> double & { return table[row * *bins + bin]; };
    if (begin == peak)
      at(peak) = 1;
    for (int64_t row = begin; begin < peak && row <= peak; ++row)
      at(row) = double(row - begin) / double(peak - begin);
    for (int64_t row = peak; row < end; ++row)
      at(row) = double(end - row) / double(end - peak);
  }
  return node.finish(node.reshape(node.floats(table, *element), {rows, *bins}));
}

constexpr StringLiteral kWindow = "output_datatype:int periodic:int";

const OnnxOp kOps[] = {
    {"HannWindow", "17", 1, 1, kWindow, windowTable<hann>},
    {"HammingWindow", "17", 1, 1, kWindow, windowTable<hamming>},
    {"BlackmanWindow", "17", 1, 1, kWindow, windowTable<blackman>},
    {"MelWeightMatrix", "17", 5, 5, "output_datatype:int", melWeightMatrix},
};
} // namespace

ArrayRef<OnnxOp> tableOps() { return kOps; }

} // namespace autopar
