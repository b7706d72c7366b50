// A gradient's memory is free after its last reader, the update, which stands where the gradient is made. The scheduled module, whose
// gradients are read when they are made, returns what the tensor program does.
// RUN: autopar-opt %s --autopar-schedule-pipeline -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: autopar-opt %t.mlir --autopar-interpret=against=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=EQUAL

// EQUAL: 5 results equal

// CHECK-LABEL: func.func @step()
// CHECK: %[[B:.*]] = autopar.buffer arena[[GRADIENT:\[[0-9]+\]]] {{.*}} : memref<64x64xf32>
// CHECK: autopar.kernel ins({{.*}}) outs(%[[B]]) {{.*}}library <gemm
// CHECK: %[[NEXT:.*]] = autopar.buffer persistent[2] {{.*}} : memref<64x64xf32>
// CHECK: autopar.kernel ins({{.*}}%[[B]]{{.*}}) outs(%[[NEXT]])
// CHECK: %[[A:.*]] = autopar.buffer arena[[GRADIENT]] {{.*}} : memref<64x64xf32>
// CHECK: autopar.kernel ins({{.*}}) outs(%[[A]]) {{.*}}library <gemm
func.func @step(%x: tensor<8x64xf32> {autopar.source = #autopar.input<"x">},
                %a: tensor<64x64xf32> {autopar.source = #autopar.state<"a", #autopar.parameter<"a", "m", offset = 0, length = 16384>>},
                %b: tensor<64x64xf32> {autopar.source = #autopar.state<"b", #autopar.parameter<"b", "m", offset = 16384, length = 16384>>})
    -> (tensor<64x64xf32> {autopar.result = #autopar.gradient<"a">},
        tensor<64x64xf32> {autopar.result = #autopar.gradient<"b">},
        tensor<64x64xf32> {autopar.result = #autopar.gradient<"again">},
        tensor<64x64xf32> {autopar.result = #autopar.next_state<"a">},
        tensor<64x64xf32> {autopar.result = #autopar.next_state<"b">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %a : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %b : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = autopar.einsum "mn,kn->mk" %1, %b : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %gb = autopar.einsum "mk,mn->kn" %0, %1 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %ga = autopar.einsum "mk,mn->kn" %x, %2 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %na = autopar.binary sub %a, %ga : tensor<64x64xf32>
  %nb = autopar.binary sub %b, %gb : tensor<64x64xf32>
  return %ga, %gb, %gb, %na, %nb : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
