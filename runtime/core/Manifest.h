//===- Manifest.h - What a program says about itself ------------*- C++ -*-===//
//
// The parsed form of docs/RuntimeABI.md's manifest. After parseManifest every
// index is in range, every size is non-negative and every product fits.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_MANIFEST_H
#define AUTOPAR_RUNTIME_CORE_MANIFEST_H

#include "DataType.h"
#include "ProgramHashes.h"
#include "Slice.h"
#include "Status.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace autopar::runtime {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

/// A file that the program was compiled from, or that was made beside it.
struct WeightFileEntry {
  std::string name;
  int64_t bytes = 0; // where its last parameter ends; 0: it holds none
  bool isMade = false;
  // The length of the file at that time, its hash without the bytes of
  // parameters, and its hash with them. They are -1 or nullopt if unknown.
  int64_t size = -1;
  std::optional<uint64_t> structure = std::nullopt;
  std::optional<uint64_t> content = std::nullopt;
};

/// A tensor of the model whose value the compiler looked at.
struct KnownTensor {
  std::string name;
  int64_t bytes = 0;
  uint64_t content = 0; // hash of them
};

struct Communicator {
  std::vector<std::string> axes;
  std::vector<std::vector<int>> groups; // world ranks, in member order
  int64_t bytes = 0;                    // the most that one collective moves
};

struct Channel {
  int fromStage = 0;
  int toStage = 0;
  int64_t bytes = 0;
  int64_t slots = 1;
};

struct OpEntry {
  std::string name;
  std::string kind;
  int64_t stream = 0;
  double bytes = 0;
};

/// The place where a stage keeps its local part of an input or output.
struct PortPlacement {
  int stage = 0;
  int64_t arenaOffset = 0;
  /// The persistent tensor of a state, or of an input that is read from the
  /// host's memory. It is -1 if the port is in the arena.
  int64_t persistent = -1;
  /// The op after which a gradient can be read; later ops may overwrite it. It
  /// is -1 if the port can be read at the end of the step.
  int64_t after = -1;
};

/// The meaning of an output.
enum class OutputRole {
  Model, // an output of the model
  Loss,
  GradNorm, // of all gradients, before clipping
  LearningRate,
  LossScale,
  Skipped,  // whether the step changed nothing
  NoLabels, // whether the step counts no label
  Metric    // what a metric is made of
};
/// The names of the roles in manifests, in the order of the enumeration.
inline constexpr const char *outputRoleNames[] = {
    "model",      "loss",    "grad_norm", "learning_rate",
    "loss_scale", "skipped", "no_labels", "metric"};

/// The purpose of a state.
enum class StateRole {
  Model,         // a parameter that changes, or an input of --state
  Optimizer,     // the number of the step, and what is kept of a parameter
  LossScale,     // a scale that adapts
  Random,        // the number of the step, for random numbers
  Extent,        // the rows of growing states that are in use
  Average,       // the average of the parameter of its name
  Hyperparameter // a number of the recipe that is set between steps
};
inline constexpr const char *stateRoleNames[] = {
    "model",  "optimizer", "loss_scale",    "random",
    "extent", "average",   "hyperparameter"};
/// Returns whether a run that resumes may begin the states of this role anew:
/// `optimizer`, `average` or `loss_scale`.
inline bool mayBeginAnew(const std::string &role) {
  for (StateRole known :
       {StateRole::Optimizer, StateRole::Average, StateRole::LossScale})
    if (role == stateRoleNames[int(known)])
      return true;
  return false;
}

/// The numbers that a hyperparameter may be: least <= value < below.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double below = std::numeric_limits<double>::infinity();
  bool isAboveLeast = false; // `least` itself is left out
  bool isInteger = false;
};

/// A bound for indices: the numbers of a part of an input are indices of a
/// tensor of the model. A number outside [-size, size) ends the run. A label,
/// which is a class, must be in [0, size) unless it is `ignored`.
struct IndexBound {
  std::string table;
  int64_t dim = 0;  // of the table
  std::string text; // of labels: what they are
  std::optional<int64_t> ignored;
  int64_t size = 0;
  std::vector<int64_t> shape;         // of the input in the program
  std::vector<int64_t> starts, sizes; // the part of it
};

/// A graph input or output.
struct Port {
  std::string name;
  OutputRole role = OutputRole::Model; // of an output
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape; // global, as users' arrays have it
  std::vector<DimSlice> dims;
  std::vector<PortPlacement> stages;
  std::vector<IndexBound> indexBounds; // of an input
  /// Is true if the input is a boolean per row that says whether the row
  /// counts. All rows count if nobody provides it.
  bool countsRows = false;

  /// The bytes of the global tensor and of a rank's part.
  int64_t globalBytes = 0;
  int64_t localBytes = 0;
};

/// A number that is computed from outputs of an evaluation's steps.
struct Metric {
  enum Kind {
    Mean,    // a sum by a count
    ExpMean, // e to the power of that
    F1,      // counts by class: predicted rightly, predicted, there
    Auc      // scores and labels by row
  };
  std::string name;
  Kind kind = Mean;
  bool isHigherBetter = false;
  std::vector<size_t> outputs; // of the manifest
};
/// The names of the kinds in manifests, in the order of the enumeration.
inline constexpr const char *metricKindNames[] = {"mean", "exp_mean", "f1",
                                                  "auc"};

/// An evaluation measures how good the model is, when a training asks for it.
struct Evaluation {
  std::vector<Metric> metrics;
  size_t best = 0;      // the metric that tells which states are the best
  int64_t every = 0;    // steps between evaluations; 0: one, after the last
  int64_t patience = 0; // evaluations that are no better end the training; 0:
                        // none do
  std::string data;     // where it is; empty: a run says so
};

/// A boolean that each step computes; true ends the run with the message. A
/// check with places is an i32: if it is above 0, the run ends with the message
/// and the place of that number, counted from 1.
struct Check {
  Port port;
  std::string message;
  std::vector<std::string> places;
};

/// An input for whose value the program was compiled.
struct FixedInput {
  std::string name;
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  std::vector<char> data; // of few elements; of many there is the hash
  uint64_t content = 0;
  bool isLarge = false;
  std::string text; // the value as it was given
};

struct PersistentEntry {
  std::string name;
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape; // local
  bool isParameter = false;
  bool isInput = false; // the host holds it
  bool isState = false; // steps write it; a parameter, too, if it begins as one
  StateRole role = StateRole::Model; // of a state
  /// The bytes of each element of a state whose initial value is not a
  /// parameter.
  std::string fill;
  NumberRange range; // of a hyperparameter, a scalar of f64 with a fill
  int64_t bytes = 0; // local

  /// Returns whether setup computes it.
  bool isSetupValue() const { return !isParameter && !isInput && !isState; }
  /// Returns whether arrays of a run may provide the initial value of the
  /// state.
  bool isGivenState() const {
    return isState && !isParameter &&
           (role == StateRole::Model || role == StateRole::Extent);
  }

  // Parameters only.
  int file = 0;
  int64_t offset = 0;
  bool isConstant = false; // of the graph: no name that other files would have
  std::vector<int64_t> globalShape; // as users' files have it
  std::vector<DimSlice> dims;
  int64_t globalBytes = 0;
};

/// A kernel of a program for a GPU.
struct KernelEntry {
  std::string name;
  int64_t threads = 1;     // of a block
  int64_t sharedBytes = 0; // static, of a block
  int64_t scalars = 0;     // arguments after the pointers
  struct BufferEntry {
    int64_t bytes = 0;
    bool reads = false;
    bool writes = false;
  };
  std::vector<BufferEntry> buffers;
};

enum class Target { Cpu, Cuda, Emulated };

struct Manifest {
  std::string model;
  std::string compiler; // name and version
  ProgramHashes hashes; // of a program that trains
  std::string strategy; // that the plan was asked for; empty: not known
  Target target = Target::Cpu;
  bool tf32 = false; // matrix multiplications of f32 may round to tf32
  std::string entry; // "" where the executable has one program only
  std::vector<std::string> cpuFeatures;
  std::vector<std::string> libraries;
  std::vector<MeshAxis> mesh;
  int stages = 1;
  int64_t microBatches = 1;
  std::vector<WeightFileEntry> weightFiles;
  std::vector<KnownTensor> knownTensors;
  std::vector<Communicator> communicators;
  std::vector<Channel> channels;
  std::vector<OpEntry> ops;
  std::vector<KernelEntry> kernels; // of a GPU
  std::vector<Port> inputs;
  std::vector<Check> checks;
  std::vector<FixedInput> fixedInputs;
  std::vector<Port> outputs;
  std::optional<Evaluation> evaluation;
  std::vector<Port> gradients; // of a training step, by parameters' names
  std::vector<Port> trained;   // the states that begin as parameters
  std::vector<Port> averages;  // of some of them, by their names
  /// The states after a step, by the names of the outputs of the model that
  /// they were.
  std::vector<Port> stateOutputs;
  std::vector<std::vector<PersistentEntry>> persistent; // by stage
  std::vector<int64_t> arenaBytes;                      // by stage
  std::vector<int64_t> setupArenaBytes;                 // by stage
  std::vector<int64_t> packedSlots;                     // by stage
  int64_t scheduleSteps =
      0; // where the learning rate's schedule ends; 0: never
  bool stepsOverlap = false; // one begins before others end
  double stepFlops = 0;      // of a device; 0: not known
  double peakFlops = 0;      // of a device, in a second; 0: not known
  double predictedStepSeconds = 0;
  std::vector<double> predictedPeakMemoryBytes; // by stage; may be empty

  /// The index of the axis "time" in mesh, or -1.
  int timeAxis = -1;
  int devicesPerStage = 1;

  /// The number of streams that ops name. Stream 0 always exists.
  int64_t streams = 1;

  int worldSize() const { return stages * devicesPerStage; }
  bool uses(const std::string &library) const;
  /// Returns whether a step trains the model.
  bool trains() const { return !gradients.empty(); }
  /// Returns the index of the output of a training step with this role, or
  /// nullopt.
  std::optional<size_t> outputOf(OutputRole role) const;
  /// Returns the op's name, or a placeholder if the program passes a bad index.
  const char *opName(int op) const;
  const char *opKind(int op) const;
  /// Returns the coordinates of a world rank along every mesh axis, including
  /// time.
  std::vector<int64_t> coordinates(int worldRank, int64_t time) const;
};

/// Parses and validates a manifest. A failure names the key and its problem.
Status parseManifest(const char *text, Manifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_MANIFEST_H
