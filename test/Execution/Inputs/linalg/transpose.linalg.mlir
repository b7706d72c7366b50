func.func @kernel(%in: memref<1024x1536xf32> {llvm.noalias}, %out: memref<1536x1024xf32> {llvm.noalias}) {
  %x = bufferization.to_tensor %in restrict : memref<1024x1536xf32> to tensor<1024x1536xf32>
  %all = tensor.empty() : tensor<1536x1024xf32>
  %y = linalg.transpose ins(%x : tensor<1024x1536xf32>) outs(%all : tensor<1536x1024xf32>) permutation = [1, 0] {root}
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<1536x1024xf32>, memref<1536x1024xf32>) -> ()
  return
}
