//===- autopar-import.cpp - Prints a model as IR --------------------------===//
//
// The Frontend alone, for its tests: what the importer builds, what its passes
// make of it, and what that computes.
//
//===----------------------------------------------------------------------===//

#include "RunModel.h"
#include "autopar/Dialect/Canonicalizer.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Frontend/Passes.h"
#include "autopar/Support/MemoryFailure.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static cl::opt<std::string> model(cl::Positional, cl::desc("MODEL"));
static cl::list<std::string> bindings("bind",
                                      cl::desc("size of a symbolic dimension"),
                                      cl::value_desc("NAME=INT"));
static cl::opt<bool>
    allowLinks("allow-linked-weights",
               cl::desc("follow links inside the model's folder"));
static cl::opt<uint64_t> maxBytes("max-bytes",
                                  cl::desc("the largest model file, unpacked"));
static cl::opt<bool> printOps("print-ops",
                              cl::desc("print the table of operators and end"));
static cl::opt<std::string>
    readParameter("read-parameter",
                  cl::desc("write the bytes of a parameter and end"),
                  cl::value_desc("NAME"));
static cl::opt<bool>
    prepare("prepare",
            cl::desc("canonicalize, merge equal ops and move to setup"));
static cl::opt<std::string>
    run("run",
        cl::desc("interpret the model on FOLDER/in.<i>, write FOLDER/out.<i>"),
        cl::value_desc("FOLDER"));
static cl::opt<bool> quiet("quiet", cl::desc("print no IR"));

static int fail(const Twine &message) {
  errs() << "autopar-import: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  autopar::installMemoryFailure("autopar-import");
  cl::ParseCommandLineOptions(argc, argv,
                              "prints an ONNX model as autopar IR\n");
  if (printOps) {
    autopar::printOnnxOps(outs());
    return 0;
  }
  autopar::ImportOptions options;
  options.read.allowLinkedWeights = allowLinks;
  if (maxBytes.getNumOccurrences())
    options.read.maxBytes = maxBytes;
  for (const std::string &binding : bindings)
    if (Error error = options.bind(binding))
      return fail("--bind " + binding + ": " + toString(std::move(error)));
  Expected<std::unique_ptr<autopar::OnnxModel>> file =
      autopar::OnnxModel::read(model, options.read);
  if (!file)
    return fail(toString(file.takeError()));
  if (!readParameter.empty()) {
    Expected<std::vector<char>> bytes = (*file)->readParameter(readParameter);
    if (!bytes)
      return fail(toString(bytes.takeError()));
    outs().write(bytes->data(), bytes->size());
    return 0;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      autopar::importOnnx(**file, options, &context);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  if (prepare) {
    passes.addPass(autopar::createCanonicalizer());
    passes.addPass(mlir::createCSEPass());
    passes.addPass(autopar::createMoveToSetup());
  }
  if (failed(passes.run(*module)))
    return 1;
  if (!run.empty())
    return failed(runModel(*module, **file, run));
  if (!quiet)
    module->print(outs());
  return 0;
}
