//===- OptimizeKernels.cpp - LLVM's passes for loop nests -----------------===//
//
// Kernels are functions of loops that call nothing but the C library. The
// pipeline of -O3 also inlines, looks at what functions say of each other and
// undoes what front ends of languages write, all of which finds nothing in
// them. This one leaves the loops that -O3 leaves, in half the time.
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"

using namespace llvm;

namespace autopar {

static constexpr StringLiteral kKernelPasses =
    // Places in memory that are values, and loops in the form of the others.
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,sccp,"
    "instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm,simple-loop-unswitch<nontrivial>),"
    "simplifycfg,instcombine<no-verify-fixpoint>,"
    // Short loops become straight code, whose tables become values.
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,gvn,instcombine<no-verify-fixpoint>,"
    // The bounds of windows are numbers once it is known that they fit.
    "correlated-propagation,dse,loop-mssa(licm),simplifycfg,"
    // Strided copies of few elements are better straight than vectors.
    "loop-unroll<O3;no-partial;no-runtime;no-upperbound>,"
    // Vectors, of iterations and then of straight code.
    "loop-vectorize,instcombine<no-verify-fixpoint>,"
    "simplifycfg<no-keep-loops;hoist-common-insts;sink-common-insts>,"
    "slp-vectorizer,"
    // Vectors of few iterations in a line keep their sums in registers.
    "loop-unroll<O3>,sroa<preserve-cfg>,instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm),simplifycfg";

namespace {

/// Addresses that need fewer registers, in functions without vectors: those
/// that divide for their indices are faster by a quarter. Vectors gain nothing
/// by it, and their many addresses keep it busy for two fifths of all code
/// generation.
struct ReduceStrengthOfScalars : PassInfoMixin<ReduceStrengthOfScalars> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto isVector = [](const Instruction &op) {
      return op.getType()->isVectorTy();
    };
    if (any_of(instructions(function), isVector))
      return PreservedAnalyses::all();
    return createFunctionToLoopPassAdaptor(LoopStrengthReducePass())
        .run(function, analyses);
  }
};

} // namespace

void optimizeKernels(Module &module, TargetMachine &machine) {
  runPasses(module, machine, PipelineTuningOptions(), [](PassBuilder &builder) {
    FunctionPassManager passes;
    cantFail(builder.parsePassPipeline(passes, kKernelPasses));
    passes.addPass(ReduceStrengthOfScalars());
    ModulePassManager all;
    all.addPass(createModuleToFunctionPassAdaptor(std::move(passes),
                                                  /*EagerlyInvalidate=*/true));
    return all;
  });
}

} // namespace autopar
