//===- HostCalls.cpp - A host function as a list of calls -----------------===//

#include "HostCalls.h"
#include "Repeats.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;

namespace autopar {

namespace {

/// A loop costs about as much code as this many calls.
constexpr size_t kLeastSaved = 3;

void appendKey(std::vector<int64_t> &key, const HostArgument &argument,
               bool places) {
  key.push_back(argument.kind);
  key.push_back(
      reinterpret_cast<int64_t>(argument.attribute.getAsOpaquePointer()));
  if (places && argument.isPlace())
    llvm::append_values(key, argument.value, argument.column);
  key.push_back(argument.elements.size());
  for (const HostArgument &element : argument.elements)
    appendKey(key, element, places);
}

void collectPlaces(HostArgument &argument, std::vector<HostArgument *> &into) {
  if (argument.isPlace())
    into.push_back(&argument);
  for (HostArgument &element : argument.elements)
    collectPlaces(element, into);
}

std::vector<HostArgument *> placesOf(MutableArrayRef<HostCall> calls) {
  std::vector<HostArgument *> places;
  for (HostCall &call : calls)
    for (HostArgument &argument : call.arguments)
      collectPlaces(argument, places);
  return places;
}

/// Calls get the same token if they differ in places only.
std::vector<unsigned> tokensOf(ArrayRef<HostCall> calls) {
  std::map<std::vector<int64_t>, unsigned> numbers;
  std::vector<unsigned> tokens;
  for (const HostCall &call : calls)
    tokens.push_back(
        numbers.try_emplace(keyOf(call, /*places=*/false), numbers.size())
            .first->second);
  return tokens;
}

/// The first repetition is the body. Places that move alike share a column,
/// those that never move need none.
HostLoop makeLoop(MutableArrayRef<HostCall> calls, const Repeat &repeat) {
  HostLoop loop;
  loop.count = repeat.count;
  std::vector<std::vector<HostArgument *>> rows;
  for (size_t row = 0; row < repeat.count; ++row)
    rows.push_back(placesOf(
        calls.slice(repeat.begin + row * repeat.period, repeat.period)));
  std::map<std::vector<int64_t>, int> known; // by moves from the first row
  for (size_t place = 0; place < rows.front().size(); ++place) {
    std::vector<int64_t> values, moves;
    for (auto &row : rows) {
      values.push_back(row[place]->value);
      moves.push_back(values.back() - values.front());
    }
    if (llvm::all_of(moves, [](int64_t move) { return move == 0; }))
      continue;
    auto [it, isNew] = known.try_emplace(moves, loop.columns.size());
    if (isNew)
      loop.columns.push_back(values);
    HostArgument &argument = *rows.front()[place];
    argument.column = it->second;
    argument.value -= loop.columns[it->second].front();
  }
  for (HostCall &call : calls.slice(repeat.begin, repeat.period))
    loop.body.push_back(std::move(call));
  return loop;
}

} // namespace

HostArgument constantArgument(MLIRContext *context, int32_t number) {
  return {HostArgument::Constant, Builder(context).getI32IntegerAttr(number)};
}

HostArgument constantArgument(MLIRContext *context, int64_t number) {
  return {HostArgument::Constant, Builder(context).getI64IntegerAttr(number)};
}

HostArgument constantArgument(MLIRContext *context, double number) {
  return {HostArgument::Constant, Builder(context).getF64FloatAttr(number)};
}

std::vector<int64_t> keyOf(ArrayRef<HostCall> calls, bool places) {
  std::vector<int64_t> key;
  for (const HostCall &call : calls) {
    llvm::append_values(key, reinterpret_cast<int64_t>(call.callee),
                        call.arguments.size());
    for (const HostArgument &argument : call.arguments)
      appendKey(key, argument, places);
  }
  return key;
}

std::vector<HostLoop> rollCalls(std::vector<HostCall> calls) {
  std::vector<HostLoop> loops;
  size_t done = 0;
  auto straightTo = [&](size_t end) {
    if (done == end)
      return;
    HostLoop straight;
    for (; done < end; ++done)
      straight.body.push_back(std::move(calls[done]));
    loops.push_back(std::move(straight));
  };
  for (const Repeat &repeat : findRepeats(tokensOf(calls), kLeastSaved)) {
    straightTo(repeat.begin);
    loops.push_back(makeLoop(calls, repeat));
    done = repeat.end();
  }
  straightTo(calls.size());
  return loops;
}

} // namespace autopar
