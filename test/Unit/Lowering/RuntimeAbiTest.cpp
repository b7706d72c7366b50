//===- RuntimeAbiTest.cpp - What Lowering reads from the table ------------===//

#include "lib/Lowering/Common/HostCalls.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace autopar {
namespace {

// Pointers convert as in C, numbers not at all.
static_assert(std::is_convertible_v<Typed<void *>, Typed<const void *>>);
static_assert(!std::is_convertible_v<Typed<const void *>, Typed<void *>>);
static_assert(std::is_convertible_v<std::nullptr_t, Typed<const void *>>);
static_assert(!std::is_convertible_v<std::nullptr_t, Typed<int32_t>>);
static_assert(!std::is_convertible_v<int32_t, Typed<int32_t>>);
static_assert(!std::is_convertible_v<Typed<int32_t>, Typed<int64_t>>);
static_assert(!std::is_convertible_v<Typed<const aprt_gemm_desc *>,
                                     Typed<const aprt_conv_desc *>>);
static_assert(!std::is_convertible_v<HostArgument, Typed<void *>>);

std::string typeText(const abi::Function &function) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << Type(abi::llvmType(&context, function));
  return text;
}

TEST(RuntimeAbi, TypesFollowTheDeclarations) {
  EXPECT_EQ(typeText(abi::function<aprt_arena>), "!llvm.func<ptr (ptr)>");
  EXPECT_EQ(typeText(abi::function<aprt_axis_index>),
            "!llvm.func<i64 (ptr, i32)>");
  EXPECT_EQ(typeText(abi::function<aprt_halo>),
            "!llvm.func<i32 (ptr, i32, i32, i32, i64, i64, i64, i64, i64, i64, "
            "i64, f64, ptr, ptr)>");
}

TEST(RuntimeAbi, ParametersKnowEnumsAndDescriptors) {
  const abi::Function &reduce = abi::function<aprt_all_reduce>;
  EXPECT_EQ(reduce.name, "aprt_all_reduce");
  EXPECT_TRUE(reduce.parameters[0].values.empty());
  EXPECT_EQ(abi::textOf(reduce.parameters[2].values, APRT_MAX), "APRT_MAX");
  EXPECT_EQ(abi::textOf(reduce.parameters[3].values, APRT_BF16), "APRT_BF16");
  EXPECT_EQ(abi::textOf(reduce.parameters[3].values, 99), "99");
  EXPECT_EQ(abi::function<aprt_conv_pack>.parameters[1].descriptor,
            &abi::descriptor<aprt_conv_desc>);
  EXPECT_EQ(abi::function<aprt_conv_pack>.parameters[2].descriptor, nullptr);
  EXPECT_EQ(abi::dtypeName(APRT_BF16), "bf16");
}

/// Fields in the order and of the sizes of the struct.
template <typename T> void expectFields(size_t slot) {
  int64_t words = 0;
  for (const abi::Field &field : abi::descriptor<T>.fields) {
    if (field.name == "slot") {
      EXPECT_EQ(size_t(words) * sizeof(int64_t), slot);
    }
    words += field.words;
  }
  EXPECT_EQ(words, abi::descriptor<T>.words);
}

TEST(RuntimeAbi, DescriptorsAreTheirStructs) {
  expectFields<aprt_gemm_desc>(offsetof(aprt_gemm_desc, slot));
  expectFields<aprt_conv_desc>(offsetof(aprt_conv_desc, slot));
  aprt_gemm_desc desc = {};
  desc.m = 7;
  desc.slot = 3;
  std::vector<int64_t> words = abi::wordsOf(desc);
  EXPECT_EQ(words[offsetof(aprt_gemm_desc, m) / sizeof(int64_t)], 7);
  EXPECT_EQ(abi::fromWords<aprt_gemm_desc>(words).slot, 3);
}

TEST(RuntimeAbi, NumbersBecomeConstantsOfTheParameter) {
  MLIRContext context;
  HostCall call = makeCall<aprt_send>(UnknownLoc::get(&context),
                                      Typed<int32_t>({HostArgument::Op, {}, 4}),
                                      2, nullptr, int64_t(16));
  ASSERT_EQ(call.arguments.size(), 4u);
  EXPECT_EQ(call.callee->name, "aprt_send");
  EXPECT_EQ(call.arguments[0].kind, HostArgument::Op);
  EXPECT_EQ(call.arguments[1].attribute,
            Builder(&context).getI32IntegerAttr(2));
  EXPECT_EQ(call.arguments[2].kind, HostArgument::Null);
  EXPECT_EQ(call.arguments[3].attribute,
            Builder(&context).getI64IntegerAttr(16));
}

} // namespace
} // namespace autopar
