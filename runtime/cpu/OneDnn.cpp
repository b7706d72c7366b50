//===- OneDnn.cpp - oneDNN loaded at run time -----------------------------===//

#include "OneDnn.h"

#include "ThreadPool.h"
#include "autopar/runtime.h"

#include <dlfcn.h>

namespace autopar::runtime {

Status OneDnn::load() {
  handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error(
        std::string("this program needs oneDNN 2 (libdnnl.so.2), which cannot "
                    "be loaded; install the package 'libdnnl2' (") +
        dlerror() + ")");
#define APRT_LOAD(function)                                                    \
  function = reinterpret_cast<decltype(function)>(dlsym(handle, #function));   \
  if (!function)                                                               \
    return Status::error("libdnnl.so.2 lacks " #function                       \
                         "; install the package 'libdnnl2'");
  APRT_ONEDNN_FUNCTIONS(APRT_LOAD)
#undef APRT_LOAD
  using Set = void (*)(int);
  using Most = int (*)();
  mostThreads = reinterpret_cast<Most>(dlsym(handle, "omp_get_max_threads"));
  if (mostThreads)
    setThreads = reinterpret_cast<Set>(dlsym(handle, "omp_set_num_threads"));
  if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
    return Status::error("oneDNN cannot make a CPU engine");
  if (dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) !=
      dnnl_success)
    return Status::error("oneDNN cannot make a stream");
  return Status::success();
}

OneDnn::~OneDnn() {
  if (stream)
    dnnl_stream_destroy(stream);
  if (engine)
    dnnl_engine_destroy(engine);
  // The library stays loaded: its OpenMP threads may outlive this object.
}

void OneDnn::useCallingThreads(ThreadPool &pool) const {
  if (setThreads)
    pool.runInEachThread([&] { setThreads(1); });
}

int OneDnn::setOpenMpThreads(int threads) const {
  if (!setThreads)
    return 0;
  int before = mostThreads();
  if (before != threads)
    setThreads(threads);
  return before;
}

dnnl_data_type_t oneDnnType(int64_t dtype) {
  switch (dtype) {
  case APRT_F32:
    return dnnl_f32;
  case APRT_BF16:
    return dnnl_bf16;
  default:
    return dnnl_data_type_undef;
  }
}

PostOps::PostOps(const OneDnn &library) : library(library) {
  good = library.dnnl_post_ops_create(&operations) == dnnl_success &&
         library.dnnl_primitive_attr_create(&attr) == dnnl_success;
}

PostOps::~PostOps() {
  if (operations)
    library.dnnl_post_ops_destroy(operations);
  if (attr)
    library.dnnl_primitive_attr_destroy(attr);
}

void PostOps::activation(int64_t activation) {
  dnnl_alg_kind_t kind;
  float alpha = 0;
  switch (activation) {
  case APRT_ACT_NONE:
    return;
  case APRT_ACT_RELU:
    kind = dnnl_eltwise_relu;
    break;
  case APRT_ACT_GELU_ERF:
    kind = dnnl_eltwise_gelu_erf;
    break;
  case APRT_ACT_GELU_TANH:
    kind = dnnl_eltwise_gelu_tanh;
    break;
  case APRT_ACT_TANH:
    kind = dnnl_eltwise_tanh;
    break;
  case APRT_ACT_SIGMOID:
    kind = dnnl_eltwise_logistic;
    break;
  case APRT_ACT_SILU:
    kind = dnnl_eltwise_swish;
    alpha = 1;
    break;
  default:
    good = false;
    return;
  }
  good = good && library.dnnl_post_ops_append_eltwise(
                     operations, 1.0f, kind, alpha, 0.0f) == dnnl_success;
  ++count;
}

void PostOps::sum() {
  good = good &&
         library.dnnl_post_ops_append_sum(operations, 1.0f) == dnnl_success;
  ++count;
}

int PostOps::add(const dnnl_memory_desc_t &tensor) {
  good = good && library.dnnl_post_ops_append_binary(
                     operations, dnnl_binary_add, &tensor) == dnnl_success;
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(count++) | DNNL_ARG_SRC_1;
}

dnnl_primitive_attr_t PostOps::attributes() {
  good = good &&
         library.dnnl_primitive_attr_set_post_ops(attr, operations) ==
             dnnl_success &&
         library.dnnl_primitive_attr_set_scratchpad_mode(
             attr, dnnl_scratchpad_mode_user) == dnnl_success;
  return attr;
}

Primitive::~Primitive() {
  for (int i = 0; i < argumentCount; ++i)
    library->dnnl_memory_destroy(arguments[i].memory);
  if (primitive)
    library->dnnl_primitive_destroy(primitive);
  if (description)
    library->dnnl_primitive_desc_destroy(description);
}

void Primitive::swap(Primitive &other) noexcept {
  std::swap(library, other.library);
  std::swap(description, other.description);
  std::swap(primitive, other.primitive);
  std::swap(arguments, other.arguments);
  std::swap(argumentCount, other.argumentCount);
  std::swap(workspace, other.workspace);
  std::swap(thread, other.thread);
}

bool Primitive::finish(dnnl_primitive_desc_t created, Workspace *scratch,
                       int64_t onThread) {
  description = created;
  if (library->dnnl_primitive_create(&primitive, description) != dnnl_success)
    return false;
  const dnnl_memory_desc_t *layout = library->dnnl_primitive_desc_query_md(
      description, dnnl_query_scratchpad_md, 0);
  size_t bytes = layout ? library->dnnl_memory_desc_get_size(layout) : 0;
  if (bytes == 0 || !scratch)
    return true;
  workspace = scratch;
  thread = onThread;
  return workspace->reserve(int64_t(bytes)).ok() &&
         addArgument(DNNL_ARG_SCRATCHPAD, *layout);
}

bool Primitive::create(const OneDnn &onednn, const void *operation,
                       dnnl_primitive_attr_t attributes, Workspace *scratch,
                       int64_t onThread, const Primitive *forward) {
  library = &onednn;
  dnnl_primitive_desc_t created = nullptr;
  return library->dnnl_primitive_desc_create(
             &created, operation, attributes, library->engine,
             forward ? forward->description : nullptr) == dnnl_success &&
         finish(created, scratch, onThread);
}

bool Primitive::createReorder(const OneDnn &onednn,
                              const dnnl_memory_desc_t &from,
                              const dnnl_memory_desc_t &to, Workspace *scratch,
                              bool adds) {
  library = &onednn;
  PostOps epilogue(onednn);
  if (adds)
    epilogue.sum();
  dnnl_primitive_attr_t attributes =
      scratch || adds ? epilogue.attributes() : nullptr;
  dnnl_primitive_desc_t created = nullptr;
  return epilogue.ok() &&
         library->dnnl_reorder_primitive_desc_create(
             &created, &from, library->engine, &to, library->engine,
             attributes) == dnnl_success &&
         finish(created, scratch, 0) && addArgument(DNNL_ARG_FROM, from) &&
         addArgument(DNNL_ARG_TO, to);
}

bool Primitive::addArgument(int argument, const dnnl_memory_desc_t &type) {
  dnnl_memory_t memory;
  if (argumentCount == maxArguments ||
      library->dnnl_memory_create(&memory, &type, library->engine,
                                  DNNL_MEMORY_NONE) != dnnl_success)
    return false;
  arguments[argumentCount++] = {argument, memory};
  return true;
}

dnnl_memory_desc_t Primitive::layoutOf(dnnl_query_t argument) const {
  return *library->dnnl_primitive_desc_query_md(description, argument, 0);
}

void Primitive::bind(int argument, const void *data) {
  for (int i = 0; i < argumentCount; ++i)
    if (arguments[i].arg == argument)
      library->dnnl_memory_set_data_handle(arguments[i].memory,
                                           const_cast<void *>(data));
}

bool Primitive::execute() {
  if (workspace)
    bind(DNNL_ARG_SCRATCHPAD, workspace->block(thread));
  return library->dnnl_primitive_execute(primitive, library->stream,
                                         argumentCount,
                                         arguments) == dnnl_success;
}

} // namespace autopar::runtime
