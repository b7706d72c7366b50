//===- runtime.h - The C ABI between a generated program and the runtime --===//
//
// A generated program is a shared object appended to the prebuilt stub
// executable. It exports the two symbols at the end of this file and calls the
// aprt_* functions below, which the stub provides. Nothing here depends on LLVM
// or MLIR; a new kind of device implements the same functions.
//
// Conventions
//   - Every call returns a status; 0 is success. A failing call has already
//     recorded a message that names rank, op and cause; the generated code
//     returns the status at once.
//   - `op` indexes the manifest's "ops" table (name, kind, stream), for traces,
//     deadlines and error messages.
//   - Tensors are dense and row-major. A collective over dimension d of a
//     tensor sees it as [outer, d, inner], with inner counted in elements.
//   - A dimension of n elements over k ranks is k blocks of B = ceil(n/k);
//     rank j owns [j*B, min(n, (j+1)*B)). Bytes of a block past that are
//     unspecified.
//   - `comm` indexes the manifest's "communicators" table. Within a
//     communicator members are ordered major to minor over its mesh axes.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_H
#define AUTOPAR_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define APRT_ABI_VERSION 2
/// The most ranks that a program may have.
#define APRT_MAX_RANKS 4096

/// One rank's context: arena, persistent tensors, thread pool, transport.
typedef struct aprt_rank aprt_rank;
typedef int32_t aprt_status;

typedef enum aprt_dtype {
  APRT_BOOL = 0, // one byte, 0 or 1
  APRT_I8 = 1,
  APRT_U8 = 2,
  APRT_I16 = 3,
  APRT_U16 = 4,
  APRT_I32 = 5,
  APRT_U32 = 6,
  APRT_I64 = 7,
  APRT_U64 = 8,
  APRT_F16 = 9,
  APRT_BF16 = 10,
  APRT_F32 = 11,
  APRT_F64 = 12
} aprt_dtype;

typedef enum aprt_reduce {
  APRT_SUM = 0,
  APRT_PROD = 1,
  APRT_MAX = 2,
  APRT_MIN = 3
} aprt_reduce;

typedef enum aprt_activation {
  APRT_ACT_NONE = 0,
  APRT_ACT_RELU = 1,
  APRT_ACT_GELU_ERF = 2,
  APRT_ACT_GELU_TANH = 3,
  APRT_ACT_TANH = 4,
  APRT_ACT_SIGMOID = 5,
  APRT_ACT_SILU = 6
} aprt_activation;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Base of the rank's arena (64-byte aligned, size from the manifest).
void *aprt_arena(aprt_rank *rank);

/// Persistent tensor `index` of the manifest's "persistent" table: a
/// parameter's local slice, a result of setup, or an input's slice, which step
/// reads in the launcher's array. The others have an address from aprt_load, at
/// the latest from the end of setup, until aprt_release; then they are null.
void *aprt_persistent(aprt_rank *rank, int32_t index);

/// Called by setup before persistent tensor `index` is first used: reads a
/// parameter's slice from its file, or makes room for a result of setup.
aprt_status aprt_load(aprt_rank *rank, int32_t index);

/// Called by setup after the last use of a persistent tensor that no step
/// reads: frees it.
aprt_status aprt_release(aprt_rank *rank, int32_t index);

/// This rank's linear index within its group of communicator `comm`.
int64_t aprt_axis_index(aprt_rank *rank, int32_t comm);

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

/// A generated kernel. `buffers` are its operands then its results; `scalars`
/// are runtime values such as axis indices. It does the part [begin, end) of
/// its outer parallel iterations and touches nothing that another part writes.
typedef void (*aprt_kernel)(void *const *buffers, const int64_t *scalars,
                            int64_t begin, int64_t end);

/// Runs `kernel` over [0, work), cut into pieces of at least `grain` iterations
/// for the rank's threads.
aprt_status aprt_launch(aprt_rank *rank, int32_t op, aprt_kernel kernel,
                        void *const *buffers, const int64_t *scalars,
                        int64_t work, int64_t grain);

/// Launches kernel `kernel` of the manifest's "kernels" table on a GPU:
/// `blocks` blocks of the table's number of threads. `buffers` and `scalars`
/// hold as many entries as the table says and become the kernel's arguments,
/// pointers first.
aprt_status aprt_launch_grid(aprt_rank *rank, int32_t op, int32_t kernel,
                             void *const *buffers, const int64_t *scalars,
                             int64_t blocks);

/// Batched GEMM with a fused epilogue:
///   C[b...] = activation(A[b...] * B[b...] + bias) + addend
/// A is [batch..., m, k], B is [batch..., k, n], C is [batch..., m, n], each
/// with its own element strides (a broadcast batch dimension has stride 0). The
/// last two strides of A and B may be swapped (transposed operand). The addend
/// has C's strides and may be C itself. All int64_t so that code generation can
/// emit it as an array of 64-bit words.
#define APRT_GEMM_MAX_BATCH 4
typedef struct aprt_gemm_desc {
  int64_t dtype;      // of A, B and C: an aprt_dtype
  int64_t batch_rank; // 0 to APRT_GEMM_MAX_BATCH
  int64_t batch[APRT_GEMM_MAX_BATCH];
  int64_t m, n, k;
  int64_t a_strides[APRT_GEMM_MAX_BATCH + 2]; // batch..., m, k
  int64_t b_strides[APRT_GEMM_MAX_BATCH + 2]; // batch..., k, n
  int64_t c_strides[APRT_GEMM_MAX_BATCH + 2]; // batch..., m, n
  int64_t bias;       // 0 none, 1 one value per column (n)
  int64_t addend;     // 0 none, 1 present
  int64_t activation; // an aprt_activation
  int64_t slot;       // index of the packed form of B, or -1: B is not packed
} aprt_gemm_desc;

aprt_status aprt_gemm(aprt_rank *rank, int32_t op, const aprt_gemm_desc *desc,
                      const void *a, const void *b, const void *bias,
                      const void *addend, void *c);

/// Called by setup for a constant B: packs it into slot desc->slot.
aprt_status aprt_gemm_pack(aprt_rank *rank, int32_t op,
                           const aprt_gemm_desc *desc, const void *b);

/// Convolution over 1 to 3 spatial dimensions with a fused epilogue:
///   Y = activation(conv(X, W) + bias [+ addend])
/// X is [n, c, spatial...], W is [o, c/groups, window...], Y is [n, o, ...],
/// dense; with `channels_last` X, Y and the addend are [n, spatial..., c].
#define APRT_CONV_MAX_SPATIAL 3
typedef struct aprt_conv_desc {
  int64_t dtype;
  int64_t spatial_rank;
  int64_t n, c, o, groups;
  int64_t in[APRT_CONV_MAX_SPATIAL];
  int64_t window[APRT_CONV_MAX_SPATIAL];
  int64_t out[APRT_CONV_MAX_SPATIAL];
  int64_t strides[APRT_CONV_MAX_SPATIAL];
  int64_t dilations[APRT_CONV_MAX_SPATIAL]; // 1 is dense
  int64_t pad_low[APRT_CONV_MAX_SPATIAL];
  int64_t pad_high[APRT_CONV_MAX_SPATIAL];
  int64_t bias;   // 0 none, 1 one value per output channel
  int64_t addend; // 0 none, 1 added before the activation; it may be Y itself
  int64_t activation;
  int64_t slot; // index of the packed form of W, or -1
  int64_t channels_last;
} aprt_conv_desc;

aprt_status aprt_conv(aprt_rank *rank, int32_t op, const aprt_conv_desc *desc,
                      const void *x, const void *w, const void *bias,
                      const void *addend, void *y);

aprt_status aprt_conv_pack(aprt_rank *rank, int32_t op,
                           const aprt_conv_desc *desc, const void *w);

//===----------------------------------------------------------------------===//
// Collectives: every member of the communicator calls them in the same order.
// Reductions add in member order, so results are the same in every run.
//===----------------------------------------------------------------------===//

/// out[i] = reduction over members of in[i]; `out` may be `in`.
aprt_status aprt_all_reduce(aprt_rank *rank, int32_t op, int32_t comm,
                            aprt_reduce kind, aprt_dtype dtype, int64_t count,
                            const void *in, void *out);

/// in [outer, B, inner] -> out [outer, size, inner]; member j's block goes to
/// [j*B, min(size, (j+1)*B)) of out.
aprt_status aprt_all_gather(aprt_rank *rank, int32_t op, int32_t comm,
                            aprt_dtype dtype, int64_t outer, int64_t size,
                            int64_t block, int64_t inner, const void *in,
                            void *out);

/// in [outer, size, inner] -> out [outer, block, inner]: member j gets the
/// reduction of everyone's [j*B, min(size, (j+1)*B)).
aprt_status aprt_reduce_scatter(aprt_rank *rank, int32_t op, int32_t comm,
                                aprt_reduce kind, aprt_dtype dtype,
                                int64_t outer, int64_t size, int64_t block,
                                int64_t inner, const void *in, void *out);

/// Member j holds all of dimension `split_dim` and its block of `concat_dim`;
/// afterwards it holds its block of split_dim and all of concat_dim. `in_shape`
/// and `out_shape` have `rank_of_tensor` entries (1 to 8).
aprt_status aprt_all_to_all(aprt_rank *rank, int32_t op, int32_t comm,
                            aprt_dtype dtype, int32_t rank_of_tensor,
                            const int64_t *in_shape, const int64_t *out_shape,
                            int32_t split_dim, int32_t concat_dim,
                            const void *in, void *out);

/// in [outer, block, inner] is the member's block of a dimension of `size`
/// elements; out [outer, length, inner] is the interval that starts at
/// j*step + offset of the same dimension. Positions outside [0, size) are
/// filled with `fill` (converted to dtype). The interval may reach over any
/// number of neighbours.
aprt_status aprt_halo(aprt_rank *rank, int32_t op, int32_t comm,
                      aprt_dtype dtype, int64_t outer, int64_t size,
                      int64_t block, int64_t inner, int64_t step,
                      int64_t offset, int64_t length, double fill,
                      const void *in, void *out);

/// Point to point between pipeline stages. `channel` indexes the manifest's
/// "channels"; the peer is the rank with the same place in the other stage.
/// A send returns as soon as the bytes are out of `data`.
aprt_status aprt_send(aprt_rank *rank, int32_t op, int32_t channel,
                      const void *data, int64_t bytes);
aprt_status aprt_recv(aprt_rank *rank, int32_t op, int32_t channel, void *data,
                      int64_t bytes);

//===----------------------------------------------------------------------===//
// Streams: work of one stream runs in order; events order streams. The stream
// of an op is in the manifest's row of it. The CPU device runs each stream's
// work at once, so that an event is already done.
//===----------------------------------------------------------------------===//

aprt_status aprt_event_record(aprt_rank *rank, int32_t op, int32_t event);
aprt_status aprt_event_wait(aprt_rank *rank, int32_t op, int32_t event);

//===----------------------------------------------------------------------===//
// What a generated program exports
//===----------------------------------------------------------------------===//

/// The functions of one stage. `setup` runs once: it loads the parameters that
/// it reads, computes what steps need of them, packs weights, and releases what
/// no step reads; the runtime then loads all other parameters. `step` runs once
/// per time index (micro-batch) t with the inputs of that t in place.
typedef struct aprt_stage_functions {
  aprt_status (*setup)(aprt_rank *rank);
  aprt_status (*step)(aprt_rank *rank, int64_t t);
} aprt_stage_functions;

/// Exported by the program as `aprt_program_stages` (array, one per stage) and
/// `aprt_program_manifest` (JSON text, zero-terminated; docs/RuntimeABI.md).
extern const aprt_stage_functions aprt_program_stages[];
extern const char aprt_program_manifest[];

/// Exported as `aprt_program_device_code` by programs for a GPU: what
/// cuModuleLoadData takes. Target "cuda": a fatbin. Target "emulated": an
/// apemu_module (autopar/emulated.h).
extern const char aprt_program_device_code[];
/// Exported beside it, unless that is PTX already: the same kernels for a
/// driver that refuses it. Target "cuda": PTX of the oldest architecture
/// (zero-terminated text). Target "emulated": an apemu_module of
/// APEMU_PTX_MAGIC.
extern const char aprt_program_device_ptx[];

#ifdef __cplusplus
}
#endif

#endif // AUTOPAR_RUNTIME_H
