// RUN: autopar-opt %s --autopar-plan --verify-diagnostics --split-input-file

// expected-error @+1 {{autopar.request must be a dictionary}}
module attributes {autopar.request = "auto"} {
  func.func @step() { return }
}

// -----

// expected-error @+1 {{autopar.request: unknown key 'ranks'}}
module attributes {autopar.request = {ranks = 2 : i64}} {
  func.func @step() { return }
}

// -----

// expected-error @+1 {{autopar.request: 'micro_batches' must be an integer of 0 or more}}
module attributes {autopar.request = {micro_batches = "4"}} {
  func.func @step() { return }
}

// -----

// expected-error @+1 {{autopar.request: 'mesh' must be a string}}
module attributes {autopar.request = {mesh = ["data=2"]}} {
  func.func @step() { return }
}

// -----

// expected-error @+1 {{autopar.request: 'constraints' must be a dictionary of file and text}}
module attributes {autopar.request = {constraints = []}} {
  func.func @step() { return }
}

// -----

// expected-error @+1 {{autopar.request names no cluster}}
module attributes {autopar.request = {strategy = "data"}} {
  func.func @step() { return }
}
