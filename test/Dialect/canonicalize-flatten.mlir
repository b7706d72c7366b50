// RUN: autopar-opt %s -canonicalize | FileCheck %s

// The exporters' Gemm: flatten, multiply, add a bias, unflatten.
// CHECK-LABEL: func @gemm_between_reshapes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[W:.*]]: tensor<4x5xf32>, %[[B:.*]]: tensor<5xf32>)
// CHECK-NEXT: %[[E:.*]] = autopar.einsum "mak,kn->man" %[[X]], %[[W]] {autopar.names = ["fc"]} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[C:.*]] = autopar.broadcast %[[B]] dims = [2] : tensor<5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[A:.*]] = autopar.binary add %[[E]], %[[C]] : tensor<2x3x5xf32>
// CHECK-NEXT: %[[R:.*]] = autopar.unary relu %[[A]] : tensor<2x3x5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT: return %[[R]]
func.func @gemm_between_reshapes(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = autopar.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w {autopar.names = ["fc"]} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = autopar.broadcast %b dims = [1] : tensor<5xf32> -> tensor<6x5xf32>
  %3 = autopar.binary add %1, %2 : tensor<6x5xf32>
  %4 = autopar.unary relu %3 : tensor<6x5xf32> -> tensor<6x5xf32>
  %5 = autopar.reshape %4 : tensor<6x5xf32> -> tensor<2x3x5xf32>
  return %5 : tensor<2x3x5xf32>
}

// The heads stay merged (the weight does not split them), batch and sequence do not.
// CHECK-LABEL: func @merged_heads
// CHECK: %[[R:.*]] = autopar.reshape %{{.*}} : tensor<2x3x4x5xf32> -> tensor<2x3x20xf32>
// CHECK-NEXT: %[[E:.*]] = autopar.einsum "mak,kn->man" %[[R]], %{{.*}} -> tensor<2x3x7xf32>
// CHECK-NEXT: return %[[E]]
func.func @merged_heads(%x: tensor<2x3x4x5xf32>, %w: tensor<20x7xf32>) -> tensor<2x3x7xf32> {
  %0 = autopar.reshape %x : tensor<2x3x4x5xf32> -> tensor<6x20xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<6x20xf32>, tensor<20x7xf32>) -> tensor<6x7xf32>
  %2 = autopar.reshape %1 : tensor<6x7xf32> -> tensor<2x3x7xf32>
  return %2 : tensor<2x3x7xf32>
}

// The same where heads were merged with the batch, as PyTorch's MultiheadAttention does that returns its weights.
// CHECK-LABEL: func @heads_beside_the_batch
// CHECK: %[[R:.*]] = autopar.reshape %{{.*}} : tensor<3x8x5xf32> -> tensor<3x2x20xf32>
// CHECK-NEXT: %[[E:.*]] = autopar.einsum "mak,kn->man" %[[R]], %{{.*}} -> tensor<3x2x7xf32>
// CHECK-NEXT: return %[[E]]
func.func @heads_beside_the_batch(%x: tensor<3x8x5xf32>, %w: tensor<20x7xf32>) -> tensor<3x2x7xf32> {
  %0 = autopar.reshape %x : tensor<3x8x5xf32> -> tensor<6x20xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<6x20xf32>, tensor<20x7xf32>) -> tensor<6x7xf32>
  %2 = autopar.reshape %1 : tensor<6x7xf32> -> tensor<3x2x7xf32>
  return %2 : tensor<3x2x7xf32>
}

// No dimensions are common to both shapes.
// CHECK-LABEL: func @nothing_in_common
// CHECK: autopar.reshape %{{.*}} : tensor<6x4xf32> -> tensor<8x3xf32>
// CHECK-NEXT: autopar.einsum "mk,kn->mn"
func.func @nothing_in_common(%x: tensor<6x4xf32>, %w: tensor<3x7xf32>) -> tensor<8x7xf32> {
  %0 = autopar.reshape %x : tensor<6x4xf32> -> tensor<8x3xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<8x3xf32>, tensor<3x7xf32>) -> tensor<8x7xf32>
  return %1 : tensor<8x7xf32>
}

// Both operands flatten the batch letter alike: batch and head stay apart.
// CHECK-LABEL: func @attention_scores
// CHECK: autopar.einsum "bamk,bank->bamn" %{{.*}}, %{{.*}} -> tensor<2x4x3x3xf32>
// CHECK-NEXT: autopar.softmax %{{.*}} dim = 3 : tensor<2x4x3x3xf32>
// CHECK-NEXT: return
func.func @attention_scores(%q: tensor<2x4x3x5xf32>, %k: tensor<2x4x3x5xf32>) -> tensor<2x4x3x3xf32> {
  %0 = autopar.reshape %q : tensor<2x4x3x5xf32> -> tensor<8x3x5xf32>
  %1 = autopar.reshape %k : tensor<2x4x3x5xf32> -> tensor<8x3x5xf32>
  %2 = autopar.einsum "bmk,bnk->bmn" %0, %1 : (tensor<8x3x5xf32>, tensor<8x3x5xf32>) -> tensor<8x3x3xf32>
  %3 = autopar.softmax %2 dim = 2 : tensor<8x3x3xf32>
  %4 = autopar.reshape %3 : tensor<8x3x3xf32> -> tensor<2x4x3x3xf32>
  return %4 : tensor<2x4x3x3xf32>
}

// CHECK-LABEL: func @past_many
// CHECK: autopar.normalize layer %{{.*}} dims = [2] {{.*}} : tensor<2x3x4xf32>
// CHECK: autopar.slice %{{.*}} starts = [0, 0, 1] steps = [1, 1, 1] : tensor<2x3x4xf32> -> tensor<2x3x2xf32>
// CHECK: autopar.transpose %{{.*}} perm = [2, 0, 1] : tensor<2x3x2xf32> -> tensor<2x2x3xf32>
// CHECK: autopar.scan sum %{{.*}} dim = 0 : tensor<2x2x3xf32>
// CHECK: autopar.reduce sum %{{.*}} dims = [1, 2] : tensor<2x2x3xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @past_many(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %0 = autopar.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = autopar.normalize layer %0 dims = [1] epsilon = 1.0e-5 : tensor<6x4xf32>
  %2 = autopar.slice %1 starts = [0, 1] steps = [1, 1] : tensor<6x4xf32> -> tensor<6x2xf32>
  %3 = autopar.transpose %2 perm = [1, 0] : tensor<6x2xf32> -> tensor<2x6xf32>
  %4 = autopar.scan sum %3 dim = 0 : tensor<2x6xf32>
  %5 = autopar.reduce sum %4 dims = [1] : tensor<2x6xf32> -> tensor<2xf32>
  return %5 : tensor<2xf32>
}

// CHECK-LABEL: func @embedding
// CHECK-NEXT: %[[G:.*]] = autopar.gather %{{.*}}, %{{.*}} dim = 0 : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[G]]
func.func @embedding(%x: tensor<9x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %0 = autopar.reshape %i : tensor<2x3xi64> -> tensor<6xi64>
  %1 = autopar.gather %x, %0 dim = 0 : (tensor<9x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %2 = autopar.reshape %1 : tensor<6x4xf32> -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// A classifier contracts the flattened dimensions: nothing moves.
// CHECK-LABEL: func @contracted
// CHECK-NEXT: autopar.reshape
// CHECK-NEXT: autopar.einsum "mk,kn->mn"
// CHECK-NEXT: return
func.func @contracted(%x: tensor<2x3x4xf32>, %w: tensor<12x5xf32>) -> tensor<2x5xf32> {
  %0 = autopar.reshape %x : tensor<2x3x4xf32> -> tensor<2x12xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<2x12xf32>, tensor<12x5xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}

// Without an operand that can be read before the flattening nothing moves.
// CHECK-LABEL: func @other_operand
// CHECK-NEXT: autopar.reshape
// CHECK-NEXT: autopar.binary add %{{.*}}, %{{.*}} : tensor<6xf32>
// CHECK-NEXT: return
func.func @other_operand(%x: tensor<2x3xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %0 = autopar.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  %1 = autopar.binary add %0, %y : tensor<6xf32>
  return %1 : tensor<6xf32>
}

// PyTorch's MultiheadAttention, sequence first: heads are joined with the batch, then split from it. Nobody reads the joined dimension.
// CHECK-LABEL: func @heads_joined_with_the_batch
// CHECK-SAME: (%[[X:.*]]: tensor<3x2x20xf32>, %[[Y:.*]]: tensor<3x2x20xf32>)
// CHECK-NEXT: %[[Q:.*]] = autopar.reshape %[[X]] {{.*}}: tensor<3x2x20xf32> -> tensor<3x2x4x5xf32>
// CHECK-NEXT: %[[K:.*]] = autopar.reshape %[[Y]] {{.*}}: tensor<3x2x20xf32> -> tensor<3x2x4x5xf32>
// CHECK-NEXT: %[[S:.*]] = autopar.einsum "mabk,nabk->abmn" %[[Q]], %[[K]] {{.*}}-> tensor<2x4x3x3xf32>
// CHECK-NEXT: autopar.softmax %[[S]] dim = 3 : tensor<2x4x3x3xf32>
// CHECK-NEXT: return
func.func @heads_joined_with_the_batch(%x: tensor<3x2x20xf32>, %y: tensor<3x2x20xf32>) -> tensor<2x4x3x3xf32> {
  %0 = autopar.reshape %x : tensor<3x2x20xf32> -> tensor<3x8x5xf32>
  %1 = autopar.transpose %0 perm = [1, 0, 2] : tensor<3x8x5xf32> -> tensor<8x3x5xf32>
  %2 = autopar.reshape %1 : tensor<8x3x5xf32> -> tensor<2x4x3x5xf32>
  %3 = autopar.reshape %y : tensor<3x2x20xf32> -> tensor<3x8x5xf32>
  %4 = autopar.transpose %3 perm = [1, 0, 2] : tensor<3x8x5xf32> -> tensor<8x3x5xf32>
  %5 = autopar.reshape %4 : tensor<8x3x5xf32> -> tensor<2x4x3x5xf32>
  %6 = autopar.einsum "abmk,abnk->abmn" %2, %5 : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x3xf32>
  %7 = autopar.softmax %6 dim = 3 : tensor<2x4x3x3xf32>
  return %7 : tensor<2x4x3x3xf32>
}

// The same with weights returned: the joined dimension lasts past a scale, a mask and the softmax.
// CHECK-LABEL: func @heads_joined_until_the_mean
// CHECK-NOT: x8x
// CHECK-NOT: <8x
// CHECK: autopar.reduce sum %{{.*}} dims = [1] : tensor<2x4x3x3xf32> -> tensor<2x3x3xf32>
// CHECK-NEXT: return
func.func @heads_joined_until_the_mean(%x: tensor<3x2x20xf32>, %y: tensor<3x2x20xf32>, %m: tensor<2x3xf32>) -> tensor<2x3x3xf32> {
  %scale = autopar.constant dense<0.5> : tensor<3x8x5xf32>
  %0 = autopar.reshape %x : tensor<3x2x20xf32> -> tensor<3x8x5xf32>
  %1 = autopar.binary mul %0, %scale : tensor<3x8x5xf32>
  %2 = autopar.reshape %y : tensor<3x2x20xf32> -> tensor<3x8x5xf32>
  %3 = autopar.einsum "mak,nak->amn" %1, %2 : (tensor<3x8x5xf32>, tensor<3x8x5xf32>) -> tensor<8x3x3xf32>
  %4 = autopar.broadcast %m dims = [0, 3] : tensor<2x3xf32> -> tensor<2x4x1x3xf32>
  %5 = autopar.reshape %4 : tensor<2x4x1x3xf32> -> tensor<8x3xf32>
  %6 = autopar.broadcast %5 dims = [0, 2] : tensor<8x3xf32> -> tensor<8x3x3xf32>
  %7 = autopar.binary add %3, %6 : tensor<8x3x3xf32>
  %8 = autopar.softmax %7 dim = 2 : tensor<8x3x3xf32>
  %9 = autopar.reshape %8 : tensor<8x3x3xf32> -> tensor<2x4x3x3xf32>
  %10 = autopar.reduce sum %9 dims = [1] : tensor<2x4x3x3xf32> -> tensor<2x3x3xf32>
  return %10 : tensor<2x3x3xf32>
}

// What regroups moves past all that leaves its dimensions apart.
// CHECK-LABEL: func @regrouped_past_many
// CHECK-NEXT: %[[R:.*]] = autopar.reshape %{{.*}} : tensor<3x2x20xf32> -> tensor<3x2x4x5xf32>
// CHECK-NEXT: %[[U:.*]] = autopar.unary tanh %[[R]] : tensor<3x2x4x5xf32> -> tensor<3x2x4x5xf32>
// CHECK-NEXT: %[[N:.*]] = autopar.normalize layer %[[U]] dims = [3] {{.*}} : tensor<3x2x4x5xf32>
// CHECK-NEXT: %[[S:.*]] = autopar.slice %[[N]] starts = [1, 0, 0, 0] steps = [1, 1, 1, 1] : tensor<3x2x4x5xf32> -> tensor<2x2x4x5xf32>
// CHECK-NEXT: %[[A:.*]] = autopar.reduce sum %[[S]] dims = [3] : tensor<2x2x4x5xf32> -> tensor<2x2x4xf32>
// CHECK-NEXT: return %[[A]]
func.func @regrouped_past_many(%x: tensor<3x2x20xf32>) -> tensor<2x2x4xf32> {
  %0 = autopar.reshape %x : tensor<3x2x20xf32> -> tensor<3x8x5xf32>
  %1 = autopar.unary tanh %0 : tensor<3x8x5xf32> -> tensor<3x8x5xf32>
  %2 = autopar.normalize layer %1 dims = [2] epsilon = 1.0e-5 : tensor<3x8x5xf32>
  %3 = autopar.slice %2 starts = [1, 0, 0] steps = [1, 1, 1] : tensor<3x8x5xf32> -> tensor<2x8x5xf32>
  %4 = autopar.reduce sum %3 dims = [2] : tensor<2x8x5xf32> -> tensor<2x8xf32>
  %5 = autopar.reshape %4 : tensor<2x8xf32> -> tensor<2x2x4xf32>
  return %5 : tensor<2x2x4xf32>
}
