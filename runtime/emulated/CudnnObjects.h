//===- CudnnObjects.h - Backend descriptors of the emulated cuDNN -*- C++ -*-=//

#ifndef AUTOPAR_RUNTIME_EMULATED_CUDNNOBJECTS_H
#define AUTOPAR_RUNTIME_EMULATED_CUDNNOBJECTS_H

#include "../cuda/CudnnApi.h"
#include "LiveObjects.h"
#include "OperationGraph.h"
#include "Planted.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopar::runtime::emulated {

struct CudnnHandle {
  CUstream stream = nullptr;
};

/// The value of an attribute: bytes of `count` elements.
struct CudnnAttribute {
  int64_t count = 0;
  std::vector<char> bytes;
};

/// Attributes as they were set; what they mean, once finalized.
struct CudnnObject {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool isFinal = false;
  std::map<cudnnBackendAttributeName_t, CudnnAttribute> attributes;

  GraphTensor tensor;                    // a tensor
  GraphOperation operation;              // an operation, or its parameters
  std::vector<GraphTensor> tensors;      // of an operation
  std::shared_ptr<OperationGraph> graph; // a graph, and what is made for it
  int64_t engine = -1;                   // an engine, and what is made for it
  std::vector<int64_t> results;          // a heuristic: engines, best first
  cudnnHandle_t handle = nullptr;        // a graph or a plan
  std::vector<int64_t> ids;              // a variant pack
  std::vector<const void *> pointers;
  void *workspace = nullptr;

  template <typename T>
  std::vector<T> values(cudnnBackendAttributeName_t name) const {
    auto found = attributes.find(name);
    if (found == attributes.end())
      return {};
    std::vector<T> result(found->second.bytes.size() / sizeof(T));
    std::memcpy(static_cast<void *>(result.data()), found->second.bytes.data(),
                result.size() * sizeof(T));
    return result;
  }
  template <typename T>
  T value(cudnnBackendAttributeName_t name, T otherwise = T()) const {
    std::vector<T> all = values<T>(name);
    return all.empty() ? otherwise : all.front();
  }
};

/// The emulated library: what is alive, and the text of the last refusal.
struct CudnnState {
  LiveObjects<CudnnHandle> handles;
  LiveObjects<CudnnObject> objects;
  std::string lastText;
};
CudnnState &cudnnState();

/// Keeps the text for cudnnGetLastErrorString.
cudnnStatus_t refuseCudnn(cudnnStatus_t status, const std::string &text);

/// Refuses a pointer or descriptor, or a handle, that means nothing.
cudnnStatus_t deadCudnn(const char *what);
cudnnStatus_t noCudnnHandle();

/// Refuses with a status that a test asks for.
cudnnStatus_t refusePlanted(Planted kind);

/// Stores an attribute that the descriptor's type has, of the right type and
/// count.
cudnnStatus_t setCudnnAttribute(CudnnObject &object,
                                cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, int64_t count,
                                const void *elements);

/// The name of an attribute that must be set and is not, or "".
std::string missingCudnnAttribute(const CudnnObject &object);

/// Checks what was set and makes sense of it.
cudnnStatus_t finalizeCudnn(CudnnObject &object);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_CUDNNOBJECTS_H
