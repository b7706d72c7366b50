//===- LayoutTest.cpp - Which byte holds an element -----------------------===//
//
// Layouts of random shapes against plain arithmetic: the canonical layout and
// that of a view keep each element where it is, and a view without a layout has
// none among all orders of its dimensions.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Layout.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;

namespace autopar {
namespace {

using Shape = SmallVector<int64_t>;

/// The place of each element, in the row-major order of indices.
std::vector<int64_t> placesOf(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> layout) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  Layout order = fullLayout(layout, shape.size());
  for (int64_t dim : llvm::reverse(order)) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  std::vector<int64_t> places(stride);
  for (int64_t flat = 0; flat < stride; ++flat) {
    int64_t rest = flat;
    for (int64_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      places[flat] += rest % shape[dim] * strides[dim];
  }
  return places;
}

class LayoutTest : public testing::Test {
protected:
  Shape randomShape(int64_t count) {
    Shape shape;
    for (int64_t size = 2; count > 1; size = size > 6 ? 2 : size + 1)
      if (count % size == 0 && random() % 2) {
        shape.push_back(size);
        count /= size;
      }
    while (shape.size() < 5 && random() % 3 == 0)
      shape.push_back(1);
    while (shape.size() > 5) {
      int64_t last = shape.pop_back_val();
      shape.back() *= last;
    }
    std::shuffle(shape.begin(), shape.end(), random);
    return shape;
  }
  Layout randomLayout(size_t rank) {
    Layout layout = fullLayout({}, rank);
    std::shuffle(layout.begin(), layout.end(), random);
    return shortLayout(layout);
  }
  /// Whether some order of the dimensions has its elements at `places`.
  bool hasLayout(ArrayRef<int64_t> shape, const std::vector<int64_t> &places) {
    Layout order = fullLayout({}, shape.size());
    do {
      if (placesOf(shape, order) == places)
        return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  std::mt19937 random{1};
};

TEST_F(LayoutTest, ViewsNameTheSameElements) {
  const int64_t counts[] = {1, 6, 24, 36, 60, 72, 120};
  unsigned named = 0, refused = 0;
  for (unsigned trial = 0; trial < 4000; ++trial) {
    int64_t count = counts[random() % std::size(counts)];
    Shape from = randomShape(count), to = randomShape(count);
    Layout layout = randomLayout(from.size());
    std::vector<int64_t> places = placesOf(from, layout);
    std::optional<Layout> view = viewLayout(from, layout, to);
    if (view) {
      ASSERT_EQ(placesOf(to, *view), places);
      ASSERT_EQ(canonicalLayout(to, *view), *view);
    } else {
      ASSERT_FALSE(hasLayout(to, places));
    }
    ++(view ? named : refused);
  }
  EXPECT_GT(named, 500u);
  EXPECT_GT(refused, 500u);
}

TEST_F(LayoutTest, ShapesWithoutCommonRefinement) {
  EXPECT_EQ(viewLayout({1, 9, 6, 4}, {0, 2, 3, 1}, {1, 4, 9, 6}), std::nullopt);
  EXPECT_EQ(viewLayout({1, 9, 6, 4}, {}, {1, 4, 9, 6}), Layout());
  // One run of memory: any cut of it will do.
  EXPECT_EQ(viewLayout({2, 5, 6, 4}, {2, 3, 0, 1}, {2, 5, 3, 8}),
            Layout({2, 3, 0, 1}));
}

TEST_F(LayoutTest, EqualMemoryHasOneName) {
  for (unsigned trial = 0; trial < 2000; ++trial) {
    Shape shape = randomShape(12);
    Layout a = randomLayout(shape.size()), b = randomLayout(shape.size());
    bool same = placesOf(shape, a) == placesOf(shape, b);
    ASSERT_EQ(canonicalLayout(shape, a) == canonicalLayout(shape, b), same);
    ASSERT_EQ(placesOf(shape, canonicalLayout(shape, a)), placesOf(shape, a));
  }
}

TEST_F(LayoutTest, StridesOfMemrefsTellTheLayout) {
  MLIRContext context;
  for (unsigned trial = 0; trial < 2000; ++trial) {
    Shape shape = randomShape(12);
    Layout layout = canonicalLayout(shape, randomLayout(shape.size()));
    auto tensor = RankedTensorType::get(shape, Float32Type::get(&context));
    ASSERT_EQ(layoutOf(bufferType(tensor, layout)), layout);
  }
}

} // namespace
} // namespace autopar
