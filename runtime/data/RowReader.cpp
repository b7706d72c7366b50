//===- RowReader.cpp - Rows of shards, read ahead of steps ----------------===//

#include "RowReader.h"

#include "../core/MemoryGuard.h"
#include "../core/QuietThread.h"
#include "../session/HeldPorts.h"
#include "../session/IndexCheck.h"

#include <chrono>

namespace autopar::runtime {

RowReader::RowReader(const RowStream &stream, const Manifest &manifest,
                     int rank, int64_t steps)
    : stream(stream), manifest(manifest), rank(rank), steps(steps) {
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    if (const Shards::Column *column =
            stream.shards.find(manifest.inputs[i].name)) {
      Input &input = inputs.emplace_back();
      input.index = i;
      input.column = column;
      findNeeded(input);
    }
  counted.assign(size_t(stream.schedule.batch), 1);
  counted.resize(size_t(2 * stream.schedule.batch), 0);
}

/// Finds the rows of which the rank reads an element in any micro-batch.
void RowReader::findNeeded(Input &input) const {
  const Port &port = manifest.inputs[input.index];
  input.isNeeded.assign(size_t(port.shape.front()), 0);
  int64_t rowElements = input.column->rowBytes / elementBytes(port.dtype);
  for (const LocalPort &local : inputsOfRank(manifest, rank))
    for (int64_t time = 0;
         local.index == input.index && time < manifest.microBatches; ++time)
      (void)forEachRun(intervalsOf(port.dims, manifest.coordinates(rank, time)),
                       [&](const SliceRun &run) {
                         int64_t last = run.globalOffset + run.count - 1;
                         for (int64_t row = run.globalOffset / rowElements;
                              run.count > 0 && row <= last / rowElements; ++row)
                           input.isNeeded[size_t(row)] = 1;
                         return true;
                       });
}

RowReader::~RowReader() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

Status RowReader::takeMemory() {
  auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  int64_t each = 0;
  for (const Input &input : inputs)
    each += aligned(manifest.inputs[input.index].globalBytes);
  APRT_TRY(
      memory.allocate(slots * each, "rows of the data", /*counter=*/nullptr));
  auto *next = static_cast<char *>(memory.data());
  for (int64_t slot = 0; slot < slots; ++slot)
    for (Input &input : inputs) {
      input.tensors[slot] = next;
      next += aligned(manifest.inputs[input.index].globalBytes);
    }
  return Status::success();
}

Status RowReader::start() {
  APRT_TRY(takeMemory());
  thread = startQuietThread([this] { work(); });
  return Status::success();
}

void RowReader::work() {
  for (int64_t step = 0; step < steps; ++step) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return ends || step <= asked + slots - 2; });
      if (ends)
        return;
    }
    Status status = guardMemory("reading rows", [&] { return read(step); });
    std::lock_guard<std::mutex> lock(mutex);
    failure = status;
    done += status.ok();
    changed.notify_all();
    if (status.failed())
      return;
  }
}

Status RowReader::read(int64_t step) {
  StepRows rows = stream.schedule.at(step);
  RowOrder order(stream.schedule.rows, stream.seed, rows.epoch);
  for (Input &input : inputs) {
    char *tensor = input.tensors[step % slots];
    APRT_TRY(readInput(input, order, rows, tensor));
    APRT_TRY(check(input, order, rows, tensor, step));
  }
  return Status::success();
}

/// Reads an input. Rows that are consecutive in the data are read together.
Status RowReader::readInput(Input &input, const RowOrder &order,
                            const StepRows &rows, char *to) const {
  int64_t bytes = input.column->rowBytes;
  for (int64_t at = 0; at < rows.count;) {
    if (!input.isNeeded[size_t(at)]) {
      ++at;
      continue;
    }
    int64_t row = order.at(rows.first + at), count = 1;
    while (at + count < rows.count && input.isNeeded[size_t(at + count)] &&
           order.at(rows.first + at + count) == row + count)
      ++count;
    APRT_TRY(stream.shards.read(*input.column, row, count, to + at * bytes));
    at += count;
  }
  return Status::success();
}

/// Checks the indices. Rows that the rank does not read are zeros, which are
/// valid indices of any table.
Status RowReader::check(const Input &input, const RowOrder &order,
                        const StepRows &rows, const char *tensor,
                        int64_t step) const {
  const Port &port = manifest.inputs[input.index];
  int64_t element = -1;
  Status status = checkIndices(port, tensor, /*steps=*/0, &element);
  if (status.ok())
    return status;
  int64_t row = element * elementBytes(port.dtype) / input.column->rowBytes;
  return Status::error(
      stream.nameOf(step) + ", " +
      stream.shards.placeOf(*input.column, order.at(rows.first + row)) + ": " +
      status.message());
}

Status RowReader::await(int64_t step, double seconds,
                        std::vector<const char *> &tensors) {
  std::unique_lock<std::mutex> lock(mutex);
  asked = step;
  changed.notify_all();
  bool isThere =
      changed.wait_for(lock, std::chrono::duration<double>(seconds),
                       [&] { return done > step || failure.failed(); });
  if (!isThere)
    return Status::error("the rows of " + stream.nameOf(step) +
                         " are not read after " + std::to_string(int(seconds)) +
                         " s; see the disk of '" + stream.shards.where() +
                         "', or give --timeout more");
  if (done <= step)
    return failure;
  for (const Input &input : inputs)
    tensors[input.index] = input.tensors[step % slots];
  int64_t missing = stream.schedule.batch - stream.schedule.at(step).count;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (manifest.inputs[i].countsRows)
      tensors[i] = counted.data() + missing;
  return Status::success();
}

} // namespace autopar::runtime
