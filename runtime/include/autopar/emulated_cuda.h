//===- emulated_cuda.h - CUDA C++ kernels on the emulated GPU ---*- C++ -*-===//
//
// Included before CUDA sources that a host compiler compiles: what they use of
// CUDA, for one thread of the emulated GPU (autopar/emulated.h). Kernels keep
// grid, blocks, barriers, shared memory and shuffles.
//
//   #include <autopar/emulated_cuda.h>
//   #include "kernels.cu"
//   static const apemu_parameter sumParameters[] = {{4096, APEMU_READ}, ...};
//   static const apemu_kernel kernels[] = {
//       apemu::kernel<&sum>("sum", 1, 128, sumParameters)};
//   APEMU_PROGRAM(kernels)
//
// Compiled with -fsanitize=thread (and not linked with it), every access of
// global memory is announced to the emulator, which checks bounds, races and
// uninitialised reads; memory that kernels write counts as initialised only
// then. Shared memory is a static variable: blocks run one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EMULATED_CUDA_H
#define AUTOPAR_EMULATED_CUDA_H

#include "emulated.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

#define APEMU_UNCHECKED __attribute__((noinline, no_sanitize("thread")))

namespace apemu {

/// The thread that runs on this host thread, and the upper end of its stack:
/// set at its start and whenever it comes back from where others ran.
struct Running {
  apemu_thread *thread;
  const void *stack;
};
inline thread_local Running running{};

struct Index {
  unsigned x, y, z;
};

APEMU_UNCHECKED inline Running current() { return running; }
APEMU_UNCHECKED inline void resume(Running self) { running = self; }
APEMU_UNCHECKED inline Index indexOf(const uint32_t (apemu_thread::*which)[3]) {
  const uint32_t *words = running.thread->*which;
  return {words[0], words[1], words[2]};
}

} // namespace apemu

#define threadIdx (apemu::indexOf(&apemu_thread::thread_index))
#define blockIdx (apemu::indexOf(&apemu_thread::block_index))
#define blockDim (apemu::indexOf(&apemu_thread::block_size))
#define gridDim (apemu::indexOf(&apemu_thread::grid_size))

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static

/// Each place in the source is a barrier of its own.
__attribute__((always_inline)) inline void __syncthreads() {
  apemu::Running self = apemu::current();
  apemu_barrier(self.thread);
  apemu::resume(self);
}

__attribute__((always_inline)) inline void
__syncwarp(uint32_t mask = 0xffffffffu) {
  apemu::Running self = apemu::current();
  apemu_warp_barrier(self.thread, mask);
  apemu::resume(self);
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

namespace apemu {

/// A value of 1 to 8 bytes, 32 bits at a time; `width` lanes are a segment.
template <typename T>
T shuffle(uint32_t mask, T value, uint32_t lane, int width, int32_t mode) {
  static_assert(sizeof(T) <= 8, "shuffles move up to 8 bytes");
  uint32_t words[2] = {0, 0};
  std::memcpy(words, &value, sizeof(T));
  uint32_t clamp = uint32_t(32 - width) << 8;
  if (mode != APEMU_SHUFFLE_UP)
    clamp |= 31;
  Running self = current();
  for (unsigned word = 0; word < (sizeof(T) + 3) / 4; ++word)
    words[word] = apemu_shuffle(self.thread, mask, words[word], lane, clamp,
                                mode, nullptr);
  resume(self);
  std::memcpy(&value, words, sizeof(T));
  return value;
}

} // namespace apemu

template <typename T>
T __shfl_sync(uint32_t mask, T value, int lane, int width = 32) {
  return apemu::shuffle(mask, value, uint32_t(lane), width, APEMU_SHUFFLE_IDX);
}
template <typename T>
T __shfl_up_sync(uint32_t mask, T value, unsigned by, int width = 32) {
  return apemu::shuffle(mask, value, by, width, APEMU_SHUFFLE_UP);
}
template <typename T>
T __shfl_down_sync(uint32_t mask, T value, unsigned by, int width = 32) {
  return apemu::shuffle(mask, value, by, width, APEMU_SHUFFLE_DOWN);
}
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int bits, int width = 32) {
  return apemu::shuffle(mask, value, uint32_t(bits), width, APEMU_SHUFFLE_XOR);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

inline float __int_as_float(int bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline int __float_as_int(float value) {
  int bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

struct __half {
  uint16_t bits;
};
struct __nv_bfloat16 {
  uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 value) {
  return __int_as_float(int(uint32_t(value.bits) << 16));
}

/// Rounds to the nearest, ties to even; a NaN stays a NaN.
inline __nv_bfloat16 __float2bfloat16(float value) {
  uint32_t bits = uint32_t(__float_as_int(value));
  if (std::isnan(value))
    return {0x7fff};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline float __half2float(__half value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  uint32_t exponent = value.bits >> 10 & 31, fraction = value.bits & 1023;
  if (exponent == 0) { // zero, or a multiple of 2^-24
    float number = std::ldexp(float(fraction), -24);
    return sign ? -number : number;
  }
  uint32_t high = exponent == 31 ? 255 : exponent + 112;
  return __int_as_float(int(sign | high << 23 | fraction << 13));
}

/// Rounds to the nearest, ties to even.
inline __half __double2half(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(value);
  if (std::isnan(value))
    return {0x7fff};
  if (size >= 65520.0)
    return {uint16_t(sign | 0x7c00)};
  if (size < 0x1p-14)
    return {uint16_t(sign | uint16_t(std::nearbyint(size * 0x1p24)))};
  int exponent = std::ilogb(size);
  auto fraction =
      uint32_t(std::nearbyint(std::ldexp(size, 10 - exponent))); // 1024 to 2048
  return {uint16_t(sign | (uint32_t(exponent + 14) * 1024 + fraction))};
}
inline __half __float2half(float value) { return __double2half(value); }
inline __nv_bfloat16 __double2bfloat16(double value) {
  return __float2bfloat16(float(value));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using std::isfinite;
using std::isinf;
using std::isnan;

template <typename T> T min(T a, T b) { return b < a ? b : a; }
template <typename T> T max(T a, T b) { return a < b ? b : a; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace apemu {

template <typename... P> struct Parameters {
  static constexpr int64_t pointers = (int64_t(std::is_pointer_v<P>) + ... + 0);
  static constexpr int64_t scalars = int64_t(sizeof...(P)) - pointers;
};

template <auto function> struct Entry;
template <typename... P, void (*function)(P...)> struct Entry<function> {
  using Counts = Parameters<P...>;

  template <size_t... number>
  APEMU_UNCHECKED static void call(void *const *arguments,
                                   std::index_sequence<number...>) {
    function(*static_cast<P *>(arguments[number])...);
  }
  APEMU_UNCHECKED static void run(void *const *arguments,
                                  apemu_thread *thread) {
    resume({thread, __builtin_frame_address(0)});
    call(arguments, std::index_sequence_for<P...>());
  }
};

/// The row of a kernel. `synchronises`: 1 if it has barriers or shuffles.
template <auto function, size_t count>
constexpr apemu_kernel kernel(const char *name, int64_t synchronises,
                              int64_t sharedBytes,
                              const apemu_parameter (&parameters)[count]) {
  using E = Entry<function>;
  static_assert(E::Counts::pointers == count, "one row for each pointer");
  return {name,
          &E::run,
          synchronises,
          sharedBytes,
          E::Counts::pointers,
          E::Counts::scalars,
          parameters};
}

} // namespace apemu

/// Exports the kernels of an array as the program's device code.
#define APEMU_PROGRAM(kernels)                                                 \
  extern "C" {                                                                 \
  extern const apemu_module aprt_program_device_code;                          \
  const apemu_module aprt_program_device_code = {                              \
      APEMU_MAGIC, int64_t(sizeof(kernels) / sizeof(kernels[0])), kernels};    \
  extern const apemu_module aprt_program_device_ptx;                           \
  const apemu_module aprt_program_device_ptx = {                               \
      APEMU_PTX_MAGIC, int64_t(sizeof(kernels) / sizeof(kernels[0])),          \
      kernels};                                                                \
  }

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

#ifdef __SANITIZE_THREAD__

extern "C" {
extern char __data_start, _end;
}

namespace apemu {

/// Variables of the thread and of the block are not the device's memory.
APEMU_UNCHECKED inline bool isOwn(const void *address) {
  auto place = reinterpret_cast<uintptr_t>(address);
  bool onStack =
      place > reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) &&
      place < reinterpret_cast<uintptr_t>(running.stack);
  return onStack || (place >= reinterpret_cast<uintptr_t>(&__data_start) &&
                     place < reinterpret_cast<uintptr_t>(&_end));
}

APEMU_UNCHECKED inline void announce(const void *address, int64_t bytes,
                                     int32_t access) {
  if (running.thread && !isOwn(address))
    apemu_global(running.thread, address, bytes, access, /*parameter=*/-1);
}

} // namespace apemu

#define APEMU_HOOK(name, access, bytes)                                        \
  APEMU_UNCHECKED void __tsan_##name(void *address) {                          \
    apemu::announce(address, bytes, access);                                   \
  }
#define APEMU_HOOKS(bytes)                                                     \
  APEMU_HOOK(read##bytes, APEMU_READ, bytes)                                   \
  APEMU_HOOK(write##bytes, APEMU_WRITE, bytes)                                 \
  APEMU_HOOK(unaligned_read##bytes, APEMU_READ, bytes)                         \
  APEMU_HOOK(unaligned_write##bytes, APEMU_WRITE, bytes)

extern "C" {
APEMU_HOOKS(1)
APEMU_HOOKS(2)
APEMU_HOOKS(4)
APEMU_HOOKS(8)
APEMU_HOOKS(16)
APEMU_UNCHECKED void __tsan_read_range(void *address, long bytes) {
  apemu::announce(address, bytes, APEMU_READ);
}
APEMU_UNCHECKED void __tsan_write_range(void *address, long bytes) {
  apemu::announce(address, bytes, APEMU_WRITE);
}
APEMU_UNCHECKED void __tsan_init() {}
APEMU_UNCHECKED void __tsan_func_entry(void *) {}
APEMU_UNCHECKED void __tsan_func_exit(void *) {}
}

#endif // __SANITIZE_THREAD__

#endif // AUTOPAR_EMULATED_CUDA_H
