// RUN: autopar-opt %s --autopar-assign-precision --verify-diagnostics

// expected-error @+1 {{unknown autopar.precision "fp8": fp32, tf32, bf16 and fp16 are known}}
module attributes {autopar.precision = "fp8"} {
}
