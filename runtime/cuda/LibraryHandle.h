//===- LibraryHandle.h - Owning what a library created ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_LIBRARYHANDLE_H
#define AUTOPAR_RUNTIME_CUDA_LIBRARYHANDLE_H

#include <memory>
#include <type_traits>

namespace autopar::runtime {

template <typename Handle, typename Result> struct DestroyHandle {
  Result (*function)(Handle) = nullptr;
  void operator()(Handle handle) const { (void)function(handle); }
};

/// A handle with the library's function that destroys it:
///   LibraryHandle<CUevent, CUresult> event{made, {api.cuEventDestroy_v2}};
template <typename Handle, typename Result>
using LibraryHandle = std::unique_ptr<std::remove_pointer_t<Handle>,
                                      DestroyHandle<Handle, Result>>;

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_LIBRARYHANDLE_H
