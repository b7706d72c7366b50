//===- CudnnPlanCache.h - Plans of cuDNN on disk ----------------*- C++ -*-===//
//
// Engines that cuDNN compiles at run time take seconds for each distinct
// convolution, at every start. Their plans, which hold the compiled code, are
// kept in a folder of the user's, one file each, under all that they depend on:
// GPU, driver, versions, graph. A file that is damaged, of another key, or not
// this user's own is as if it were not there; whatever stands against writing
// one leaves things as they are.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDNNPLANCACHE_H
#define AUTOPAR_RUNTIME_CUDA_CUDNNPLANCACHE_H

#include <string>

namespace autopar::runtime {

class CudnnPlanCache {
public:
  static constexpr size_t mostBytes = size_t(64) << 20; // of a plan

  /// `folder`: "" for none. `host`: GPU, driver and versions.
  CudnnPlanCache(std::string folder, std::string host)
      : folder(std::move(folder)), host(std::move(host)) {}

  bool isOn() const { return !folder.empty(); }
  /// The plan that is kept for a graph; false: there is none.
  bool read(const std::string &graph, std::string &plan) const;
  /// Keeps a plan: it appears whole, or not at all.
  void write(const std::string &graph, const std::string &plan) const;

private:
  std::string keyOf(const std::string &graph) const;
  std::string fileOf(const std::string &key) const;

  std::string folder, host;
};

/// The folder of AUTOPAR_CACHE ("off": ""), else autopar/ in XDG_CACHE_HOME or
/// in ~/.cache; "" if none of them is set.
std::string planCacheFolder();

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDNNPLANCACHE_H
