//===- LoopIndicesTest.cpp - Index maps of loops against plain ones -------===//
//
// Random chains of reshapes, transposes, slices, broadcasts and paddings, from
// the elements of a result to an address of the first operand: what the emitter
// makes of them is computed for every iteration and compared with the same
// chain on numbers.
//
//===----------------------------------------------------------------------===//

#include "lib/Lowering/GPU/GridEmitter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace mlir;

namespace autopar::loops {
namespace {

using Numbers = std::vector<int64_t>;

int64_t product(const Numbers &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

Numbers plainDigits(int64_t flat, const Numbers &shape) {
  Numbers at(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; flat /= shape[dim])
    at[dim] = flat % shape[dim];
  return at;
}

int64_t plainFlat(const Numbers &at, const Numbers &shape) {
  int64_t flat = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    flat = flat * shape[dim] + at[dim];
  return flat;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// One step from the indices of a result to those of its operand.
struct Step {
  enum Kind { Reshape, Transpose, Slice, Broadcast, Pad } kind;
  Numbers result, operand; // shapes
  Numbers dims;            // Transpose: permutation; Slice, Pad: starts
  Numbers steps;           // Slice
};

class ChainMaker {
public:
  explicit ChainMaker(unsigned seed) : random(seed) {}

  int64_t below(int64_t end) { return random() % end; }

  /// Sizes whose product is `count`, some of them 1.
  Numbers factorize(int64_t count) {
    Numbers shape;
    while (count > 1 && shape.size() < 5) {
      Numbers divisors;
      for (int64_t size = 2; size <= count; ++size)
        if (count % size == 0)
          divisors.push_back(size);
      shape.push_back(divisors[below(divisors.size())]);
      count /= shape.back();
    }
    if (count > 1)
      shape.push_back(count);
    if (below(3) == 0)
      shape.insert(shape.begin() + below(shape.size() + 1), 1);
    return shape;
  }

  Step step(const Numbers &result) {
    auto kind = static_cast<Step::Kind>(below(5));
    Step step{kind, result, result, {}, {}};
    for (size_t dim = 0; dim < result.size(); ++dim) {
      step.dims.push_back(kind == Step::Transpose ? int64_t(dim) : 0);
      step.steps.push_back(1);
    }
    if (kind == Step::Reshape)
      step.operand = factorize(product(result));
    if (kind == Step::Transpose)
      std::shuffle(step.dims.begin(), step.dims.end(), random);
    for (size_t dim = 0; dim < result.size(); ++dim)
      choose(step, dim);
    return step;
  }

private:
  void choose(Step &step, size_t dim) {
    int64_t size = step.result[dim];
    if (step.kind == Step::Transpose)
      step.operand[step.dims[dim]] = size;
    if (step.kind == Step::Broadcast && below(3) == 0)
      step.operand[dim] = 1;
    if (step.kind == Step::Slice && below(2) == 0) {
      step.dims[dim] = below(2) * below(4);
      step.steps[dim] = below(3) == 0 ? 2 : 1;
      step.operand[dim] =
          step.dims[dim] + (size - 1) * step.steps[dim] + 1 + below(8);
    }
    if (step.kind == Step::Pad && size > 2 && below(3) == 0) {
      step.dims[dim] = below(2);
      step.operand[dim] = size - 1 - below(2);
    }
  }

  std::mt19937 random;
};

Numbers plainStep(const Step &step, const Numbers &at) {
  if (step.kind == Step::Reshape)
    return plainDigits(plainFlat(at, step.result), step.operand);
  Numbers source(at);
  for (size_t dim = 0; dim < at.size(); ++dim) {
    if (step.kind == Step::Transpose)
      source[step.dims[dim]] = at[dim];
    if (step.kind == Step::Slice)
      source[dim] = step.dims[dim] + at[dim] * step.steps[dim];
    if (step.kind == Step::Broadcast && step.operand[dim] == 1)
      source[dim] = 0;
    if (step.kind == Step::Pad)
      source[dim] = std::clamp<int64_t>(at[dim] - step.dims[dim], 0,
                                        step.operand[dim] - 1);
  }
  return source;
}

/// As the emitters of these ops do it.
SmallVector<Index> emitStep(LoopEmitter &emit, const Step &step,
                            ArrayRef<Index> at) {
  if (step.kind == Step::Reshape)
    return emit.delinearize(emit.linearize(at, step.result), step.operand);
  SmallVector<Index> source(at.begin(), at.end());
  for (size_t dim = 0; dim < at.size(); ++dim) {
    if (step.kind == Step::Transpose)
      source[step.dims[dim]] = at[dim];
    if (step.kind == Step::Slice && (step.dims[dim] || step.steps[dim] != 1))
      source[dim] = {
          emit.addInt(emit.mulInt(emit.value(at[dim]), step.steps[dim]),
                      emit.constantInt(step.dims[dim]))};
    if (step.kind == Step::Broadcast && step.operand[dim] == 1)
      source[dim] = emit.constantIndex(0);
    if (step.kind == Step::Pad && step.operand[dim] != step.result[dim])
      source[dim] = {emit.clamp(
          emit.addInt(emit.value(at[dim]), emit.constantInt(-step.dims[dim])),
          step.operand[dim])};
  }
  return source;
}

//===----------------------------------------------------------------------===//
// Computing what was emitted
//===----------------------------------------------------------------------===//

class Evaluator {
public:
  llvm::DenseMap<Value, int64_t> known;

  int64_t operator()(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    int64_t result = compute(value.getDefiningOp());
    return known[value] = result;
  }

private:
  int64_t compute(Operation *op) {
    if (std::optional<int64_t> fixed = getConstantIntValue(op->getResult(0)))
      return *fixed;
    int64_t a = (*this)(op->getOperand(0)), b = (*this)(op->getOperand(1));
    if (isa<arith::AddIOp>(op))
      return a + b;
    if (isa<arith::MulIOp>(op))
      return a * b;
    if (isa<arith::MaxSIOp>(op))
      return std::max(a, b);
    if (isa<arith::MinSIOp>(op))
      return std::min(a, b);
    EXPECT_TRUE(a >= 0 && b > 0) << "unsigned division of " << a << " by " << b;
    if (isa<arith::DivUIOp>(op))
      return a / b;
    EXPECT_TRUE(isa<arith::RemUIOp>(op)) << op->getName().getStringRef().str();
    return a % b;
  }
};

class LoopIndicesTest : public testing::Test {
protected:
  LoopIndicesTest()
      : builder(&context), loc(UnknownLoc::get(&context)),
        module(ModuleOp::create(loc)) {
    context.loadDialect<arith::ArithDialect, scf::SCFDialect, LLVM::LLVMDialect,
                        mlir::gpu::GPUDialect>();
    builder.setInsertionPointToEnd(module->getBody());
    device = mlir::gpu::GPUModuleOp::create(builder, loc, "kernels");
  }

  void check(unsigned seed, bool asRows);

  MLIRContext context;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  mlir::gpu::GPUModuleOp device;
};

std::string textOf(const std::vector<Step> &chain, const Numbers &cuts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const char *const names[] = {"reshape", "transpose", "slice", "broadcast",
                               "pad"};
  auto print = [&](const Numbers &numbers) {
    os << '[';
    llvm::interleaveComma(numbers, os);
    os << ']';
  };
  os << "loops ";
  print(cuts);
  for (const Step &step : chain) {
    os << ' ' << names[step.kind];
    print(step.result);
    os << "->";
    print(step.operand);
    print(step.dims);
  }
  return text;
}

/// Loops over parts of a space, or a row's number and a row's element.
void LoopIndicesTest::check(unsigned seed, bool asRows) {
  ChainMaker maker(seed);
  int64_t space = 1;
  while (space < 12)
    space = (1 + maker.below(12)) * (1 + maker.below(9)) * (1 + maker.below(5));
  Numbers loops = maker.factorize(space), shape = maker.factorize(space);
  std::vector<Step> chain;
  for (int64_t length = 1 + maker.below(6); length > 0; --length) {
    chain.push_back(maker.step(shape));
    shape = chain.back().operand;
  }
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + textOf(chain, loops));

  Block block;
  builder.setInsertionPointToStart(&block);
  ConstantTables tables(device);
  gpu::GridEmitter emit(builder, loc, &block, tables, device, "test");
  SmallVector<Part> parts, rows, inside;
  SmallVector<Value> counters;
  int64_t stride = space;
  for (int64_t size : loops) {
    stride /= size;
    Value counter = emit.openLoop(emit.constantInt(0), emit.constantInt(size));
    counters.push_back(counter);
    parts.push_back({{counter}, stride, size});
  }
  Index flat;
  int64_t length = 1;
  if (asRows) {
    for (const Part &part : parts)
      (maker.below(2) ? rows : inside).push_back(part);
    for (const Part &part : inside)
      length *= part.size;
    Value element =
        emit.openLoop(emit.constantInt(0), emit.constantInt(length));
    counters.push_back(element);
    flat = emit.addRowElement(emit.addSpace(rows), inside,
                              emit.addSpace(Part{{element}, 1, length}));
    flat.modulus = space;
  } else {
    flat = emit.addSpace(parts);
  }

  SmallVector<Index> at = emit.delinearize(flat, chain.front().result);
  for (const Step &step : chain) {
    at = emitStep(emit, step, at);
    for (const Index &index : at)
      EXPECT_LE(emit.depth(emit.value(index)), emit.depth(ArrayRef(index)));
  }
  Value address = emit.value(emit.linearize(at, shape));

  for (int64_t iteration = 0; iteration < space; ++iteration) {
    Evaluator evaluate;
    int64_t element = 0, below = length;
    for (auto [counted, counter] : llvm::zip(parts, counters)) {
      const Part &part = counted;
      int64_t place = iteration / part.stride % part.size;
      evaluate.known[counter] = place;
      if (llvm::any_of(inside, [&](const Part &piece) {
            return piece.stride == part.stride && piece.size == part.size;
          }))
        element += place * (below /= part.size);
    }
    if (asRows)
      evaluate.known[counters.back()] = element;
    Numbers plain = plainDigits(iteration, chain.front().result);
    for (const Step &step : chain)
      plain = plainStep(step, plain);
    ASSERT_EQ(evaluate(address), plainFlat(plain, shape))
        << "in iteration " << iteration;
  }
}

TEST_F(LoopIndicesTest, ChainsOverLoops) {
  for (unsigned seed = 1; seed <= 3000 && !HasFailure(); ++seed)
    check(seed, /*asRows=*/false);
}

TEST_F(LoopIndicesTest, ChainsOverElementsOfRows) {
  for (unsigned seed = 1; seed <= 3000 && !HasFailure(); ++seed)
    check(seed, /*asRows=*/true);
}

} // namespace
} // namespace autopar::loops
