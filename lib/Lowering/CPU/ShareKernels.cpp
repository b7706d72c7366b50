//===- ShareKernels.cpp - One function for kernels of several sizes -------===//
//
// Layers of one kind differ in their sizes alone, and so do the loops of their
// kernels. LLVM compiles such loops once.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_SHAREKERNELS
#include "autopar/Lowering/Passes.h.inc"

namespace {

/// LLVM makes straight code of nests of so many iterations (LimitUnrolling),
/// and of innermost loops of so few vectors.
constexpr int64_t kMostUnrolled = 49, kLeastInnermost = 64;

/// The function of a kernel's loops, and its only call.
struct Kernel {
  LLVM::LLVMFuncOp function;
  LLVM::CallOp call;
};

/// Local functions of structured loops that are called once and not used
/// otherwise, in order.
SmallVector<Kernel> findKernels(ModuleOp module) {
  llvm::MapVector<StringAttr, SmallVector<LLVM::CallOp>> calls;
  llvm::DenseSet<StringAttr> taken;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCallee())
      calls[call.getCalleeAttr().getAttr()].push_back(call);
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      taken.insert(address.getGlobalNameAttr().getAttr());
  });
  SymbolTable symbols(module);
  SmallVector<Kernel> kernels;
  for (auto &[name, callers] : calls) {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(name);
    if (callers.size() == 1 && callers.front().getNumResults() == 0 &&
        !taken.contains(name) && function && function.getBody().hasOneBlock() &&
        function.getLinkage() == LLVM::Linkage::Internal)
      kernels.push_back({function, callers.front()});
  }
  return kernels;
}

/// Indices that the emitter asked for and no access needed tell kernels apart.
void eraseUnused(LLVM::LLVMFuncOp function) {
  function->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// The loops right inside `loop`.
SmallVector<scf::ForOp> loopsIn(scf::ForOp loop) {
  return llvm::to_vector(loop.getBody()->getOps<scf::ForOp>());
}

/// Iterations of all innermost loops in a nest; many where that is computed.
int64_t iterationsOf(scf::ForOp loop) {
  constexpr int64_t many = 1 << 20;
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  int64_t within = 0;
  for (scf::ForOp inner : loopsIn(loop))
    within = std::min(many, within + iterationsOf(inner));
  return end ? std::min(many, *end) * std::max<int64_t>(1, within) : many;
}

bool isInInnermost(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop && loopsIn(loop).empty();
}

/// Returns whether loops are as good where this constant is an argument. In
/// innermost loops LLVM makes shifts of quotients, and chooses the instructions
/// of loads and stores by their strides; a factor of numbers costs nothing
/// anywhere.
bool mayVary(OpOperand &use, Attribute constant) {
  Operation *user = use.getOwner();
  if (isa<FloatAttr>(constant))
    return isa<arith::MulFOp>(user);
  auto size = dyn_cast<IntegerAttr>(constant);
  if (!size || !size.getType().isSignlessInteger(64) || size.getInt() < 2)
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return use.get() == loop.getUpperBound() &&
           iterationsOf(loop) >
               (loopsIn(loop).empty() ? kLeastInnermost - 1 : kMostUnrolled);
  if (isa<arith::MulIOp, arith::DivUIOp, arith::RemUIOp>(user))
    return !isInInnermost(user);
  return isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, LLVM::AllocaOp>(
      user);
}

/// A description that is equal for functions that differ in `constants` alone.
struct Description {
  std::vector<const void *> key;
  SmallVector<OpOperand *> constants;
};

class Describer {
public:
  Description describe(LLVM::LLVMFuncOp function) {
    for (NamedAttribute attribute : function->getAttrDictionary())
      if (attribute.getName() != SymbolTable::getSymbolAttrName())
        add(attribute.getValue());
    add(function.getBody());
    return std::move(result);
  }

private:
  void add(const void *word) { result.key.push_back(word); }
  void add(Attribute attribute) { add(attribute.getAsOpaquePointer()); }
  void add(Type type) { add(type.getAsOpaquePointer()); }
  void add(uint64_t number) { add(reinterpret_cast<const void *>(number)); }

  void define(Value value) {
    numbers.try_emplace(value, numbers.size());
    add(value.getType());
  }

  /// A constant stands for itself, wherever it is made.
  void add(OpOperand &use) {
    auto constant = use.get().getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return add(uint64_t{numbers.at(use.get())});
    if (!mayVary(use, constant.getValue()))
      return add(constant.getValue());
    result.constants.push_back(&use);
    add(constant.getType());
  }

  void add(Region &region) {
    for (Block &block : region) {
      add(uint64_t{block.getNumArguments()});
      for (Value argument : block.getArguments())
        define(argument);
      for (Operation &op : block)
        if (!isa<arith::ConstantOp>(op))
          add(op);
    }
  }

  void add(Operation &op) {
    add(op.getName().getAsOpaquePointer());
    add(op.getAttrDictionary());
    add(uint64_t{op.getNumOperands()});
    for (OpOperand &use : op.getOpOperands())
      add(use);
    for (Value value : op.getResults())
      define(value);
    for (Region &region : op.getRegions())
      add(region);
    add(nullptr);
  }

  Description result;
  std::map<Value, uint64_t, bool (*)(Value, Value)> numbers{
      [](Value a, Value b) {
        return a.getAsOpaquePointer() < b.getAsOpaquePointer();
      }};
};

Attribute valueOf(OpOperand *use) {
  return use->get().getDefiningOp<arith::ConstantOp>().getValue();
}

/// Kernels that are equal but for constants.
class Group {
public:
  void add(Kernel kernel, Description &&description) {
    kernels.push_back(kernel);
    constants.push_back(std::move(description.constants));
  }

  /// The first kernel's function becomes that of all.
  void share() {
    if (kernels.size() == 1)
      return;
    SmallVector<SmallVector<Attribute>> arguments = makeArguments();
    for (auto [kernel, values] : llvm::zip_equal(kernels, arguments))
      call(kernel, values);
    kernels.front().function.setNoInline(true);
  }

private:
  /// Gives the function an argument for each constant that differs; those that
  /// are equal in every kernel share one. Returns its values for each kernel.
  SmallVector<SmallVector<Attribute>> makeArguments() {
    SmallVector<SmallVector<Attribute>> arguments(kernels.size());
    std::map<std::vector<const void *>, BlockArgument> known;
    for (auto [number, use] : llvm::enumerate(constants.front())) {
      SmallVector<Attribute> values;
      std::vector<const void *> key;
      for (ArrayRef<OpOperand *> uses : constants) {
        values.push_back(valueOf(uses[number]));
        key.push_back(values.back().getAsOpaquePointer());
      }
      if (llvm::all_equal(values))
        continue;
      if (auto buffer = dyn_cast<LLVM::AllocaOp>(use->getOwner())) {
        useLargest(buffer, values);
        continue;
      }
      BlockArgument &argument = known[key];
      if (!argument) {
        argument = addArgument(kernels.front().function, values);
        for (auto [list, value] : llvm::zip_equal(arguments, values))
          list.push_back(value);
      }
      use->set(argument);
    }
    return arguments;
  }

  /// Memory on the stack is as large as any of the kernels needs.
  static void useLargest(LLVM::AllocaOp buffer, ArrayRef<Attribute> sizes) {
    Attribute largest = *llvm::max_element(sizes, [](Attribute a, Attribute b) {
      return cast<IntegerAttr>(a).getInt() < cast<IntegerAttr>(b).getInt();
    });
    OpBuilder builder(buffer);
    buffer.getArraySizeMutable().set(arith::ConstantOp::create(
        builder, buffer.getLoc(), cast<IntegerAttr>(largest)));
  }

  /// The attributes of an argument for LLVM: loops over a size are not empty.
  static DictionaryAttr describe(ArrayRef<Attribute> values) {
    Builder builder(values.front().getContext());
    if (!isa<IntegerAttr>(values.front()))
      return builder.getDictionaryAttr({});
    auto sizes = llvm::map_to_vector(values, [](Attribute value) {
      return cast<IntegerAttr>(value).getInt();
    });
    APInt smallest(64, *llvm::min_element(sizes)),
        beyond(64, *llvm::max_element(sizes) + 1);
    return builder.getDictionaryAttr(builder.getNamedAttr(
        LLVM::LLVMDialect::getRangeAttrName(),
        LLVM::ConstantRangeAttr::get(builder.getContext(), smallest, beyond)));
  }

  static BlockArgument addArgument(LLVM::LLVMFuncOp function,
                                   ArrayRef<Attribute> values) {
    Type type = cast<TypedAttr>(values.front()).getType();
    LLVM::LLVMFunctionType old = function.getFunctionType();
    SmallVector<Type> inputs(old.getParams());
    SmallVector<Attribute> attributes(
        inputs.size(), DictionaryAttr::get(function.getContext()));
    if (ArrayAttr given = function.getArgAttrsAttr())
      llvm::copy(given, attributes.begin());
    inputs.push_back(type);
    attributes.push_back(describe(values));
    function.setFunctionType(
        LLVM::LLVMFunctionType::get(old.getReturnType(), inputs));
    function.setArgAttrsAttr(ArrayAttr::get(function.getContext(), attributes));
    return function.getBody().addArgument(type, function.getLoc());
  }

  void call(Kernel kernel, ArrayRef<Attribute> values) {
    LLVM::LLVMFuncOp shared = kernels.front().function;
    OpBuilder builder(kernel.call);
    SmallVector<Value> operands(kernel.call.getArgOperands());
    for (Attribute value : values)
      operands.push_back(arith::ConstantOp::create(
          builder, kernel.call.getLoc(), cast<TypedAttr>(value)));
    LLVM::CallOp::create(builder, kernel.call.getLoc(), shared, operands);
    kernel.call.erase();
    if (kernel.function != shared)
      kernel.function.erase();
  }

  SmallVector<Kernel> kernels;
  SmallVector<SmallVector<OpOperand *>> constants;
};

struct ShareKernelsPass : impl::ShareKernelsBase<ShareKernelsPass> {
  void runOnOperation() override {
    llvm::MapVector<std::vector<const void *>, Group,
                    std::map<std::vector<const void *>, unsigned>>
        groups;
    for (Kernel kernel : findKernels(getOperation())) {
      eraseUnused(kernel.function);
      Description description = Describer().describe(kernel.function);
      groups[description.key].add(kernel, std::move(description));
    }
    for (auto &[key, group] : groups)
      group.share();
  }
};

} // namespace
} // namespace autopar
