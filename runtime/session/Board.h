//===- Board.h - What a session tells its ranks -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_BOARD_H
#define AUTOPAR_RUNTIME_SESSION_BOARD_H

#include "../core/Manifest.h"
#include "../core/RankRecord.h"
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

/// Events of a rank that a session's trace keeps.
inline constexpr int64_t traceCapacity = 1 << 16;

/// A session gives its ranks one of these tasks at a time.
enum class Task : int32_t {
  Step,
  ReadState,
  WriteState,
  Measure, // begins anew; the index says whether with a trace
  Report,  // leaves in its record what it measured since
  End
};

/// A slot says what one task is about: its kind, its entry and by entry the
/// whole tensors of a step.
class BoardSlot {
public:
  Status create(const std::vector<const Manifest *> &manifests,
                SharedMemory &shared);

  Task task() const { return header().task; }
  size_t entry() const { return size_t(header().entry); }
  int64_t index() const { return header().index; }
  /// `index`: of a state.
  void set(Task task, size_t entry, int64_t index) {
    header() = {task, int32_t(entry), index};
  }

  char *input(size_t entry, size_t index) const {
    return bytesOf(entries[entry].inputs[index]);
  }
  char *output(size_t entry, size_t index) const {
    return bytesOf(entries[entry].outputs[index]);
  }
  /// Ranks bring the wanted outputs.
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

/// Memory that a session shares with its ranks: slots for the tasks at hand,
/// which have numbers from 1 on, and room for a state. The owner tells a task;
/// each rank does the tasks in order and says so.
class Board {
public:
  Status create(const std::vector<const Manifest *> &manifests,
                SharedMemory &shared);

  /// The slot of task `number`. The owner may change it before it tells the
  /// task, once all ranks have done task `number` - slots().
  BoardSlot &slot(uint32_t number) { return all[number % all.size()]; }
  size_t slots() const { return all.size(); }
  /// The number of the task that will be told next.
  uint32_t next() const { return told().value.load() + 1; }
  void tell() { told().publish(next()); }
  /// A rank waits for task number `number`, for as long as it takes.
  void await(uint32_t number, const Patience &patience);
  /// The last task that a rank has done, plus 1; 1: it has loaded.
  SharedCounter &done(int rank) const { return counters()[rank + 1]; }

  char *state() const { return static_cast<char *>(stateMemory.data()); }
  /// Room for a rank's trace, of traceCapacity events.
  TraceEvent *trace(int rank) const {
    return static_cast<TraceEvent *>(traces[size_t(rank)].data());
  }
  /// A hash of the files from which a rank has read an entry's weights.
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
