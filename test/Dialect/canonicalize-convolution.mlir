// RUN: autopar-opt %s -canonicalize | FileCheck %s

// Positions of the window that read nothing but padding go; padding that the others read stays.
// CHECK-LABEL: func @window_larger_than_image
// CHECK: %[[W:.*]] = autopar.slice %{{.*}} starts = [0, 0, 2, 1] steps = [1, 1, 1, 1] : tensor<4x3x7x3xf32> -> tensor<4x3x3x2xf32>
// CHECK: autopar.convolution %{{.*}}, %[[W]] strides = [1, 2] dilations = [1, 1] low = [1, 0] high = [1, 1] groups = 1 : (tensor<1x3x2x2xf32>, tensor<4x3x3x2xf32>) -> tensor<1x4x2x1xf32>
func.func @window_larger_than_image(%x: tensor<1x3x2x2xf32>, %w: tensor<4x3x7x3xf32>) -> tensor<1x4x2x1xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 2] dilations = [1, 1] low = [3, 1] high = [3, 1] groups = 1
      : (tensor<1x3x2x2xf32>, tensor<4x3x7x3xf32>) -> tensor<1x4x2x1xf32>
  return %0 : tensor<1x4x2x1xf32>
}

// CHECK-LABEL: func @dilated_window
// CHECK: autopar.slice %{{.*}} starts = [0, 0, 1] {{.*}} -> tensor<4x3x1xf32>
// CHECK: autopar.einsum "nca,oca->no"
func.func @dilated_window(%x: tensor<2x3x1xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x1xf32> {
  %0 = autopar.convolution %x, %w strides = [1] dilations = [4] low = [4] high = [4] groups = 1
      : (tensor<2x3x1xf32>, tensor<4x3x3xf32>) -> tensor<2x4x1xf32>
  return %0 : tensor<2x4x1xf32>
}

// An image of one pixel: channels alone are left.
// CHECK-LABEL: func @one_pixel
// CHECK: %[[E:.*]] = autopar.einsum "ncab,ocab->no" %{{.*}}, %{{.*}} : (tensor<2x3x1x1xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4xf32>
// CHECK: %[[R:.*]] = autopar.reshape %[[E]] {autopar.names = ["y"]}
// CHECK: return %[[R]]
func.func @one_pixel(%x: tensor<2x3x1x1xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x1x1xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 {autopar.names = ["y"]}
      : (tensor<2x3x1x1xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x1x1xf32>
  return %0 : tensor<2x4x1x1xf32>
}

// CHECK-LABEL: func @one_pixel_grouped
// CHECK: autopar.einsum "ngc,goc->ngo" %{{.*}}, %{{.*}} : (tensor<2x2x3xf32>, tensor<2x4x3xf32>) -> tensor<2x2x4xf32>
func.func @one_pixel_grouped(%x: tensor<2x6x1x1xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<2x8x1x1xf32> {
  %0 = autopar.convolution %x, %w strides = [2, 2] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 2
      : (tensor<2x6x1x1xf32>, tensor<8x3x3x3xf32>) -> tensor<2x8x1x1xf32>
  return %0 : tensor<2x8x1x1xf32>
}

// CHECK-LABEL: func @one_pixel_depthwise
// CHECK-NOT: autopar.convolution
func.func @one_pixel_depthwise(%x: tensor<2x6x1x1xf32>, %w: tensor<6x1x5x5xf32>) -> tensor<2x6x1x1xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [2, 2] high = [2, 2] groups = 6
      : (tensor<2x6x1x1xf32>, tensor<6x1x5x5xf32>) -> tensor<2x6x1x1xf32>
  return %0 : tensor<2x6x1x1xf32>
}

// Padding gives more results than the image has pixels: it stays a convolution.
// CHECK-LABEL: func @grows
// CHECK: autopar.convolution {{.*}} low = [1] high = [1]
func.func @grows(%x: tensor<2x3x1xf32>, %w: tensor<4x3x1xf32>) -> tensor<2x4x3xf32> {
  %0 = autopar.convolution %x, %w strides = [1] dilations = [1] low = [1] high = [1] groups = 1
      : (tensor<2x3x1xf32>, tensor<4x3x1xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
