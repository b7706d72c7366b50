//===- CudaPorts.cpp - Inputs and outputs of steps on a GPU ---------------===//

#include "CudaPorts.h"

#include <algorithm>
#include <iterator>

namespace autopar::runtime {

static int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

static int64_t bytesOf(const std::vector<Transfer> &transfers) {
  int64_t total = 0;
  for (const Transfer &transfer : transfers)
    total += aligned(transfer.slice.bytes());
  return total;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

CudaInputs::CudaInputs(CudaContext &context)
    : timer(context), context(context), slots{Slot(context), Slot(context)} {}

CudaInputs::~CudaInputs() {
  if (context.isIdle())
    for (Slot &slot : slots)
      (void)context.release(slot.staging);
}

Status CudaInputs::reserve(Slot &slot, int64_t bytes) {
  APRT_TRY(slot.pinned.reserve(bytes, "inputs"));
  if (bytes <= slot.bytes)
    return Status::success();
  APRT_TRY(context.release(std::exchange(slot.staging, nullptr)));
  slot.bytes = 0;
  APRT_TRY(context.allocate(bytes, "the staging of inputs",
                            context.memory.workspace, slot.staging));
  slot.bytes = bytes;
  return Status::success();
}

Status CudaInputs::feed(const std::vector<Transfer> &inputs) {
  now ^= 1;
  Slot &slot = slots[now];
  slot.pieces.clear();
  if (inputs.empty())
    return Status::success();
  // The copies of the micro-batch before the last, which read this slot.
  APRT_TRY(slot.uploaded.wait());
  APRT_TRY(reserve(slot, bytesOf(inputs)));
  APRT_TRY(slot.taken.makeWait(context.copyStream()));
  int64_t offset = 0;
  APRT_TRY(timer.begin(context.copyStream()));
  for (const Transfer &input : inputs) {
    int64_t bytes = input.slice.bytes();
    if (bytes > 0) {
      APRT_TRY(
          input.slice.copy(input.slice.intervals, slot.pinned.data() + offset));
      APRT_CUDA(context.driver, cuMemcpyHtoDAsync_v2,
                deviceAddress(slot.staging) + CUdeviceptr(offset),
                slot.pinned.data() + offset, size_t(bytes),
                context.copyStream());
      slot.pieces.push_back({input.device, offset, bytes});
    }
    offset += aligned(bytes);
  }
  APRT_TRY(timer.end(context.copyStream()));
  return slot.uploaded.record(context.copyStream());
}

Status CudaInputs::arrive() {
  Slot &slot = slots[now];
  if (slot.pieces.empty())
    return Status::success();
  CUstream stream = context.stream(0);
  APRT_TRY(slot.uploaded.makeWait(stream));
  for (const Piece &piece : slot.pieces)
    APRT_CUDA(context.driver, cuMemcpyDtoDAsync_v2, deviceAddress(piece.to),
              deviceAddress(slot.staging) + CUdeviceptr(piece.offset),
              size_t(piece.bytes), stream);
  return slot.taken.record(stream);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

CudaOutputs::CudaOutputs(CudaContext &context)
    : timer(context), context(context), slots{Slot(context), Slot(context)} {}

CudaOutputs::~CudaOutputs() {
  if (context.isIdle())
    for (auto &[tensor, registered] : tensors)
      if (registered)
        (void)context.driver.cuMemHostUnregister(tensor);
}

/// Registers the tensor's memory at its first use.
bool CudaOutputs::goesStraight(const HostSlice &slice) {
  if (!slice.dense || !slice.tensor)
    return false;
  auto [known, isNew] = tensors.try_emplace(slice.tensor, false);
  if (isNew)
    known->second =
        context.driver.cuMemHostRegister_v2(
            slice.tensor, size_t(slice.tensorBytes), 0) == CUDA_SUCCESS;
  return known->second;
}

Status CudaOutputs::copy(const Transfer &output, char *to) {
  int64_t bytes = output.slice.bytes();
  APRT_CUDA(context.driver, cuMemcpyDtoHAsync_v2, to,
            deviceAddress(output.device), size_t(bytes),
            context.currentStream());
  brought += bytes;
  return Status::success();
}

Status CudaOutputs::collect(std::vector<Transfer> outputs) {
  if (!slots[now].outputs.empty()) // the host has not taken them yet
    now ^= 1;
  Slot &slot = slots[now];
  APRT_TRY(drain(slot));
  auto isEmpty = [](const Transfer &output) {
    return output.slice.bytes() == 0;
  };
  outputs.erase(std::remove_if(outputs.begin(), outputs.end(), isEmpty),
                outputs.end());
  if (outputs.empty())
    return Status::success();
  auto staged = std::stable_partition(
      outputs.begin(), outputs.end(),
      [&](const Transfer &output) { return goesStraight(output.slice); });
  slot.outputs.assign(std::make_move_iterator(staged),
                      std::make_move_iterator(outputs.end()));
  outputs.erase(staged, outputs.end());
  APRT_TRY(slot.pinned.reserve(bytesOf(slot.outputs), "outputs"));
  APRT_TRY(timer.begin(context.currentStream()));
  for (const Transfer &output : outputs)
    APRT_TRY(copy(output, output.slice.dense));
  int64_t offset = 0;
  for (const Transfer &output : slot.outputs) {
    APRT_TRY(copy(output, slot.pinned.data() + offset));
    offset += aligned(output.slice.bytes());
  }
  APRT_TRY(timer.end(context.currentStream()));
  return slot.arrived.record(context.currentStream());
}

Status CudaOutputs::drain(Slot &slot) {
  if (slot.outputs.empty())
    return Status::success();
  APRT_TRY(slot.arrived.wait());
  int64_t offset = 0;
  for (const Transfer &output : slot.outputs) {
    APRT_TRY(
        output.slice.copy(output.slice.intervals, slot.pinned.data() + offset));
    offset += aligned(output.slice.bytes());
  }
  slot.outputs.clear();
  return Status::success();
}

/// The older one first.
Status CudaOutputs::drain() {
  APRT_TRY(drain(slots[now ^ 1]));
  return drain(slots[now]);
}

} // namespace autopar::runtime
