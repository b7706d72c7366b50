//===- OneDnn.h - oneDNN loaded at run time ---------------------*- C++ -*-===//
//
// libdnnl.so.2 is opened only for programs that name it. All calls go through
// the one table below.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_ONEDNN_H
#define AUTOPAR_RUNTIME_CPU_ONEDNN_H

#include "../core/Memory.h"
#include "../core/Status.h"
#include "Workspace.h"

#include <oneapi/dnnl/dnnl.h>

/// Every function of the library that the runtime calls.
#define APRT_ONEDNN_FUNCTIONS(X)                                               \
  X(dnnl_dilated_convolution_backward_weights_desc_init)                       \
  X(dnnl_dilated_convolution_forward_desc_init)                                \
  X(dnnl_engine_create)                                                        \
  X(dnnl_engine_destroy)                                                       \
  X(dnnl_matmul_desc_init)                                                     \
  X(dnnl_memory_create)                                                        \
  X(dnnl_memory_desc_get_size)                                                 \
  X(dnnl_memory_desc_init_by_strides)                                          \
  X(dnnl_memory_desc_init_by_tag)                                              \
  X(dnnl_memory_desc_init_submemory)                                           \
  X(dnnl_memory_destroy)                                                       \
  X(dnnl_memory_set_data_handle)                                               \
  X(dnnl_post_ops_append_binary)                                               \
  X(dnnl_post_ops_append_eltwise)                                              \
  X(dnnl_post_ops_append_sum)                                                  \
  X(dnnl_post_ops_create)                                                      \
  X(dnnl_post_ops_destroy)                                                     \
  X(dnnl_primitive_attr_create)                                                \
  X(dnnl_primitive_attr_destroy)                                               \
  X(dnnl_primitive_attr_set_post_ops)                                          \
  X(dnnl_primitive_attr_set_scratchpad_mode)                                   \
  X(dnnl_primitive_create)                                                     \
  X(dnnl_primitive_desc_create)                                                \
  X(dnnl_primitive_desc_destroy)                                               \
  X(dnnl_primitive_desc_query_md)                                              \
  X(dnnl_primitive_destroy)                                                    \
  X(dnnl_primitive_execute)                                                    \
  X(dnnl_reorder_primitive_desc_create)                                        \
  X(dnnl_stream_create)                                                        \
  X(dnnl_stream_destroy)                                                       \
  X(dnnl_stream_wait)

namespace autopar::runtime {

class ThreadPool;

/// The loaded library with its engine and stream.
class OneDnn {
public:
  OneDnn() = default;
  OneDnn(const OneDnn &) = delete;
  OneDnn &operator=(const OneDnn &) = delete;
  ~OneDnn();

  /// A failure names the package to install.
  Status load();
  bool available() const { return engine != nullptr; }

  /// Makes the library run on the calling thread alone, in every thread of the
  /// pool: the runtime cuts the work itself.
  void useCallingThreads(ThreadPool &pool) const;
  /// The OpenMP threads of work that the calling thread begins: sets them and
  /// returns how many there were; 0: the library has no OpenMP.
  int setOpenMpThreads(int threads) const;

#define APRT_DECLARE(name) decltype(&::name) name = nullptr;
  APRT_ONEDNN_FUNCTIONS(APRT_DECLARE)
#undef APRT_DECLARE

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;

private:
  void *handle = nullptr;
  // Found through the library's own dependency on OpenMP.
  void (*setThreads)(int) = nullptr;
  int (*mostThreads)() = nullptr;
};

/// The library runs on the calling thread alone for as long as this is there: a
/// step may be taken by a thread that the pool does not know, whose own number
/// of OpenMP threads comes back after it.
class OnCallingThread {
public:
  explicit OnCallingThread(const OneDnn &library)
      : library(library), before(library.setOpenMpThreads(1)) {}
  ~OnCallingThread() {
    if (before > 1)
      library.setOpenMpThreads(before);
  }
  OnCallingThread(const OnCallingThread &) = delete;
  OnCallingThread &operator=(const OnCallingThread &) = delete;

private:
  const OneDnn &library;
  const int before;
};

/// The library's type for an aprt_dtype; undef where it has none.
dnnl_data_type_t oneDnnType(int64_t dtype);

/// Post-ops in the order they are appended.
class PostOps {
public:
  explicit PostOps(const OneDnn &library);
  PostOps(const PostOps &) = delete;
  PostOps &operator=(const PostOps &) = delete;
  ~PostOps();

  void activation(int64_t activation);
  /// Adds the previous content of the result.
  void sum();
  /// Adds another tensor; returns the argument that takes it.
  int add(const dnnl_memory_desc_t &tensor);
  /// The finished attributes; scratch memory is the runtime's.
  dnnl_primitive_attr_t attributes();
  bool ok() const { return good; }

private:
  const OneDnn &library;
  dnnl_post_ops_t operations = nullptr;
  dnnl_primitive_attr_t attr = nullptr;
  int count = 0;
  bool good = true;
};

/// A primitive with its memory objects, created once and run many times by one
/// thread at a time.
class Primitive {
public:
  Primitive() = default;
  Primitive(Primitive &&other) noexcept { swap(other); }
  Primitive &operator=(Primitive &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Primitive();

  /// `description` is the operation's descriptor. False if the library refuses.
  /// `workspace` gives the scratch, of the thread that will execute it; null
  /// for a primitive that is only asked for its layouts.
  /// `forward` is that of the operation whose gradient this one is.
  bool create(const OneDnn &library, const void *description,
              dnnl_primitive_attr_t attributes, Workspace *workspace,
              int64_t thread = 0, const Primitive *forward = nullptr);
  /// Its scratch, if it needs any, is that of `workspace`'s first thread; null:
  /// only the thread that makes it runs it. `adds`: to what `to` holds.
  bool createReorder(const OneDnn &library, const dnnl_memory_desc_t &from,
                     const dnnl_memory_desc_t &to,
                     Workspace *workspace = nullptr, bool adds = false);
  bool addArgument(int argument, const dnnl_memory_desc_t &type);

  /// The layout that the library chose for an argument.
  dnnl_memory_desc_t layoutOf(dnnl_query_t argument) const;

  void bind(int argument, const void *data);
  bool execute();
  bool needsScratch() const { return workspace != nullptr; }

private:
  bool finish(dnnl_primitive_desc_t description, Workspace *workspace,
              int64_t thread);
  void swap(Primitive &other) noexcept;

  static constexpr int maxArguments = 8;
  const OneDnn *library = nullptr;
  dnnl_primitive_desc_t description = nullptr;
  dnnl_primitive_t primitive = nullptr;
  dnnl_exec_arg_t arguments[maxArguments] = {};
  int argumentCount = 0;
  Workspace *workspace = nullptr; // null: needs no scratch
  int64_t thread = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_ONEDNN_H
