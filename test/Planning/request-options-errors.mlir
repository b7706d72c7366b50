// Who asks of the plan: the module or the pass, not both.
// RUN: autopar-opt %s --autopar-plan="strategy=data" --verify-diagnostics

// expected-error @+1 {{the module says what is asked of its plan (autopar.request), and so do options of the pass; remove one of the two}}
module attributes {autopar.request = {strategy = "data"}} {
  func.func @step() { return }
}
