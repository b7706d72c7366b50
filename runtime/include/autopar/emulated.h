//===- emulated.h - Kernels that the emulated GPU runs --------------------===//
//
// A program compiled for `--target emulated` exports its kernels as host code
// in an apemu_module, which the emulated cuModuleLoadData takes in place of a
// fatbin. A kernel's entry runs one thread; grid, blocks, barriers and shuffles
// are kept: what was an intrinsic is a call of a function below, which the stub
// provides. Loads and stores are announced before they are made, so that the
// emulator can check them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EMULATED_H
#define AUTOPAR_EMULATED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define APEMU_MAGIC 0x31554d4550415041ull // "APAPEMU1"
/// The magic number of a module that stands for PTX: the same kernels, in a
/// form that every driver takes.
#define APEMU_PTX_MAGIC 0x3154504550415041ull // "APAPEPT1"

/// One thread of a launch while it runs. The emulator's own state follows.
typedef struct apemu_thread {
  uint32_t thread_index[3], block_index[3], block_size[3], grid_size[3];
  char *shared; // the block's shared memory
} apemu_thread;

enum { APEMU_READ = 1, APEMU_WRITE = 2 };

/// Pointer argument `n` points to `bytes` bytes that the kernel reads, writes
/// or both (APEMU_READ | APEMU_WRITE).
typedef struct apemu_parameter {
  int64_t bytes;
  int64_t access;
} apemu_parameter;

typedef struct apemu_kernel {
  const char *name;
  /// `arguments[n]` points to argument n, as for cuLaunchKernel.
  void (*entry)(void *const *arguments, apemu_thread *thread);
  int64_t synchronises; // 1: it has barriers or shuffles
  int64_t shared_bytes;
  int64_t pointers;                  // leading arguments that are pointers
  int64_t scalars;                   // 64-bit integers after them
  const apemu_parameter *parameters; // `pointers` of them
} apemu_kernel;

typedef struct apemu_module {
  uint64_t magic;
  int64_t count;
  const apemu_kernel *kernels;
} apemu_module;

/// All threads of the block that still run meet here.
void apemu_barrier(apemu_thread *thread);
/// The threads of the warp in `mask` meet here.
void apemu_warp_barrier(apemu_thread *thread, uint32_t mask);

typedef enum apemu_shuffle_mode {
  APEMU_SHUFFLE_IDX = 0,
  APEMU_SHUFFLE_UP = 1,
  APEMU_SHUFFLE_DOWN = 2,
  APEMU_SHUFFLE_XOR = 3
} apemu_shuffle_mode;

/// shfl.sync: the 32 bits that the chosen lane gives; `clamp` as in PTX.
/// `valid` may be null; else it gets 1 if the lane was in range.
uint32_t apemu_shuffle(apemu_thread *thread, uint32_t mask, uint32_t value,
                       uint32_t lane, uint32_t clamp, int32_t mode,
                       int32_t *valid);

/// Announces an access of global memory through pointer argument `parameter`
/// (-1: not known), or of shared memory. `access` is APEMU_READ or APEMU_WRITE.
void apemu_global(apemu_thread *thread, const void *address, int64_t bytes,
                  int32_t access, int32_t parameter);
void apemu_shared(apemu_thread *thread, const void *address, int64_t bytes,
                  int32_t access);

#ifdef __cplusplus
}
#endif

#endif // AUTOPAR_EMULATED_H
