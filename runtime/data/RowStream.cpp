//===- RowStream.cpp - Rows of shards as the samples of steps -------------===//

#include "RowStream.h"

#include <algorithm>

namespace autopar::runtime {

Status RowStream::checkColumn(const Shards::Column &column, const Port &port,
                              int64_t &batch) {
  auto fail = [&](const std::string &what) {
    return Status::error("input '" + port.name + "' is " +
                         describeTensor(port.dtype, port.shape) + what);
  };
  if (port.shape.empty())
    return fail(", one number: shards cannot have it");
  std::vector<int64_t> row(port.shape.begin() + 1, port.shape.end());
  if (column.dtype != port.dtype || column.rowShape != row)
    return fail(", so that a row is " + describeTensor(port.dtype, row) +
                ", but rows of the data are " +
                describeTensor(column.dtype, column.rowShape) +
                (column.dtype != port.dtype
                     ? "; convert them, nothing is cast here"
                     : ""));
  if (batch != 0 && batch != port.shape.front())
    return fail(", and other inputs have " + std::to_string(batch) +
                " rows: give this one as an array of a file, with a leading "
                "dimension of steps");
  batch = port.shape.front();
  return Status::success();
}

Status RowStream::open(Shards opened, const Manifest &manifest,
                       std::optional<uint64_t> shuffle) {
  shards = std::move(opened);
  seed = shuffle;
  schedule = {};
  schedule.rows = shards.rows();
  schedule.batch = 0;
  for (const Port &port : manifest.inputs) {
    schedule.keepsLast |= port.countsRows;
    if (const Shards::Column *column = shards.find(port.name))
      APRT_TRY(checkColumn(*column, port, schedule.batch));
  }
  if (schedule.rows == 0 || schedule.stepsOf(schedule.rows) == 0)
    return Status::error(
        "'" + shards.where() + "' has " + std::to_string(schedule.rows) +
        " rows; " +
        (schedule.keepsLast
             ? "one at least is needed"
             : "a step takes " + std::to_string(schedule.batch)));
  return Status::success();
}

std::optional<DataPlace> RowStream::placeOf(int64_t step) const {
  if (!isOpen())
    return std::nullopt;
  StepRows next = schedule.at(step);
  return DataPlace{next.epoch, next.first, schedule.rows, seed, shards.hash()};
}

std::string RowStream::nameOf(int64_t step) const {
  return firstStep ? "step " + std::to_string(*firstStep + step)
                   : "the evaluation";
}

Status RowStream::resume(const DataPlace &place) {
  auto differs = [&](const std::string &what) {
    return Status::error("the checkpoint's run read other data: " + what +
                         "; --resume-ignoring data begins these anew");
  };
  if (!isOpen())
    return differs("rows of shards, of which --data names none");
  if (place.rows != schedule.rows)
    return differs("'" + shards.where() + "' has " +
                   std::to_string(schedule.rows) + " rows, and those had " +
                   std::to_string(place.rows));
  if (place.shards != shards.hash())
    return differs("the files of '" + shards.where() +
                   "' have as many rows, but other names, lengths or arrays");
  if (place.seed != seed)
    return differs(place.seed
                       ? "it had --shuffle " + std::to_string(*place.seed)
                       : "it had no --shuffle");
  schedule.epoch = place.epoch;
  schedule.first = place.row;
  return Status::success();
}

} // namespace autopar::runtime
