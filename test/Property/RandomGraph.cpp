//===- RandomGraph.cpp - Random programs of the dialect -------------------===//

#include "RandomGraph.h"
#include "GraphBuilder.h"

using namespace mlir;

namespace autopar::property {

/// One more op; null where the values at hand do not suit it.
using Maker = Value (*)(GraphBuilder &);
static const Maker kMakers[] = {
    makeUnary,     makeSafeUnary,     makeBinary,         makeBinary,
    makeIntBinary, makeCompare,       makeSelect,         makeConvert,
    makeConstant,  makeIota,          makeBroadcast,      makeReshape,
    makeReshape,   makeTranspose,     makeSlice,          makePad,
    makeConcat,    makeGather,        makeGatherNd,       makeEinsum,
    makeEinsum,    makeEinsum,        makeConvolution,    makeConvolution,
    makePool,      makeReduce,        makeReduce,         makeScan,
    makeSoftmax,   makeNormalize,     makeGatherElements, makeScatter,
    makeTopK,      makeLogical,       makeTest,           makeMovements,
    makeMovements, makeImageMovement, makeImageMovement,
};

static const Maker kDifferentiable[] = {
    makeUnary,          makeSafeUnary, makeBinary,      makeBinary,
    makeQuotient,       makeSelect,    makeCompare,     makeConstant,
    makeBroadcast,      makeReshape,   makeReshape,     makeTranspose,
    makeSlice,          makePad,       makeConcat,      makeEinsum,
    makeEinsum,         makeEinsum,    makeReduce,      makeReduce,
    makeScan,           makeSoftmax,   makeNormalize,   makeMovements,
    makeGather,         makeScatter,   makeConvolution, makePool,
    makeGatherElements, makeGatherNd};

static void fillFunction(GraphBuilder &graph, int64_t ops,
                         ArrayRef<Maker> makers = kMakers) {
  for (int64_t attempts = 0; graph.opCount() < ops && attempts < 1000;
       ++attempts)
    if (Value value = graph.random.pick(makers)(graph))
      graph.add(value);
}

/// @setup computes one or two values from parameters; @step reads them.
static SmallVector<Type> addSetup(ModuleOp module, Random &random,
                                  Type element) {
  GraphBuilder graph(module, "setup", random, element, /*onlyParameters=*/true);
  fillFunction(graph, random.between(2, 4));
  return graph.finish();
}

OwningOpRef<ModuleOp> makeGraph(MLIRContext &context, Random &random,
                                bool differentiable) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  Builder builder(&context);
  // f64 shows small errors, f32 goes to libraries, whose images have channels
  // last.
  Type element = random.chance(40) ? Type(builder.getF64Type())
                                   : Type(builder.getF32Type());
  SmallVector<Type> setupTypes;
  if (!differentiable && random.chance(25))
    setupTypes = addSetup(*module, random, element);
  GraphBuilder graph(*module, "step", random, element,
                     /*onlyParameters=*/false);
  for (Type type : setupTypes)
    graph.addSetupResult(cast<RankedTensorType>(type));
  if (differentiable)
    fillFunction(graph, random.between(4, 12), kDifferentiable);
  else
    fillFunction(graph, random.between(5, 20));
  graph.finish();
  return module;
}

OwningOpRef<ModuleOp> makeStep(MLIRContext &context, Random &random,
                               int64_t ops) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  GraphBuilder graph(*module, "step", random, Builder(&context).getF32Type(),
                     /*onlyParameters=*/false);
  fillFunction(graph, ops);
  graph.finish();
  return module;
}

} // namespace autopar::property
