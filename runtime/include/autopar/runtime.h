//===- runtime.h - The C ABI between a generated program and the runtime --===//
//
// A generated program is a shared object appended to the prebuilt stub
// executable. It exports the aprt_program_* symbols and calls the other aprt_*
// functions, through the table that whoever loads it gives it: the stub, or a
// process that has the runtime as a library. Nothing here depends on LLVM or
// MLIR; a new kind of device implements the same functions.
//
// runtime.def, beside this file, holds the enums, descriptors and functions
// with what each means; this file says what they share and declares them.
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

#define APRT_ABI_VERSION 6
/// The most ranks that a program may have.
#define APRT_MAX_RANKS 4096
/// The most dimensions of an input, an output or a parameter.
#define APRT_MAX_DIMS 32
/// The most batch dimensions of a GEMM and spatial ones of a convolution.
#define APRT_GEMM_MAX_BATCH 4
#define APRT_CONV_MAX_SPATIAL 3

/// One rank's context: arena, persistent tensors, thread pool, transport.
typedef struct aprt_rank aprt_rank;
typedef int32_t aprt_status;
typedef struct aprt_runtime aprt_runtime;

/// A generated kernel. `buffers` are its operands then its results; `scalars`
/// are runtime values such as axis indices. It does the part [begin, end) of
/// its outer parallel iterations and touches nothing that another part writes.
typedef void (*aprt_kernel)(void *const *buffers, const int64_t *scalars,
                            int64_t begin, int64_t end);

/// The functions of one stage. `setup` runs once: it loads the parameters that
/// it reads, computes what steps need of them, packs weights, and releases what
/// no step reads; the runtime then loads all other parameters. `step` runs once
/// per time index (micro-batch) t with the inputs of that t in place.
typedef struct aprt_stage_functions {
  aprt_status (*setup)(aprt_rank *rank);
  aprt_status (*step)(aprt_rank *rank, int64_t t);
} aprt_stage_functions;

/// Enums are C enums; descriptors are structs of int64_t alone, so that code
/// generation can emit them as arrays of 64-bit words.
#define APRT_ENUM(type) typedef enum type {
#define APRT_ENUMERATOR(name, number) name = number,
#define APRT_ENUM_END(type)                                                    \
  }                                                                            \
  type;
#define APRT_DESCRIPTOR(type) typedef struct type {
#define APRT_WORD(name) int64_t name;
#define APRT_WORDS(name, count) int64_t name[count];
#define APRT_ENUM_WORD(type, name) int64_t name;
#define APRT_DESCRIPTOR_END(type)                                              \
  }                                                                            \
  type;
#define APRT_FUNCTION(result, name, parameters) result name parameters;
#define APRT_EXPORT(type, name) extern const type name[];
#define APRT_EXPORT_VARIABLE(type, name) extern type name;
#include "autopar/runtime.def"

/// The functions of a runtime, in the order of runtime.def.
struct aprt_runtime {
#define APRT_FUNCTION(result, name, parameters) result(*name) parameters;
#include "autopar/runtime.def"
};

#ifdef __cplusplus
}
#endif

#endif // AUTOPAR_RUNTIME_H
