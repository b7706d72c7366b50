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

/// The checkpoint that a run resumes from, and the folder that it saves to.
class RunCheckpoints {
public:
  /// Opens both. `options` gets the first step and the number of remaining
  /// steps, without those that the checkpoint has taken. `notes` receives
  /// messages for the user.
  Status open(Options &options, std::vector<std::string> &notes);
  /// Does the same on the other ranks of a launcher. Rank 0 has locked the
  /// folder and opened the checkpoint of `step`, or none if it is -1.
  Status follow(Options &options, int64_t step);
  /// Checks that the program can resume and be saved. The same holds for
  /// `rows`, at the position of the checkpoint's run. `doubts` says what of the
  /// checkpoint is not as a run that resumes expects it: it is of another model
  /// or recipe, has states that are not finite, or no position in the rows.
  Status check(const Manifest &program, const Options &options, RowStream &rows,
               std::vector<std::string> &doubts);
  /// Returns a message about the point at which the run resumes, or "" if it
  /// begins.
  std::string goesOn(const Options &options) const;

  /// Returns the checkpoint, or null if the run begins.
  const Checkpoint *resumed() const { return from ? &*from : nullptr; }
  /// Returns the best evaluation of the runs before, on the rows whose
  /// Shards::hash() is `rows`; nullopt if there is none.
  std::optional<BestPlace> bestOn(uint64_t rows) const;
  /// Warns if the best evaluation of the runs before was on other rows, with
  /// which those of this run cannot be compared.
  void checkBest(uint64_t rows, std::vector<std::string> &doubts) const;
  /// Returns the folder, or null if nothing is saved.
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
