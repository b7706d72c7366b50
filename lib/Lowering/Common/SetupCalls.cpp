//===- SetupCalls.cpp - What a rank does before its first step ------------===//

#include "SetupCalls.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir;

namespace autopar {

namespace {

void collectTensors(const HostArgument &argument, std::vector<int64_t> &into) {
  if (argument.kind == HostArgument::Persistent)
    into.push_back(argument.value);
  for (const HostArgument &element : argument.elements)
    collectTensors(element, into);
}

/// Indices of the persistent tensors that a call names, each once, ascending.
std::vector<int64_t> tensorsOf(const HostCall &call) {
  std::vector<int64_t> tensors;
  for (const HostArgument &argument : call.arguments)
    collectTensors(argument, tensors);
  llvm::sort(tensors);
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

/// A tensor's number, not its address.
Typed<int32_t> numberOf(int64_t tensor) {
  return Typed<int32_t>({HostArgument::Tensor, {}, tensor});
}

/// Places each pack after the call that makes its weight, or at the end.
std::vector<HostCall> placePacks(std::vector<HostCall> setup,
                                 std::vector<HostCall> packs,
                                 ArrayRef<int64_t> bytes) {
  std::map<int64_t, std::vector<HostCall>> waiting; // by tensor
  for (HostCall &pack : packs)
    waiting[tensorsOf(pack).front()].push_back(std::move(pack));
  std::vector<HostCall> calls;
  auto packAll = [&](int64_t tensor) {
    auto it = waiting.find(tensor);
    if (it == waiting.end())
      return;
    llvm::move(it->second, std::back_inserter(calls));
    waiting.erase(it);
  };
  for (HostCall &call : setup) {
    std::vector<int64_t> tensors = tensorsOf(call);
    calls.push_back(std::move(call));
    llvm::for_each(tensors, packAll);
  }
  std::vector<int64_t> rest;
  for (auto &[tensor, calls] : waiting)
    rest.push_back(tensor);
  auto size = [&](int64_t tensor) {
    return tensor < static_cast<int64_t>(bytes.size()) ? bytes[tensor] : 0;
  };
  llvm::stable_sort(rest,
                    [&](int64_t a, int64_t b) { return size(a) > size(b); });
  llvm::for_each(rest, packAll);
  return calls;
}

} // namespace

std::vector<HostCall> setupCalls(const HostProgram &program, int64_t stage,
                                 std::vector<HostCall> setup,
                                 std::vector<HostCall> packs,
                                 ArrayRef<int64_t> bytes) {
  std::vector<HostCall> calls =
      placePacks(std::move(setup), std::move(packs), bytes);
  std::map<int64_t, size_t> last; // by tensor
  for (auto [number, call] : llvm::enumerate(calls))
    for (int64_t tensor : tensorsOf(call))
      last[tensor] = number;
  std::vector<HostCall> result;
  std::set<int64_t> loaded;
  for (auto [number, call] : llvm::enumerate(calls)) {
    Location loc = call.loc;
    std::vector<int64_t> tensors = tensorsOf(call);
    for (int64_t tensor : tensors)
      if (loaded.insert(tensor).second)
        result.push_back(makeCall<aprt_load>(loc, numberOf(tensor)));
    result.push_back(std::move(call));
    for (int64_t tensor : tensors) {
      bool kept = program.readPlain.count({stage, tensor});
      if (last[tensor] == number && !kept)
        result.push_back(makeCall<aprt_release>(loc, numberOf(tensor)));
    }
  }
  return result;
}

} // namespace autopar
