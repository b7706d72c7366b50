//===- RunCheckpoints.h - Where a training goes on, and saves ---*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_RUNCHECKPOINTS_H
#define AUTOPAR_RUNTIME_STUB_RUNCHECKPOINTS_H

#include "../checkpoint/Checkpoint.h"
#include "../checkpoint/CheckpointWriter.h"
#include "../data/RowReader.h"
#include "Options.h"

#include <memory>
#include <optional>

namespace autopar::runtime {

/// The checkpoint that a run goes on from, and the folder into which it saves.
class RunCheckpoints {
public:
  /// Opens both. The steps that were taken then are no longer to be taken:
  /// `options` gets the first step and how many are left. `notes` is what a
  /// person is told.
  Status open(Options &options, std::vector<std::string> &notes);
  /// The same on the other ranks of a launcher, of which rank 0 holds the
  /// folder and has opened the checkpoint of `step` (-1: none).
  Status follow(Options &options, int64_t step);
  /// Fails unless the program can go on, and be saved; so do `rows`, from where
  /// the checkpoint's run was in them.
  Status check(const Manifest &program, const Options &options,
               RowStream &rows);
  /// Tells a person from where the run goes on; "" if it begins.
  std::string goesOn(const Options &options) const;
  /// Tells a person that the program is made of something else than the one
  /// that wrote the checkpoint; "" if it is not, or the run begins.
  std::string doubt(const Manifest &program) const;

  /// Null: the run begins.
  const Checkpoint *resumed() const { return from ? &*from : nullptr; }
  /// The best evaluation of the runs before; none without a checkpoint.
  std::optional<BestPlace> bestPlace() const {
    return from ? from->about().place.best : std::nullopt;
  }
  /// Null: nothing is saved.
  const CheckpointFolder *folder() const { return to.get(); }
  CheckpointBoard board; // made with the run, where something is saved

private:
  Status checkUsed(const Options &options) const;
  Status goOn(Options &options) const;
  Status findResumed(const Options &options, std::vector<std::string> &notes);

  std::optional<Checkpoint> from;
  std::unique_ptr<CheckpointFolder> to;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_RUNCHECKPOINTS_H
