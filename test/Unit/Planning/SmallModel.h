//===- SmallModel.h - A graph to plan, without a module -------------------===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_SMALLMODEL_H
#define AUTOPAR_TEST_UNIT_PLANNING_SMALLMODEL_H

#include "autopar/Planning/Model/ModelGraph.h"

namespace autopar {

/// Builds graphs of f32 matrix multiplications and functions of elements, each
/// of them a kernel of its own.
class SmallModel {
public:
  unsigned input(llvm::StringRef name, llvm::ArrayRef<int64_t> shape) {
    return argument(name, shape, ValueSource::Input);
  }
  unsigned parameter(llvm::StringRef name, llvm::ArrayRef<int64_t> shape) {
    return argument(name, shape, ValueSource::Parameter);
  }
  /// A state that begins as a weight; the graph lacks its next value.
  unsigned trained(llvm::StringRef name, llvm::ArrayRef<int64_t> shape) {
    unsigned index = argument(name, shape, ValueSource::State);
    graph.values[index].isWeight = true;
    return index;
  }

  /// `a` of b x k times `b` of k x n.
  unsigned matmul(llvm::StringRef name, unsigned a, unsigned b) {
    int64_t rows = shape(a)[0], depth = shape(a)[1], columns = shape(b)[1];
    GraphOpFacts op;
    op.kernel = KernelClass::Contraction;
    op.flops = 2 * rows * depth * columns;
    op.rule.addFactor(rows);
    op.rule.addFactor(depth, FactorKind::Reduce);
    op.rule.addFactor(columns);
    op.rule.factors[1].mask = 0;
    op.rule.operands = {{0u, 1u}, {1u, 2u}};
    op.rule.results = {{0u, 2u}};
    op.rule.passes = {{{0}}, {{1}}};
    op.alike = {0, 1};
    return add(name, std::move(op), {a, b}, {rows, columns}, /*library=*/true);
  }

  /// A function of each element.
  unsigned elementwise(llvm::StringRef name, unsigned a) {
    GraphOpFacts op;
    op.kernel = KernelClass::Elementwise;
    for (int64_t size : shape(a))
      op.rule.addFactor(size);
    op.rule.operands = op.rule.results = {{0u, 1u}};
    op.alike = {0};
    return add(name, std::move(op), {a}, shape(a), /*library=*/false);
  }

  /// Sums over dimension 0, the batch; gives it back as it was.
  unsigned mixBatch(llvm::StringRef name, unsigned a) {
    GraphOpFacts op;
    op.kernel = KernelClass::Reduction;
    op.rule.addFactor(shape(a)[0], FactorKind::Decompose);
    op.rule.addFactor(shape(a)[1]);
    op.rule.operands = op.rule.results = {{0u, 1u}};
    op.alike = {0};
    return add(name, std::move(op), {a}, shape(a), /*library=*/false);
  }

  ModelGraph finish(unsigned output) {
    graph.stepResults = {output};
    finishGraph(graph);
    return std::move(graph);
  }

private:
  llvm::SmallVector<int64_t> shape(unsigned value) const {
    return graph.values[value].shape;
  }

  unsigned value(llvm::StringRef name, llvm::ArrayRef<int64_t> shape) {
    GraphValue &value = graph.values.emplace_back();
    value.name = name.str();
    value.shape.assign(shape.begin(), shape.end());
    value.elementBytes = 4;
    return graph.values.size() - 1;
  }

  unsigned argument(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                    ValueSource source) {
    unsigned index = value(name, shape);
    graph.values[index].source = source;
    graph.values[index].persistent = source != ValueSource::Input;
    graph.stepArguments.push_back(index);
    return index;
  }

  unsigned add(llvm::StringRef name, GraphOpFacts facts,
               llvm::ArrayRef<unsigned> operands, llvm::ArrayRef<int64_t> shape,
               bool library) {
    unsigned index = graph.ops.size(), result = value(name, shape);
    graph.values[result].producer = index;
    facts.signature = facts.likeness = toString(facts.rule);
    GraphOp op;
    op.name = "node_" + name.str();
    op.facts = std::make_shared<const GraphOpFacts>(std::move(facts));
    op.operands.assign(operands.begin(), operands.end());
    op.results = {result};
    op.launches = true;
    op.reads.assign(op.operands.size(), true);
    op.writes = {true};
    graph.ops.push_back(std::move(op));
    GraphStep &step = graph.steps.emplace_back();
    step.ops = {index};
    step.root = index;
    if (library)
      step.call = CallKind::Gemm;
    return result;
  }

  ModelGraph graph;
};

/// `batch` rows through two layers: x (batch x 64) -> h (x w1, 64 x 256) ->
/// r -> y (x w2, 256 x 64).
inline ModelGraph twoLayers(int64_t batch) {
  SmallModel model;
  unsigned x = model.input("x", {batch, 64});
  unsigned w1 = model.parameter("w1", {64, 256});
  unsigned w2 = model.parameter("w2", {256, 64});
  unsigned r = model.elementwise("r", model.matmul("h", x, w1));
  return model.finish(model.matmul("y", r, w2));
}

/// Matrix multiplications by weights (size x size) one after the other, and
/// then those of gradients, which read the weights again from the last to the
/// first.
inline ModelGraph layersAndGradients(unsigned layers, int64_t rows,
                                     int64_t size) {
  SmallModel model;
  unsigned value = model.input("x", {rows, size});
  llvm::SmallVector<unsigned> weights;
  for (unsigned layer = 0; layer < layers; ++layer) {
    std::string number = std::to_string(layer);
    weights.push_back(model.trained("w" + number, {size, size}));
    value = model.matmul("y" + number, value, weights.back());
  }
  for (unsigned layer = layers; layer-- > 0;)
    value = model.matmul("d" + std::to_string(layer), value, weights[layer]);
  ModelGraph graph = model.finish(value);
  for (GraphOp &op : llvm::drop_begin(graph.ops, layers))
    op.task = Task::InputGradient;
  return graph;
}

/// Matrix multiplications one after the other, each with a weight of its own.
inline ModelGraph chainOf(int layers) {
  SmallModel model;
  unsigned value = model.input("x", {4096, 1024});
  for (int layer = 0; layer < layers; ++layer)
    value = model.matmul(
        "y" + std::to_string(layer), value,
        model.parameter("w" + std::to_string(layer), {1024, 1024}));
  return model.finish(value);
}

/// twoLayers whose parameters are weights, as strategies look for them.
inline ModelGraph weightedLayers(int64_t batch) {
  ModelGraph graph = twoLayers(batch);
  for (GraphValue &value : graph.values)
    value.isWeight = value.fromParameter =
        value.source == ValueSource::Parameter;
  return graph;
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_SMALLMODEL_H
