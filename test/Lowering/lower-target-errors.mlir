// RUN: autopar-opt %s --autopar-lower-to-cpu --verify-diagnostics

// expected-error @+1 {{the module was scheduled for cuda, not for a CPU}}
module attributes {autopar.target = "cuda"} {
  autopar.mesh @mesh <["x"=1]>
}
