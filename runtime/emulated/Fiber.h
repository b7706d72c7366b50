//===- Fiber.h - Threads of a block, switched by hand -----------*- C++ -*-===//
//
// A fiber has a stack of its own with a guard page below it. A switch saves the
// registers that a call preserves: a few nanoseconds.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_FIBER_H
#define AUTOPAR_RUNTIME_EMULATED_FIBER_H

#include <cstddef>
#include <vector>

namespace autopar::runtime::emulated {

class FiberPool;

class Fiber {
public:
  using Entry = void (*)(void *argument);

  /// The next resume() calls entry(argument) on the fiber's stack.
  void start(Entry entry, void *argument);
  /// From the host's stack: runs the fiber until it suspends or ends.
  void resume(FiberPool &pool);
  /// From the fiber's own stack: back to resume()'s caller.
  void suspend(FiberPool &pool);

  bool guardContains(const void *address) const {
    return address >= stack - guardBytes && address < stack;
  }

private:
  friend class FiberPool;
  static constexpr size_t guardBytes = 4096;

  [[noreturn]] static void main(Fiber *fiber);

  char *stack = nullptr; // lowest usable byte
  size_t bytes = 0;
  void *stackPointer = nullptr;
  Entry entry = nullptr;
  void *argument = nullptr;
  FiberPool *resumedBy = nullptr;
  void *sanitizerState = nullptr;
  bool ended = true; // what was started last
};

/// The fibers of one block; their stacks are used again by the next one.
class FiberPool {
public:
  FiberPool() = default;
  FiberPool(const FiberPool &) = delete;
  FiberPool &operator=(const FiberPool &) = delete;
  ~FiberPool();

  /// At least `count` fibers; false if there is no memory for their stacks.
  bool reserve(size_t count);
  Fiber &at(size_t index) { return fibers[index]; }
  bool guardContains(const void *address) const;
  /// The fiber that runs is left by a jump to the host's stack.
  void jumpsOut();

private:
  friend class Fiber;
  struct Mapping {
    void *memory;
    size_t bytes;
  };
  std::vector<Fiber> fibers;
  std::vector<Mapping> mappings;
  void *hostStackPointer = nullptr;
  const void *hostStack = nullptr; // for the sanitizer
  size_t hostStackBytes = 0;
  void *hostSanitizerState = nullptr;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_FIBER_H
