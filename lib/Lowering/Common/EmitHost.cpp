//===- EmitHost.cpp - Lists of calls as functions -------------------------===//
//
// A straight run of calls becomes code in its function. A repeated one becomes
// a function of its own, called in a loop with each row of a table of places;
// runs that repeat alike, in other stages too, share that function.
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"

using namespace mlir;

namespace autopar {

namespace {

/// Builds a function from its calls. The arguments are the rank, then the
/// micro-batch if there is one, then for a repeated body its row.
class Emitter {
public:
  enum Form { Plain, WithTime, Repeated };
  Emitter(HostProgram &program, StringRef name, Form form, Location loc);

  void call(const HostCall &call);
  void loop(const HostLoop &loop);
  LLVM::LLVMFuncOp finish();

private:
  static LLVM::LLVMFunctionType typeOf(MLIRContext *context, Form form);
  Value entryValue(function_ref<Value()> build);
  Value once(ArrayRef<int64_t> key, function_ref<Value()> build);
  Value constant(TypedAttr value);
  Value int32(int64_t value) {
    return constant(builder.getI32IntegerAttr(value));
  }
  Value int64(int64_t value) {
    return constant(builder.getI64IntegerAttr(value));
  }
  Value resultOf(const HostCall &call);
  Value wordAt(Value array, Value index);
  Value column(int number);
  Value place(const HostArgument &argument);
  Value int32Place(const HostArgument &argument);
  Value byteAt(Value base, const HostArgument &bytes);
  Value persistent(const HostArgument &argument);
  Value argument(const HostArgument &argument);
  Value stackArray(Type type, ValueRange values);
  Value axisIndex(ArrayAttr axes);
  Value position(ArrayAttr axes);
  Value timeDigit(const SubAxis &subAxis);
  void check(Value status);
  LLVM::LLVMFuncOp bodyOf(const HostLoop &loop);

  HostProgram &program;
  OpBuilder builder;
  Location loc;
  LLVM::LLVMFuncOp function;
  Block *entry, *fail;
  Operation *entryEnd; // values used everywhere are made before it
  Type i32, i64, pointer;
  Value rank, time, row;
  std::map<std::vector<int64_t>, Value> made; // in the entry
  std::map<const void *, std::pair<LLVM::AllocaOp, int64_t>> stacks;
};

LLVM::LLVMFunctionType Emitter::typeOf(MLIRContext *context, Form form) {
  using Body = aprt_status (*)(aprt_rank *, int64_t t, const int64_t *row);
  switch (form) {
  case Plain:
    return abi::llvmType(context, aprt_stage_functions().setup);
  case WithTime:
    return abi::llvmType(context, aprt_stage_functions().step);
  case Repeated:
    return abi::llvmType(context, Body());
  }
  llvm_unreachable("all forms are above");
}

Emitter::Emitter(HostProgram &program, StringRef name, Form form, Location loc)
    : program(program), builder(program.module.getContext()), loc(loc),
      i32(builder.getI32Type()), i64(builder.getI64Type()),
      pointer(LLVM::LLVMPointerType::get(builder.getContext())) {
  builder.setInsertionPointToEnd(program.module.getBody());
  function = LLVM::LLVMFuncOp::create(builder, loc, name,
                                      typeOf(builder.getContext(), form),
                                      LLVM::Linkage::Internal);
  // A long line of calls, which wait for what they call.
  function.setOptimizeNone(true);
  function.setNoInline(true);
  entry = function.addEntryBlock(builder);
  Block *body = builder.createBlock(&function.getBody());
  fail = builder.createBlock(&function.getBody());
  Value status = fail->addArgument(i32, loc);
  LLVM::ReturnOp::create(builder, loc, status);
  builder.setInsertionPointToEnd(entry);
  entryEnd = LLVM::BrOp::create(builder, loc, body);
  builder.setInsertionPointToEnd(body);
  rank = entry->getArgument(0);
  time = form == Plain ? entryValue([&] { return int64(0); })
                       : Value(entry->getArgument(1));
  if (form == Repeated)
    row = entry->getArgument(2);
}

LLVM::LLVMFuncOp Emitter::finish() {
  LLVM::ReturnOp::create(builder, loc, int32(0));
  fail->moveBefore(&function.getBody(), function.getBody().end());
  return function;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Emitter::entryValue(function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(entryEnd);
  return build();
}

Value Emitter::once(ArrayRef<int64_t> key, function_ref<Value()> build) {
  auto [it, isNew] = made.try_emplace(key.vec());
  if (isNew) {
    Value value = entryValue(build); // may make others
    made[key.vec()] = value;
    return value;
  }
  return it->second;
}

Value Emitter::constant(TypedAttr value) {
  return LLVM::ConstantOp::create(builder, loc, value.getType(), value);
}

Value Emitter::resultOf(const HostCall &call) {
  SmallVector<Value> values{rank};
  for (const HostArgument &given : call.arguments)
    values.push_back(argument(given));
  return LLVM::CallOp::create(builder, loc, program.declare(*call.callee),
                              values)
      .getResult();
}

/// Address of a word of an array.
Value Emitter::wordAt(Value array, Value index) {
  return LLVM::GEPOp::create(builder, loc, pointer, i64, array,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value Emitter::column(int number) {
  return once({HostArgument::Op, number}, [&]() -> Value {
    return LLVM::LoadOp::create(builder, loc, i64, wordAt(row, int64(number)));
  });
}

Value Emitter::place(const HostArgument &argument) {
  if (argument.column < 0)
    return int64(argument.value);
  Value base = column(argument.column);
  if (argument.value == 0)
    return base;
  return LLVM::AddOp::create(builder, loc, base, int64(argument.value));
}

Value Emitter::int32Place(const HostArgument &argument) {
  if (argument.column < 0)
    return int32(argument.value);
  return LLVM::TruncOp::create(builder, loc, i32, place(argument));
}

/// The address as many bytes behind `base` as the place says.
Value Emitter::byteAt(Value base, const HostArgument &bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{place(bytes)});
}

/// Asks for the address of a persistent tensor where it is used: an input is
/// elsewhere in each micro-batch, and a tensor has its address from aprt_load
/// on.
Value Emitter::persistent(const HostArgument &argument) {
  HostArgument number{HostArgument::Tensor, {}, argument.value};
  number.column = argument.column;
  Value tensor =
      resultOf(makeCall<aprt_persistent>(loc, Typed<int32_t>(number)));
  if (argument.elements.empty())
    return tensor;
  return byteAt(tensor, argument.elements.front());
}

Value Emitter::argument(const HostArgument &argument) {
  switch (argument.kind) {
  case HostArgument::Null:
    return LLVM::ZeroOp::create(builder, loc, pointer);
  case HostArgument::Constant:
  case HostArgument::Kernel:
    return constant(cast<TypedAttr>(argument.attribute));
  case HostArgument::Function:
    return LLVM::AddressOfOp::create(
        builder, loc, pointer, cast<FlatSymbolRefAttr>(argument.attribute));
  case HostArgument::Position:
    return position(cast<ArrayAttr>(argument.attribute));
  case HostArgument::Array: {
    SmallVector<Value> values;
    for (const HostArgument &element : argument.elements)
      values.push_back(this->argument(element));
    return stackArray(cast<TypeAttr>(argument.attribute).getValue(), values);
  }
  case HostArgument::Words:
    return wordAt(LLVM::AddressOfOp::create(builder, loc, pointer, kWords),
                  place(argument));
  case HostArgument::Op:
  case HostArgument::Tensor:
    return int32Place(argument);
  case HostArgument::Arena: {
    Value arena = once({HostArgument::Arena}, [&]() -> Value {
      return resultOf(makeCall<aprt_arena>(loc));
    });
    return byteAt(arena, argument);
  }
  case HostArgument::Persistent:
    return persistent(argument);
  case HostArgument::Offset:
    break; // of another argument
  }
  llvm_unreachable("all kinds are above");
}

/// Valid until the next array of that type is made.
Value Emitter::stackArray(Type type, ValueRange values) {
  auto &[array, size] = stacks[type.getAsOpaquePointer()];
  int64_t wanted = std::max<int64_t>(1, values.size());
  if (!array)
    array = entryValue([&]() -> Value {
              return LLVM::AllocaOp::create(builder, loc, pointer, type,
                                            int64(1), /*alignment=*/8);
            }).getDefiningOp<LLVM::AllocaOp>();
  if (wanted > size) {
    size = wanted;
    auto count = array.getArraySize().getDefiningOp<LLVM::ConstantOp>();
    count.setValueAttr(builder.getI64IntegerAttr(size));
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    Value place = LLVM::GEPOp::create(
        builder, loc, pointer, type, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    LLVM::StoreOp::create(builder, loc, value, place);
  }
  return array;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Value Emitter::axisIndex(ArrayAttr axes) {
  return resultOf(makeCall<aprt_axis_index>(loc, program.communicator(axes)));
}

Value Emitter::timeDigit(const SubAxis &subAxis) {
  Value digit =
      LLVM::UDivOp::create(builder, loc, time, int64(subAxis.divisor));
  return LLVM::URemOp::create(builder, loc, digit, int64(subAxis.size));
}

/// The device's index along `axes`. Without the time axis the runtime knows it;
/// with it, the index is put together sub-axis by sub-axis.
Value Emitter::position(ArrayAttr axes) {
  SmallVector<unsigned> subAxes;
  for (auto axis : axes.getAsRange<StringAttr>())
    if (auto found = program.mesh.lookup(axis.getValue()))
      llvm::append_range(subAxes, *found);
  std::vector<int64_t> key{HostArgument::Position};
  llvm::append_range(key, subAxes);
  return once(key, [&]() -> Value {
    auto isTime = [&](unsigned subAxis) {
      return program.mesh.subAxes()[subAxis].time;
    };
    if (llvm::none_of(subAxes, isTime))
      return axisIndex(axes);
    Value index = int64(0);
    for (unsigned subAxis : subAxes) {
      const SubAxis &what = program.mesh.subAxes()[subAxis];
      Value digit =
          what.time ? timeDigit(what)
                    : axisIndex(builder.getStrArrayAttr(StringRef(what.name)));
      index = LLVM::MulOp::create(builder, loc, index, int64(what.size));
      index = LLVM::AddOp::create(builder, loc, index, digit);
    }
    return index;
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns the status unless it is 0.
void Emitter::check(Value status) {
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      status, int32(0));
  Block *now = builder.getInsertionBlock();
  Block *next = builder.createBlock(fail);
  builder.setInsertionPointToEnd(now);
  LLVM::CondBrOp::create(builder, loc, failed, fail, ValueRange{status}, next,
                         ValueRange{});
  builder.setInsertionPointToEnd(next);
}

void Emitter::call(const HostCall &call) {
  loc = call.loc;
  check(resultOf(call));
}

LLVM::LLVMFuncOp Emitter::bodyOf(const HostLoop &loop) {
  LLVM::LLVMFuncOp &known = program.repeated[keyOf(loop.body, /*places=*/true)];
  if (known)
    return known;
  std::string name = "repeat_" + std::to_string(program.repeated.size() - 1);
  Emitter body(program, name, Repeated, loop.body.front().loc);
  for (const HostCall &call : loop.body)
    body.call(call);
  return known = body.finish();
}

/// Row by row: status = body(rank, time, row).
void Emitter::loop(const HostLoop &loop) {
  loc = loop.body.front().loc;
  int64_t width = loop.columns.size();
  std::vector<int64_t> words;
  for (int64_t row = 0; row < loop.count; ++row)
    for (const std::vector<int64_t> &column : loop.columns)
      words.push_back(column[row]);
  LLVM::GlobalOp table =
      program.makeWords("places_" + std::to_string(program.tables++), words);
  LLVM::LLVMFuncOp body = bodyOf(loop);
  Value zero = int64(0);
  Block *now = builder.getInsertionBlock();
  Block *header = builder.createBlock(fail, {i64}, {loc});
  builder.setInsertionPointToEnd(now);
  LLVM::BrOp::create(builder, loc, ValueRange{zero}, header);
  builder.setInsertionPointToEnd(header);
  Value number = header->getArgument(0);
  Value first = LLVM::MulOp::create(builder, loc, number, int64(width));
  Value places = wordAt(LLVM::AddressOfOp::create(builder, loc, table), first);
  check(LLVM::CallOp::create(builder, loc, body, ValueRange{rank, time, places})
            .getResult());
  Value next = LLVM::AddOp::create(builder, loc, number, int64(1));
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult,
                                    next, int64(loop.count));
  Block *last = builder.getInsertionBlock();
  Block *after = builder.createBlock(fail);
  builder.setInsertionPointToEnd(last);
  LLVM::CondBrOp::create(builder, loc, more, header, ValueRange{next}, after,
                         ValueRange{});
  builder.setInsertionPointToEnd(after);
}

} // namespace

void emitHostFunction(HostProgram &program, StringRef name, bool hasTime,
                      std::vector<HostCall> calls) {
  Emitter emitter(program, name, hasTime ? Emitter::WithTime : Emitter::Plain,
                  program.module.getLoc());
  std::vector<HostLoop> loops = rollCalls(std::move(calls));
  for (const HostLoop &loop : loops) {
    if (!loop.columns.empty()) {
      emitter.loop(loop);
      continue;
    }
    for (const HostCall &call : loop.body)
      emitter.call(call);
  }
  emitter.finish();
  program.listings.push_back({name.str(), hasTime, std::move(loops)});
}

} // namespace autopar
