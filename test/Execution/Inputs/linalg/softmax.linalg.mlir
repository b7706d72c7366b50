#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @kernel(%in: memref<512x512xf32> {llvm.noalias}, %out: memref<512x512xf32> {llvm.noalias}) {
  %x = bufferization.to_tensor %in restrict : memref<512x512xf32> to tensor<512x512xf32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<512xf32>
  %all = tensor.empty() : tensor<512x512xf32>
  %lows = linalg.fill ins(%low : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x512xf32>) outs(%lows : tensor<512xf32>) {
  ^bb0(%a: f32, %m: f32):
    %r = arith.maxnumf %m, %a fastmath<nnan,nsz,reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<512x512xf32>, tensor<512xf32>) outs(%all : tensor<512x512xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<512x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<512x512xf32>) outs(%zeros : tensor<512xf32>) {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %s, %e fastmath<reassoc,nsz,contract> : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<512x512xf32>, tensor<512xf32>) outs(%all : tensor<512x512xf32>) attrs = {root} {
  ^bb0(%e: f32, %s: f32, %o: f32):
    %r = arith.divf %e, %s : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}
