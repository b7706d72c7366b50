//===- Board.h - What a session tells its ranks -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_BOARD_H
#define AUTOPAR_RUNTIME_SESSION_BOARD_H

#include "../core/Manifest.h"
#include "../core/SharedMemory.h"
#include "../transport/SharedWait.h"

#include <vector>

namespace autopar::runtime {

/// A state of a program: one of the same name and role of each stage that has
/// it.
struct ProgramState {
  const PersistentEntry *entry = nullptr; // of the first stage that has it
  std::vector<int> indices; // of the persistent tensor, by stage; -1: none
};

/// All states, in the order of stages and their tensors.
std::vector<ProgramState> programStates(const Manifest &manifest);

/// A session gives its ranks one of these tasks at a time.
enum class Task : int32_t { Step, ReadState, WriteState, End };

/// Memory that a session shares with its ranks: the task at hand, the tensors
/// of a step, and room for a state. The owner tells a task; each rank does it
/// and says so.
class Board {
public:
  Status create(const Manifest &manifest, SharedMemory &shared);

  /// The whole tensors of the step at hand.
  char *input(size_t index) const { return bytesOf(inputs[index]); }
  char *output(size_t index) const { return bytesOf(outputs[index]); }
  /// The state that the task is about.
  char *state() const { return bytesOf(stateMemory); }

  /// Ranks bring the wanted outputs; the owner says which before it tells a
  /// step.
  bool isWanted(size_t output) const { return wanted()[output] != 0; }
  void want(size_t output, bool isWanted) { wanted()[output] = isWanted; }

  /// Begins a task, which has the number that is returned. `index`: of a state.
  uint32_t tell(Task task, int64_t index);
  /// A rank waits for task number `number`, for as long as it takes.
  void await(uint32_t number, const Patience &patience);
  Task task() const { return header().task; }
  int64_t index() const { return header().index; }
  /// The last task that a rank has done.
  SharedCounter &done(int rank) const { return counters()[rank]; }

  /// A hash of the files from which a rank has read its weights.
  uint64_t &source(int rank) const {
    return static_cast<uint64_t *>(sources.data())[rank];
  }

private:
  struct Header {
    SharedCounter told;
    Task task = Task::Step;
    int64_t index = 0;
  };
  static char *bytesOf(const Buffer &buffer) {
    return static_cast<char *>(buffer.data());
  }
  Header &header() const { return *static_cast<Header *>(headerMemory.data()); }
  SharedCounter *counters() const {
    return static_cast<SharedCounter *>(counterMemory.data());
  }
  char *wanted() const { return bytesOf(wantedMemory); }

  Buffer headerMemory, counterMemory, sources, wantedMemory, stateMemory;
  std::vector<Buffer> inputs, outputs;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_BOARD_H
