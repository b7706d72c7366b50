//===- Board.h - What a session tells its ranks -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_BOARD_H
#define AUTOPAR_RUNTIME_SESSION_BOARD_H

#include "../core/Manifest.h"
#include "../core/RankRecord.h"
#include "../core/SharedMemory.h"
#include "../transport/SharedWait.h"

#include <vector>

namespace autopar::runtime {

/// A state of a program: the tensors of one name and role in all stages that
/// have it.
struct ProgramState {
  const PersistentEntry *entry = nullptr; // of the first stage that has it
  std::vector<int> indices; // of the persistent tensor, by stage; -1: none
};

/// Returns all states, ordered by stages and their tensors.
std::vector<ProgramState> programStates(const Manifest &manifest);

/// The number of events of a rank that a session's trace keeps.
inline constexpr int64_t traceCapacity = 1 << 16;

/// The tasks of ranks. A session gives its ranks one at a time.
enum class Task : int32_t {
  Step,
  ReadState,
  WriteState,
  Measure, // begins anew; the index says whether with a trace
  Report,  // leaves in its record what it measured since
  End
};

/// A slot describes one task: its kind, its entry, and the whole tensors of a
/// step by entry.
class BoardSlot {
public:
  Status create(const std::vector<const Manifest *> &manifests,
                SharedMemory &shared);

  Task task() const { return header().task; }
  size_t entry() const { return size_t(header().entry); }
  int64_t index() const { return header().index; }
  /// Sets the task. `index` is that of a state.
  void set(Task task, size_t entry, int64_t index) {
    header() = {task, int32_t(entry), index};
  }

  char *input(size_t entry, size_t index) const {
    return bytesOf(entries[entry].inputs[index]);
  }
  char *output(size_t entry, size_t index) const {
    return bytesOf(entries[entry].outputs[index]);
  }
  /// Returns whether the output is wanted, so that ranks deliver it.
  bool isWanted(size_t entry, size_t output) const {
    return bytesOf(entries[entry].wanted)[output] != 0;
  }
  void want(size_t entry, size_t output, bool isWanted) {
    bytesOf(entries[entry].wanted)[output] = isWanted;
  }

private:
  struct Header {
    Task task = Task::Step;
    int32_t entry = 0;
    int64_t index = 0;
  };
  struct Entry {
    Buffer wanted;
    std::vector<Buffer> inputs, outputs;
  };
  static Status create(const Manifest &manifest, SharedMemory &shared,
                       Entry &entry);
  static char *bytesOf(const Buffer &buffer) {
    return static_cast<char *>(buffer.data());
  }
  Header &header() const { return *static_cast<Header *>(headerMemory.data()); }

  Buffer headerMemory;
  std::vector<Entry> entries;
};

/// Returns the number of tasks that a program may have under way. It is more
/// than one if the steps of an entry overlap. It is a power of two, so that
/// slots stay consecutive when task numbers wrap around.
size_t slotsOf(const std::vector<const Manifest *> &manifests);

/// The memory that a session shares with its ranks. It has slots for the
/// current tasks, which are numbered from 1, and room for a state. The owner
/// posts a task; each rank does the tasks in order and marks them as done.
class Board {
public:
  Status create(const std::vector<const Manifest *> &manifests,
                SharedMemory &shared);

  /// Returns the slot of task `number`. The owner may change it before it posts
  /// the task, once all ranks have done task `number` - slots().
  BoardSlot &slot(uint32_t number) { return all[number % all.size()]; }
  size_t slots() const { return all.size(); }
  /// Returns the number of the task that will be posted next.
  uint32_t next() const { return told().value.load() + 1; }
  void tell() { told().publish(next()); }
  /// Waits on a rank, without a limit, until task `number` is posted.
  void await(uint32_t number, const Patience &patience);
  /// Returns the number of the last task that a rank has done, plus 1. It is 1
  /// when the rank has loaded.
  SharedCounter &done(int rank) const { return counters()[rank + 1]; }

  char *state() const { return static_cast<char *>(stateMemory.data()); }
  /// Returns the memory for a rank's trace of traceCapacity events.
  TraceEvent *trace(int rank) const {
    return static_cast<TraceEvent *>(traces[size_t(rank)].data());
  }
  /// Returns a hash of the files from which a rank has read an entry's weights.
  uint64_t &source(size_t entry, int rank) const {
    return static_cast<uint64_t *>(sources[entry].data())[rank];
  }

private:
  SharedCounter *counters() const {
    return static_cast<SharedCounter *>(counterMemory.data());
  }
  SharedCounter &told() const { return counters()[0]; }

  Buffer counterMemory, stateMemory;
  std::vector<Buffer> sources; // by entry
  std::vector<Buffer> traces;  // by rank
  std::vector<BoardSlot> all;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_BOARD_H
