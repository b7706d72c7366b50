//===- Fiber.cpp - Threads of a block, switched by hand -------------------===//

#include "Fiber.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define APEMU_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define APEMU_SANITIZED 1
#endif
#endif

#ifdef APEMU_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#error "the emulated GPU's fibers are written for x86-64"
#endif

// void apemuSwitch(void **from, void *to): keeps the caller's stack pointer in
// *from and goes on where `to` was kept.
asm(R"(
.text
.p2align 4
.type apemuSwitch,@function
apemuSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size apemuSwitch, .-apemuSwitch
.p2align 4
.type apemuStart,@function
apemuStart:
  movq %r12, %rdi
  callq *%r13
  ud2
.size apemuStart, .-apemuStart
)");
extern "C" void apemuSwitch(void **from, void *to);
extern "C" void apemuStart();

namespace autopar::runtime::emulated {

#ifdef APEMU_SANITIZED
static constexpr size_t stackBytes = 256 * 1024;
static void leave(void **state, const void *stack, size_t bytes) {
  __sanitizer_start_switch_fiber(state, stack, bytes);
}
static void arrive(void *state, const void **stack, size_t *bytes) {
  __sanitizer_finish_switch_fiber(state, stack, bytes);
}
/// Frames of fibers that never ended have left marks there.
static void clearMarks(const void *memory, size_t bytes) {
  __asan_unpoison_memory_region(memory, bytes);
}
#else
static constexpr size_t stackBytes = 64 * 1024;
static void leave(void **, const void *, size_t) {}
static void arrive(void *, const void **, size_t *) {}
static void clearMarks(const void *, size_t) {}
#endif

//===----------------------------------------------------------------------===//
// Fiber
//===----------------------------------------------------------------------===//

void Fiber::main(Fiber *fiber) {
  FiberPool &pool = *fiber->resumedBy;
  arrive(nullptr, &pool.hostStack, &pool.hostStackBytes);
  fiber->entry(fiber->argument);
  fiber->ended = true;
  fiber->suspend(*fiber->resumedBy);
  __builtin_unreachable(); // an ended fiber is not resumed
}

void Fiber::start(Entry newEntry, void *newArgument) {
  entry = newEntry;
  argument = newArgument;
  sanitizerState = nullptr;
  if (!std::exchange(ended, false))
    clearMarks(stack, bytes);
  // As apemuSwitch leaves a stack: r15, r14, r13, r12, rbx, rbp, return
  // address. apemuStart begins with a stack pointer that is a multiple of 16.
  auto *top = reinterpret_cast<uintptr_t *>(stack + bytes) - 9;
  top[0] = top[1] = top[4] = top[5] = 0;
  top[2] = reinterpret_cast<uintptr_t>(&Fiber::main);
  top[3] = reinterpret_cast<uintptr_t>(this);
  top[6] = reinterpret_cast<uintptr_t>(&apemuStart);
  stackPointer = top;
}

void Fiber::resume(FiberPool &pool) {
  resumedBy = &pool;
  leave(&pool.hostSanitizerState, stack, bytes);
  apemuSwitch(&pool.hostStackPointer, stackPointer);
  arrive(pool.hostSanitizerState, nullptr, nullptr);
}

void Fiber::suspend(FiberPool &pool) {
  leave(&sanitizerState, pool.hostStack, pool.hostStackBytes);
  apemuSwitch(&stackPointer, pool.hostStackPointer);
  arrive(sanitizerState, &pool.hostStack, &pool.hostStackBytes);
}

//===----------------------------------------------------------------------===//
// FiberPool
//===----------------------------------------------------------------------===//

FiberPool::~FiberPool() {
  for (const Mapping &mapping : mappings) {
    clearMarks(mapping.memory, mapping.bytes); // of whoever is there next
    munmap(mapping.memory, mapping.bytes);
  }
}

bool FiberPool::reserve(size_t count) {
  if (count <= fibers.size())
    return true;
  size_t added = count - fibers.size();
  size_t each = Fiber::guardBytes + stackBytes;
  void *memory = mmap(nullptr, added * each, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  mappings.push_back({memory, added * each});
  for (size_t i = 0; i < added; ++i) {
    char *guard = static_cast<char *>(memory) + i * each;
    mprotect(guard, Fiber::guardBytes, PROT_NONE);
    Fiber fiber;
    fiber.stack = guard + Fiber::guardBytes;
    // Tops at different places of a page: caches keep more of them.
    fiber.bytes = stackBytes - fibers.size() * 320 % 4096;
    fibers.push_back(fiber);
  }
  return true;
}

void FiberPool::jumpsOut() {
  leave(nullptr, hostStack, hostStackBytes);
  arrive(hostSanitizerState, nullptr, nullptr);
}

bool FiberPool::guardContains(const void *address) const {
  for (const Fiber &fiber : fibers)
    if (fiber.guardContains(address))
      return true;
  return false;
}

} // namespace autopar::runtime::emulated
