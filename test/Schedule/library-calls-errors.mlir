// Calls that the target's libraries do not have, or whose operands are stored otherwise than the call says.
// RUN: autopar-opt %s --autopar-verify-schedule --verify-diagnostics --split-input-file

module attributes {autopar.target = "cuda"} {
  func.func @step_0() attributes {autopar.arena_bytes = 1024 : i64, autopar.results = [], autopar.arguments = [
      #autopar.port<space = arena, position = 0, type = tensor<2x4xf32>, value = 0>,
      #autopar.port<space = arena, position = 64, type = tensor<4x8xf32>, value = 1>]} {
    %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x4xf32>
    %w = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4x8xf32>
    %y = autopar.buffer arena[256] {autopar.value = 2 : i64} : memref<2x8xf32>
    // expected-error @+1 {{is the call #autopar.library_call<gemm, a = 0, b = 1, activation = gelu_erf>, whose epilogue the target's library does not apply}}
    autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1, activation = gelu_erf> : (memref<2x4xf32>, memref<4x8xf32>, memref<2x8xf32>) -> () {
    ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
      %3 = autopar.unary gelu_erf %2 : tensor<2x8xf32> -> tensor<2x8xf32>
      autopar.yield %3 : tensor<2x8xf32>
    }
    return
  }
}

// -----

module attributes {autopar.target = "cuda"} {
  func.func @step_0() attributes {autopar.arena_bytes = 1024 : i64, autopar.results = [], autopar.arguments = [
      #autopar.port<space = arena, position = 0, type = tensor<2x4xi32>, value = 0>,
      #autopar.port<space = arena, position = 64, type = tensor<4x8xi32>, value = 1>]} {
    %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x4xi32>
    %w = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4x8xi32>
    %y = autopar.buffer arena[256] {autopar.value = 2 : i64} : memref<2x8xi32>
    // expected-error @+1 {{is a library call on 'i32', a type that the target's library does not compute}}
    autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1> : (memref<2x4xi32>, memref<4x8xi32>, memref<2x8xi32>) -> () {
    ^bb0(%0: tensor<2x4xi32>, %1: tensor<4x8xi32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xi32>, tensor<4x8xi32>) -> tensor<2x8xi32>
      autopar.yield %2 : tensor<2x8xi32>
    }
    return
  }
}

// -----

// An input is another one with each step.
#whole = #autopar.sharding<@mesh, [{}, {}]>
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.input<"w">, sharding = #whole, global_type = tensor<4x8xf32>, type = tensor<4x8xf32>>]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 1024 : i64, autopar.results = [], autopar.arguments = [
      #autopar.port<space = arena, position = 0, type = tensor<2x4xf32>, value = 0>,
      #autopar.port<space = persistent, position = 0, type = tensor<4x8xf32>, value = 1>]} {
    %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x4xf32>
    %w = autopar.buffer persistent[0] {autopar.value = 1 : i64} : memref<4x8xf32>
    %y = autopar.buffer arena[256] {autopar.value = 2 : i64} : memref<2x8xf32>
    // expected-error @+1 {{reads what @setup cannot pack}}
    autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1, packed = 0> : (memref<2x4xf32>, memref<4x8xf32>, memref<2x8xf32>) -> () {
    ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
      autopar.yield %2 : tensor<2x8xf32>
    }
    return
  }
}

// -----

func.func @arena_packed() {
  %x = autopar.buffer arena[0] : memref<2x4xf32>
  %w = autopar.buffer arena[64] : memref<4x8xf32>
  %y = autopar.buffer arena[256] : memref<2x8xf32>
  // expected-error @+1 {{reads input 1 packed, which is no persistent tensor}}
  autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1, packed = 0> : (memref<2x4xf32>, memref<4x8xf32>, memref<2x8xf32>) -> () {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    autopar.yield %2 : tensor<2x8xf32>
  }
  return
}

// -----

func.func @gemm_of_images() {
  %x = autopar.buffer arena[0] : memref<2x4xf32>
  %w = autopar.buffer arena[64] : memref<4x8xf32>
  %y = autopar.buffer arena[256] : memref<2x8xf32>
  // expected-error @+1 {{is a GEMM: it has no images, nor channels last}}
  autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1, channels_last = true> : (memref<2x4xf32>, memref<4x8xf32>, memref<2x8xf32>) -> () {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    autopar.yield %2 : tensor<2x8xf32>
  }
  return
}

// -----

func.func @result_of_gemm_stored_otherwise() {
  %x = autopar.buffer arena[0] : memref<2x4xf32>
  %w = autopar.buffer arena[64] : memref<4x8xf32>
  %y = autopar.buffer arena[256] : memref<2x8xf32, strided<[1, 2]>>
  // expected-error @+1 {{is a GEMM whose result or epilogue is not row-major}}
  autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1> : (memref<2x4xf32>, memref<4x8xf32>, memref<2x8xf32, strided<[1, 2]>>) -> () {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    autopar.yield %2 : tensor<2x8xf32>
  }
  return
}

// -----

// Its rows would be no dimension of the memory any more.
func.func @matrix_stored_otherwise() {
  %x = autopar.buffer arena[0] : memref<2x3x4xf32, strided<[1, 8, 2]>>
  %w = autopar.buffer arena[128] : memref<4x8xf32>
  %y = autopar.buffer arena[256] : memref<2x3x8xf32>
  // expected-error @+1 {{is a GEMM whose operands are stored so that no GEMM reads them}}
  autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1> : (memref<2x3x4xf32, strided<[1, 8, 2]>>, memref<4x8xf32>, memref<2x3x8xf32>) -> () {
  ^bb0(%0: tensor<2x3x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "abk,kn->abn" %0, %1 : (tensor<2x3x4xf32>, tensor<4x8xf32>) -> tensor<2x3x8xf32>
    autopar.yield %2 : tensor<2x3x8xf32>
  }
  return
}

// -----

func.func @images_stored_otherwise() {
  %x = autopar.buffer arena[0] : memref<1x3x4x4xf32>
  %w = autopar.buffer arena[256] : memref<8x3x1x1xf32>
  %y = autopar.buffer arena[512] : memref<1x8x4x4xf32>
  // expected-error @+1 {{is a convolution of images with channels last and a row-major filter, but its buffers are stored otherwise}}
  autopar.kernel ins(%x, %w) outs(%y) library <convolution, a = 0, b = 1, channels_last = true> : (memref<1x3x4x4xf32>, memref<8x3x1x1xf32>, memref<1x8x4x4xf32>) -> () {
  ^bb0(%0: tensor<1x3x4x4xf32>, %1: tensor<8x3x1x1xf32>):
    %2 = autopar.convolution %0, %1 strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 : (tensor<1x3x4x4xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x4xf32>
    autopar.yield %2 : tensor<1x8x4x4xf32>
  }
  return
}

// -----

module attributes {autopar.target = "cuda"} {
  func.func @step_0() attributes {autopar.arena_bytes = 4096 : i64, autopar.results = [], autopar.arguments = [
      #autopar.port<space = arena, position = 0, type = tensor<2x3x5x5xf32>, value = 0>,
      #autopar.port<space = arena, position = 1024, type = tensor<2x4x5x5xf32>, value = 1>]} {
    %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3x5x5xf32>
    %g = autopar.buffer arena[1024] {autopar.value = 1 : i64} : memref<2x4x5x5xf32>
    %y = autopar.buffer arena[2048] {autopar.value = 2 : i64} : memref<3x4x3x3xf32, strided<[9, 27, 3, 1]>>
    // expected-error @+1 {{is the call #autopar.library_call<filter_gradient, a = 0, b = 1>, which the target's library has not}}
    autopar.kernel ins(%x, %g) outs(%y) library <filter_gradient, a = 0, b = 1> : (memref<2x3x5x5xf32>, memref<2x4x5x5xf32>, memref<3x4x3x3xf32, strided<[9, 27, 3, 1]>>) -> () {
    ^bb0(%0: tensor<2x3x5x5xf32>, %1: tensor<2x4x5x5xf32>):
      %2 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x3x5x5xf32> -> tensor<3x2x5x5xf32>
      %3 = autopar.transpose %1 perm = [1, 0, 2, 3] : tensor<2x4x5x5xf32> -> tensor<4x2x5x5xf32>
      %4 = autopar.convolution %2, %3 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x2x5x5xf32>, tensor<4x2x5x5xf32>) -> tensor<3x4x3x3xf32>
      autopar.yield %4 : tensor<3x4x3x3xf32>
    }
    return
  }
}

// -----

func.func @epilogue(%x: tensor<2x3x5x5xf32>, %g: tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  // expected-error @+1 {{is no library call: 'autopar.convolution' is the gradient of a filter and has an epilogue}}
  %y = autopar.kernel ins(%x, %g) library <filter_gradient, a = 0, b = 1, activation = relu> : (tensor<2x3x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  ^bb0(%0: tensor<2x3x5x5xf32>, %1: tensor<2x4x5x5xf32>):
    %2 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x3x5x5xf32> -> tensor<3x2x5x5xf32>
    %3 = autopar.transpose %1 perm = [1, 0, 2, 3] : tensor<2x4x5x5xf32> -> tensor<4x2x5x5xf32>
    %4 = autopar.convolution %2, %3 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x2x5x5xf32>, tensor<4x2x5x5xf32>) -> tensor<3x4x3x3xf32>
    %5 = autopar.unary relu %4 : tensor<3x4x3x3xf32> -> tensor<3x4x3x3xf32>
    autopar.yield %5 : tensor<3x4x3x3xf32>
  }
  return %y : tensor<3x4x3x3xf32>
}

// -----

func.func @stored(%x: memref<2x3x5x5xf32>, %g: memref<2x4x5x5xf32>, %y: memref<3x4x3x3xf32>) {
  // expected-error @+1 {{is the gradient of a filter whose buffers are stored otherwise than its call says}}
  autopar.kernel ins(%x, %g) outs(%y) library <filter_gradient, a = 0, b = 1> : (memref<2x3x5x5xf32>, memref<2x4x5x5xf32>, memref<3x4x3x3xf32>) -> () {
  ^bb0(%0: tensor<2x3x5x5xf32>, %1: tensor<2x4x5x5xf32>):
    %2 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x3x5x5xf32> -> tensor<3x2x5x5xf32>
    %3 = autopar.transpose %1 perm = [1, 0, 2, 3] : tensor<2x4x5x5xf32> -> tensor<4x2x5x5xf32>
    %4 = autopar.convolution %2, %3 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x2x5x5xf32>, tensor<4x2x5x5xf32>) -> tensor<3x4x3x3xf32>
    autopar.yield %4 : tensor<3x4x3x3xf32>
  }
  return
}
