#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @kernel(%in: memref<512x768xf32> {llvm.noalias}, %scale: memref<768xf32> {llvm.noalias}, %bias: memref<768xf32> {llvm.noalias},
                  %out: memref<512x768xf32> {llvm.noalias}) {
  %x = bufferization.to_tensor %in restrict : memref<512x768xf32> to tensor<512x768xf32>
  %w = bufferization.to_tensor %scale restrict : memref<768xf32> to tensor<768xf32>
  %b = bufferization.to_tensor %bias restrict : memref<768xf32> to tensor<768xf32>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %size = arith.constant 768.0 : f32
  %epsilon = arith.constant 1.0e-05 : f32
  %rows = tensor.empty() : tensor<512xf32>
  %all = tensor.empty() : tensor<512x768xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x768xf32>) outs(%zeros : tensor<512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc,nsz,contract> : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<512x768xf32>, tensor<512xf32>) outs(%zeros : tensor<512xf32>) {
  ^bb0(%a: f32, %m: f32, %s: f32):
    %mean = arith.divf %m, %size : f32
    %d = arith.subf %a, %mean : f32
    %q = arith.mulf %d, %d fastmath<contract> : f32
    %r = arith.addf %s, %q fastmath<reassoc,nsz,contract> : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %squares, %w, %b : tensor<512x768xf32>, tensor<512xf32>, tensor<512xf32>, tensor<768xf32>, tensor<768xf32>)
      outs(%all : tensor<512x768xf32>) attrs = {root} {
  ^bb0(%a: f32, %m: f32, %q: f32, %s: f32, %t: f32, %o: f32):
    %mean = arith.divf %m, %size : f32
    %variance = arith.divf %q, %size : f32
    %safe = arith.addf %variance, %epsilon : f32
    %root = math.sqrt %safe : f32
    %scaled = arith.divf %one, %root : f32
    %d = arith.subf %a, %mean : f32
    %n = arith.mulf %d, %scaled : f32
    %p = arith.mulf %n, %s fastmath<contract> : f32
    %r = arith.addf %p, %t fastmath<contract> : f32
    linalg.yield %r : f32
  } -> tensor<512x768xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<512x768xf32>, memref<512x768xf32>) -> ()
  return
}
