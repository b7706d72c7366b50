// RUN: autopar-opt %s --split-input-file --autopar-plan="ranks=4 strategy=data" --autopar-verify-plan | FileCheck %s
// RUN: autopar-opt %s --split-input-file --autopar-plan="ranks=4 strategy=data" --autopar-phase-partition | FileCheck %s --check-prefix=LOCAL

// A gradient that is computed in bf16 stays partial until it is converted: devices add it up in f32, its own type.
// CHECK: autopar.einsum "bi,bo->io" {{.*}}autopar.shardings = [#autopar.sharding<@mesh, [{}, {}], partial = {"data": sum}>]
// CHECK: autopar.transpose {{.*}}autopar.shardings = [#autopar.sharding<@mesh, [{}, {}], partial = {"data": sum}>]
// CHECK: autopar.convert {{.*}}"data": pass
// LOCAL: autopar.convert {{.*}} -> tensor<128x256xf32>
// LOCAL: autopar.reduce_scatter {{.*}}xf32
module {
  func.func @step(%x: tensor<64x256xbf16> {autopar.source = #autopar.input<"x">}, %g: tensor<64x128xbf16> {autopar.source = #autopar.input<"g">})
      -> (tensor<128x256xf32> {autopar.result = #autopar.gradient<"w">}) {
    %0 = autopar.einsum "bi,bo->io" %x, %g : (tensor<64x256xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %1 = autopar.transpose %0 perm = [1, 0] : tensor<256x128xbf16> -> tensor<128x256xbf16>
    %2 = autopar.convert %1 : tensor<128x256xbf16> -> tensor<128x256xf32>
    return %2 : tensor<128x256xf32>
  }
}

// -----
// Where the recipe allows it the price decides: half the bytes.
// LOCAL: autopar.{{all_reduce|reduce_scatter}} {{.*}}xbf16
// LOCAL-NOT: autopar.{{all_reduce|reduce_scatter}}
// LOCAL: return
module attributes {autopar.narrow_gradient_sums} {
  func.func @step(%x: tensor<64x256xbf16> {autopar.source = #autopar.input<"x">}, %g: tensor<64x128xbf16> {autopar.source = #autopar.input<"g">})
      -> (tensor<256x128xf32> {autopar.result = #autopar.gradient<"w">}) {
    %0 = autopar.einsum "bi,bo->io" %x, %g : (tensor<64x256xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %1 = autopar.convert %0 : tensor<256x128xbf16> -> tensor<256x128xf32>
    return %1 : tensor<256x128xf32>
  }
}

// -----
// A value that is no gradient is reduced where that costs least.
// LOCAL: autopar.{{all_reduce|reduce_scatter}} {{.*}}xbf16
// LOCAL-NOT: autopar.{{all_reduce|reduce_scatter}}
// LOCAL: return
module {
  func.func @step(%x: tensor<64x256xbf16> {autopar.source = #autopar.input<"x">}, %g: tensor<64x128xbf16> {autopar.source = #autopar.input<"g">})
      -> (tensor<256x128xf32> {autopar.result = #autopar.output<"y">}, tensor<64x128xbf16> {autopar.result = #autopar.output<"z">}) {
    %0 = autopar.einsum "bi,bo->io" %x, %g : (tensor<64x256xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %1 = autopar.convert %0 : tensor<256x128xbf16> -> tensor<256x128xf32>
    return %1, %g : tensor<256x128xf32>, tensor<64x128xbf16>
  }
}

// -----
// A gradient of bf16 parameters has no wider type, and a value that something reads as it is (here its sign) is reduced for that.
// LOCAL: autopar.{{all_reduce|reduce_scatter}} {{.*}}xbf16
// LOCAL: autopar.{{all_reduce|reduce_scatter}} {{.*}}xbf16
// LOCAL-NOT: autopar.{{all_reduce|reduce_scatter}}
// LOCAL: return
module {
  func.func @step(%x: tensor<64x256xbf16> {autopar.source = #autopar.input<"x">}, %g: tensor<64x128xbf16> {autopar.source = #autopar.input<"g">},
      %h: tensor<64x128xbf16> {autopar.source = #autopar.input<"h">})
      -> (tensor<256x128xbf16> {autopar.result = #autopar.gradient<"v">}, tensor<256x128xf32> {autopar.result = #autopar.gradient<"w">},
          tensor<256x128xbf16> {autopar.result = #autopar.output<"y">}, tensor<64x128xbf16> {autopar.result = #autopar.output<"z">}) {
    %0 = autopar.einsum "bi,bo->io" %x, %g : (tensor<64x256xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %1 = autopar.einsum "bi,bo->io" %x, %h : (tensor<64x256xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %2 = autopar.convert %1 : tensor<256x128xbf16> -> tensor<256x128xf32>
    %3 = autopar.unary sign %1 : tensor<256x128xbf16> -> tensor<256x128xbf16>
    return %0, %2, %3, %g : tensor<256x128xbf16>, tensor<256x128xf32>, tensor<256x128xbf16>, tensor<64x128xbf16>
  }
}
