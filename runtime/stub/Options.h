//===- Options.h - Command line of an executable ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_OPTIONS_H
#define AUTOPAR_RUNTIME_STUB_OPTIONS_H

#include "../core/Status.h"
#include "../session/RankOptions.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// --resume-ignoring of where the run is in its data.
inline constexpr const char *kDataRole = "data";

struct Options : RankOptions {
  std::vector<std::string> inputs;   // FILE.npz or NAME=FILE.npy
  std::vector<std::string> outputs;  // likewise
  std::string log, final, gradients; // of a program that trains
  std::string evaluationData;        // rows; empty: the recipe's
  std::string checkpoint;            // folder for checkpoints; empty: none
  std::string resume; // a checkpoint, a folder of them, or "auto"
  std::vector<std::string> ignoring;        // what begins anew, by role
  std::vector<std::string> hyperparameters; // NAME=NUMBER of such
  std::string weights;
  std::string entry; // empty: by the inputs' shapes
  int64_t ranks = 0; // 0: as many as a launcher started, else the first number
  std::string json;
  std::string trace;
  int64_t repeat = 1; // with steps, so many
  int64_t warmUp = 0;
  int64_t steps = 0;      // with data of their own; 0: one, whose data repeat
  int64_t firstStep = 0;  // of them: others were taken by runs before
  int64_t saveSteps = 0;  // between checkpoints; 0: none but the last
  double saveSeconds = 0; // the same in seconds
  std::optional<uint64_t> shuffle; // seed of the order of shards' rows
  int64_t keep = 0;                // so many checkpoints; 0: all
  double graceSeconds = 25;        // for the step in which a signal comes
  std::vector<std::string> doubts; // of the command line, for a person
  bool help = false;
  bool describe = false;
  bool version = false;
};

Status parseOptions(int count, char **arguments, Options &options);

/// The text of --help.
std::string helpText(const std::string &program);

/// Returns whether a result is written to stdout, so that no other text may be.
bool takesStdout(const Options &options);

/// An argument of --inputs or --outputs: an archive, or one array. A path that
/// is not a plain file (`-`, a pipe, a device) takes an archive.
struct ArrayFile {
  std::string name; // empty: the archive of all
  std::string path;
};
Status parseArrayFile(const std::string &argument, ArrayFile &file);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_OPTIONS_H
