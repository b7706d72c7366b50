//===- Passes.td - From scheduled IR to LLVM ----------------------------------===//

#ifndef AUTOPAR_LOWERING_PASSES_TD
#define AUTOPAR_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

class LoweringPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::cf::ControlFlowDialect"];
}

class WeightOptions<list<Option> more> {
  list<Option> all = [
    Option<"model", "model", "std::string", "\"\"", "the ONNX file, for the weights in it">,
    Option<"executable", "executable", "std::string", "\"\"", "the executable that the program is for">,
    Option<"embed", "embed", "bool", "false", "put all weights into the executable">] # more;
}

def PlaceWeights : Pass<"autopar-place-weights", "::mlir::ModuleOp"> {
  let summary = "say where the executable finds its weights";
  let description = [{
    `autopar.weight_files` says of each file that parameters name where it is relative
    to the executable and what it holds now. Parameters that are in no file as they
    are, or with `embed` all of them, go where the compiler writes them
    (`autopar.made_weights`). Nothing is written yet.
  }];
  let options = WeightOptions<[
    Option<"weights", "weights", "std::string", "\"\"",
           "file or folder of the weights, relative to the executable; by default beside the model">]>.all;
  let dependentDialects = ["::autopar::AutoparDialect"];
}

def Lower : LoweringPass<"autopar-lower"> {
  let summary = "the pipeline of the module's target, from scheduled IR to the LLVM dialect";
  let options = [
    Option<"sourceFolder", "cuda-source", "std::string", "",
           "of a GPU program: write it as CUDA C++ into this folder">
  ];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
    "::mlir::NVVM::NVVMDialect"];
}

def WriteExecutable : Pass<"autopar-write-executable", "::mlir::ModuleOp"> {
  let summary = "compile a lowered module and write the executable";
  let description = [{
    The options must be those that autopar-place-weights had.
  }];
  let options = WeightOptions<[]>.all;
}

def LowerToCpu : LoweringPass<"autopar-lower-to-cpu"> {
  let summary = "make kernels functions of loops and the schedule calls of the runtime";
  let description = [{
    One function per distinct kernel body, in scf, arith, math and LLVM; GEMMs
    and convolutions become calls of the runtime's library with a constant
    descriptor. `@setup_s` and `@step_s` become host functions; `aprt_program_stages`
    and `aprt_program_manifest` are made (docs/RuntimeABI.md).
  }];
}

def LowerToGpu : LoweringPass<"autopar-lower-to-gpu"> {
  let summary = "make kernels gpu.funcs of threads and the schedule calls of the runtime";
  let description = [{
    As autopar-lower-to-cpu, but each distinct kernel body is a function of the
    module `@kernels`, launched by its number in the manifest's "kernels".
  }];
  let options = [
    Option<"sourceFolder", "cuda-source", "std::string", "",
           "write the program as CUDA C++ into this folder">
  ];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
    "::mlir::NVVM::NVVMDialect"];
}

def PrintPtx : Pass<"autopar-print-ptx", "::mlir::ModuleOp"> {
  let summary = "print the PTX of kernels in NVVM form";
  let description = [{
    What a program for CUDA carries of the module `@kernels`, for readers and for
    ptxas; needs libdevice.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90\"", "an architecture of NVIDIA's">
  ];
}

def KeepExtrema : LoweringPass<"autopar-keep-extrema"> {
  let summary = "keep maxima and minima of reductions in one operation each";
  let description = [{
    LLVM vectorizes a reduction by its intrinsic, but not by the comparisons and choices
    that let a NaN through. It is faster than they are where the sign of a zero does not
    matter, which is so in reductions:

        arith.maximumf %acc, %x fastmath<nsz> : f32
        =>
        llvm.intr.maximum(%acc, %x) {fastmathFlags = #llvm.fastmath<nsz>}
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ApproximateMath : LoweringPass<"autopar-approximate-math"> {
  let summary = "replace functions of f32 by polynomials that vectorize";
  let description = [{
    exp, log, tanh and erf, whose relative error is at most 3e-7; sines, whose absolute
    error would be 3e-6, keep the C library. A logarithm of a number below the smallest
    normal one, which the polynomial does not know, is that of a larger one:

        log(x)
        =>
        x < 2^-126 ? log(x * 2^24) - 24 * log(2) : log(x)
  }];
}

def TransposeTiles : LoweringPass<"autopar-transpose-tiles"> {
  let summary = "read tiles that run across their loops by lines, and transpose them in registers";
  let description = [{
    A pair of loops over 16 x 16 elements whose inner one reads with a stride gets the
    tile from 16 vector loads, 64 shuffles and a buffer on the stack:

        for r: for c: y[r, c] = x[c, r]
        =>
        for c: line[c] = x[c, 0..15]       // 16 vectors
        tile = transpose(line)             // in registers, then stored
        for r: for c: y[r, c] = tile[r, c]
  }];
}

def ShareKernels : LoweringPass<"autopar-share-kernels"> {
  let summary = "make kernels that differ in sizes one function that takes them";
  let description = [{
    Of functions that are called once and are equal but for constants that loops take
    as sizes the first one stays. It has an argument for each size that differs, and is not
    inlined:

        a() { for i < 64: body }     b() { for i < 512: body }
        =>
        a(n) { for i < n: body }     // called with 64 and with 512

    Sizes that may be unrolled, and strides of innermost loops, differ in functions of
    their own.
  }];
}

def LimitUnrolling : LoweringPass<"autopar-limit-unrolling"> {
  let summary = "tell LLVM which loops around loops stay loops";
  let description = [{
    Windows of a few elements may become straight code; the loops around them,
    which LLVM would unroll too where sizes are small, may not.
  }];
}

def ConvertToLlvm : LoweringPass<"autopar-convert-to-llvm"> {
  let summary = "convert arithmetic, branches and what is left of math to the LLVM dialect";
  let description = [{
    Functions that LLVM has no intrinsic of are the C library's; conversions from and to
    bf16 are integer arithmetic, as few processors round to it:

        math.sin(%x)
        =>
        llvm.call @sinf(%x)
  }];
}

#endif // AUTOPAR_LOWERING_PASSES_TD
