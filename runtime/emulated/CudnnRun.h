//===- CudnnRun.h - Work that the emulated cuDNN enqueues -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_CUDNNRUN_H
#define AUTOPAR_RUNTIME_EMULATED_CUDNNRUN_H

#include "../cuda/CudnnApi.h"

namespace autopar::runtime::emulated {

/// cudnnBackendExecute: runs a plan on the pointers of a variant pack.
cudnnStatus_t executeCudnn(cudnnHandle_t handle,
                           cudnnBackendDescriptor_t planHandle,
                           cudnnBackendDescriptor_t packHandle);

/// cudnnTransformTensor: copies a tensor to another layout.
cudnnStatus_t transformCudnn(cudnnHandle_t handle, const void *alpha,
                             cudnnTensorDescriptor_t fromHandle, const void *x,
                             const void *beta, cudnnTensorDescriptor_t toHandle,
                             void *y);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_CUDNNRUN_H
