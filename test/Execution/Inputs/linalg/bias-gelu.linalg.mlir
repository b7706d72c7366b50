#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @kernel(%in: memref<512x3072xf32> {llvm.noalias}, %bias: memref<3072xf32> {llvm.noalias}, %out: memref<512x3072xf32> {llvm.noalias}) {
  %x = bufferization.to_tensor %in restrict : memref<512x3072xf32> to tensor<512x3072xf32>
  %b = bufferization.to_tensor %bias restrict : memref<3072xf32> to tensor<3072xf32>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %all = tensor.empty() : tensor<512x3072xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<512x3072xf32>, tensor<3072xf32>) outs(%all : tensor<512x3072xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<512x3072xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<512x3072xf32>) outs(%all : tensor<512x3072xf32>) attrs = {root} {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %root : f32
    %e = math.erf %s : f32
    %f = arith.addf %e, %one : f32
    %h = arith.mulf %a, %half : f32
    %r = arith.mulf %h, %f : f32
    linalg.yield %r : f32
  } -> tensor<512x3072xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<512x3072xf32>, memref<512x3072xf32>) -> ()
  return
}
