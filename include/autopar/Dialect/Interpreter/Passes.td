//===- Passes.td - Passes that run IR -----------------------------------------===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_PASSES_TD
#define AUTOPAR_DIALECT_INTERPRETER_PASSES_TD

include "mlir/Pass/PassBase.td"

def Interpret : Pass<"autopar-interpret", "::mlir::ModuleOp"> {
  let summary = "run the module with the reference interpreter and print its results";
  let description = [{
    Runs @setup and @step, or every stage of a partitioned module at all points of
    its mesh. An argument's values are its attribute `autopar.given` (a dense
    attribute of its global type), else random by `seed` and the argument's name,
    so that every form of a model gets the same. With `steps`, @step runs so often: states
    go from step to step, later steps have other random inputs, and the states of the last
    step are printed, too. With `weights`, parameters are
    read from the files in that folder. With `function`, that function
    alone runs on one device. Prints `name = dense<...> : type` per result.
    With `against`, the results are compared with those of another file instead
    (the whole model): a difference is an error.
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"", "run this function alone">,
    Option<"seed", "seed", "uint64_t", "0", "seed of random arguments">,
    Option<"steps", "steps", "int64_t", "1", "how often @step runs">,
    Option<"weights", "weights", "std::string", "\"\"", "folder of the parameters' files">,
    Option<"against", "against", "std::string", "\"\"", "MLIR file whose results must be equal">,
    Option<"tolerance", "tolerance", "double", "1e-4", "of floats against another file, relative to rms plus value">,
  ];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

def ValidateRules : Pass<"autopar-validate-rules", "::mlir::ModuleOp"> {
  let summary = "check each op's sharding rule against the interpreter";
  let description = [{
    Every op of the module runs on random operands, whole and split by its rule:
    each factor and pass over 2 to 5 devices and every pair of them over 2x2. A
    rule whose blocks do not make up the whole is an error at the op. So is one that
    reads other elements of an operand than its role in loops says. Prints the
    number of ops and splits.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "0", "seed of random operands">,
    Option<"all", "all", "bool", "false", "it is an error if the module lacks an op of the dialect that has a rule">,
  ];
  let dependentDialects = ["::autopar::AutoparDialect", "::mlir::func::FuncDialect"];
}

#endif // AUTOPAR_DIALECT_INTERPRETER_PASSES_TD
