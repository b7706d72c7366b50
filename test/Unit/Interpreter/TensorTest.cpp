//===- TensorTest.cpp - Elements, blocks and bytes of tensors -------------===//

#include "autopar/Dialect/Interpreter/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace autopar;
using namespace autopar::interpreter;

namespace {

struct TensorTest : testing::Test {
  MLIRContext context;
  Builder builder{&context};

  Tensor iota(ArrayRef<int64_t> shape, Type element) {
    Tensor tensor(RankedTensorType::get(shape, element));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setInt(i, i);
    return tensor;
  }
};

TEST_F(TensorTest, roundsFloatsToTheirType) {
  double value = 1.0 + std::ldexp(1.0, -30);
  EXPECT_EQ(roundTo(builder.getF64Type(), value), value);
  EXPECT_EQ(roundTo(builder.getF32Type(), value), 1.0);
  EXPECT_EQ(roundTo(builder.getF16Type(), 1.0 + std::ldexp(1.0, -11)), 1.0);
  EXPECT_EQ(roundTo(builder.getBF16Type(), 257.0), 256.0);
  EXPECT_TRUE(std::isinf(roundTo(builder.getF16Type(), 1e6)));
}

TEST_F(TensorTest, wrapsIntegersToTheirWidth) {
  EXPECT_EQ(wrapTo(builder.getI8Type(), 200), -56);
  EXPECT_EQ(wrapTo(builder.getIntegerType(8, false), -1), 255);
  EXPECT_EQ(wrapTo(builder.getI1Type(), 3), 1);
}

TEST_F(TensorTest, saturatesInfinitiesOfIntegers) {
  Tensor tensor(RankedTensorType::get({2}, builder.getI8Type()));
  tensor.set(0, neutralElement(ReduceKind::Max));
  tensor.set(1, neutralElement(ReduceKind::Min));
  EXPECT_EQ(tensor.ints[0], -128);
  EXPECT_EQ(tensor.ints[1], 127);
}

TEST_F(TensorTest, keepsBytes) {
  for (Type type : {Type(builder.getF32Type()), Type(builder.getBF16Type()),
                    Type(builder.getI64Type()), Type(builder.getI1Type()),
                    Type(builder.getIntegerType(16, false))}) {
    Tensor tensor = iota({3}, type), copy(tensor.type);
    std::vector<uint8_t> bytes(elementBytes(type));
    for (int64_t i = 0; i < 3; ++i) {
      storeElement(tensor, i, bytes.data());
      loadElement(copy, i, bytes.data());
    }
    EXPECT_FALSE(compare(tensor, copy, 0));
  }
}

TEST_F(TensorTest, cutsUnevenAndEmptyBlocks) {
  Mesh mesh(MeshAxis{"x", 5});
  Sharding sharding = Sharding::replicated(1);
  sharding.dims[0].subAxes = {0};
  Tensor whole = iota({6}, builder.getF64Type()); // blocks of 2: 2 2 2 0 0
  EXPECT_EQ(cutBlock(whole, sharding, mesh, 2).floats,
            (std::vector<double>{4, 5}));
  Tensor empty = cutBlock(whole, sharding, mesh, 3);
  EXPECT_TRUE(std::isnan(empty.floats[0]) && std::isnan(empty.floats[1]));
}

TEST_F(TensorTest, cutsIntervalsWithFill) {
  Mesh mesh(MeshAxis{"x", 2});
  Sharding sharding = Sharding::replicated(1);
  sharding.dims[0].subAxes = {0};
  sharding.dims[0].interval = Interval{2, -1, 4};
  Tensor whole = iota({4}, builder.getF64Type());
  EXPECT_EQ(cutBlock(whole, sharding, mesh, 0, 7).floats,
            (std::vector<double>{7, 0, 1, 2}));
  EXPECT_EQ(cutBlock(whole, sharding, mesh, 1, 7).floats,
            (std::vector<double>{1, 2, 3, 7}));
}

TEST_F(TensorTest, assemblesWhatItCut) {
  Mesh mesh({MeshAxis{"x", 2}, MeshAxis{"y", 3}});
  Sharding sharding = Sharding::replicated(2);
  sharding.dims[0].subAxes = {1};
  sharding.dims[1].subAxes = {0};
  Tensor whole = iota({4, 5}, builder.getI64Type());
  std::vector<TensorRef> blocks;
  for (int64_t point = 0; point < mesh.pointCount(); ++point)
    blocks.push_back(
        std::make_shared<Tensor>(cutBlock(whole, sharding, mesh, point)));
  Assembled assembled = assembleBlocks(blocks, whole.type, sharding, mesh);
  EXPECT_FALSE(assembled.conflictAt);
  EXPECT_FALSE(compare(whole, assembled.whole, 0));
}

TEST_F(TensorTest, findsDevicesThatDisagree) {
  Mesh mesh(MeshAxis{"x", 3});
  Sharding sharding = Sharding::replicated(1);
  Tensor whole = iota({2}, builder.getI64Type()), other = whole;
  other.ints[1] = 9;
  std::vector<TensorRef> blocks(3, std::make_shared<Tensor>(whole));
  blocks[2] = std::make_shared<Tensor>(other);
  EXPECT_EQ(assembleBlocks(blocks, whole.type, sharding, mesh).conflictAt, 2);
}

TEST_F(TensorTest, reducesPartialValues) {
  Mesh mesh(MeshAxis{"x", 3});
  Sharding sharding = Sharding::replicated(1);
  sharding.partial.push_back({0, ReduceKind::Sum});
  Tensor part = iota({2}, builder.getI64Type());
  std::vector<TensorRef> blocks(3, std::make_shared<Tensor>(part));
  Assembled assembled = assembleBlocks(blocks, part.type, sharding, mesh);
  EXPECT_EQ(assembled.whole.ints, (std::vector<int64_t>{0, 3}));
}

TEST_F(TensorTest, comparesInfinitiesAndNan) {
  Tensor a = iota({2}, builder.getF64Type()), b = a;
  a.floats[1] = b.floats[1] = NAN;
  EXPECT_FALSE(compare(a, b, 0));
  a.floats[1] = INFINITY;
  auto difference = compare(a, b, 1e-3);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->position, 1);
}

TEST_F(TensorTest, drawsTheSameForEveryCut) {
  auto type = RankedTensorType::get({8}, builder.getF32Type());
  Tensor a = randomTensor(type, "w", 1), b = randomTensor(type, "w", 1);
  EXPECT_FALSE(compare(a, b, 0));
  EXPECT_TRUE(compare(a, randomTensor(type, "v", 1), 0));
  EXPECT_TRUE(compare(a, randomTensor(type, "w", 2), 0));
}

} // namespace
