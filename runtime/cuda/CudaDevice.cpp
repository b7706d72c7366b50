//===- CudaDevice.cpp - A GPU, or the emulated one ------------------------===//

#include "CudaDevice.h"

namespace autopar::runtime {

Status CudaDevice::create(CudaTables tables, const Manifest &manifest,
                          int stage, const DeviceImages &images,
                          const CudaOptions &options, RankMemory &memory,
                          std::unique_ptr<CudaDevice> &result) {
  result.reset(new CudaDevice(std::move(tables)));
  APRT_TRY(CudaContext::create(result->tables.driver, manifest, options, memory,
                               result->context));
  return result->makeParts(size_t(manifest.packedSlots[size_t(stage)]), images);
}

Status CudaDevice::makeParts(size_t packedSlots, const DeviceImages &images) {
  kernels = std::make_unique<CudaKernels>(*context);
  gemms = std::make_unique<CudaGemm>(tables.cublasLt, *context, packedSlots);
  convolutions =
      std::make_unique<CudaConv>(tables.cudnn, *context, packedSlots);
  uploads = std::make_unique<CudaUpload>(*context);
  inputs = std::make_unique<CudaInputs>(*context);
  outputs = std::make_unique<CudaOutputs>(*context);
  graphs = std::make_unique<CudaGraphs>(*context);
  trace = std::make_unique<CudaTrace>(*context);
  steps = std::make_unique<CudaTimer>(*context);
  return kernels->load(images);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Status CudaDevice::beginOp(int op) {
  context->setOp(op);
  return trace->isOn() ? trace->begin(op) : Status::success();
}

Status CudaDevice::endOp() {
  return trace->isOn() ? trace->end() : Status::success();
}

/// Events inside a graph have no times.
Status CudaDevice::startTrace(const TraceSink &sink) {
  graphs->disable("--trace times every op");
  APRT_TRY(context->waitForAll());
  return trace->start(sink);
}

Status CudaDevice::launch(aprt_kernel, void *const *, const int64_t *, int64_t,
                          int64_t) {
  return Status::error("kernels of CPUs do not run on a GPU");
}

Status CudaDevice::launchGrid(int kernel, void *const *buffers,
                              const int64_t *scalars, int64_t blocks) {
  return kernels->launch(kernel, buffers, scalars, blocks);
}

Status CudaDevice::gemm(const aprt_gemm_desc &desc,
                        const GemmOperands &operands) {
  return gemms->run(desc, operands);
}

Status CudaDevice::packGemm(const aprt_gemm_desc &desc, const void *b) {
  return gemms->pack(desc, b);
}

Status CudaDevice::conv(const aprt_conv_desc &desc,
                        const ConvOperands &operands) {
  return convolutions->run(desc, operands);
}

Status CudaDevice::packConv(const aprt_conv_desc &desc, const void *w) {
  return convolutions->pack(desc, w);
}

Status CudaDevice::mergePacked(const MergeBytes &merge) {
  APRT_TRY(gemms->mergePacked(merge));
  return convolutions->mergePacked(merge);
}

static Status checkEvent(int event) {
  constexpr int most = 1 << 20;
  if (event >= 0 && event < most)
    return Status::success();
  return Status::error("event " + std::to_string(event) + " is out of range");
}

Status CudaDevice::recordEvent(int event) {
  APRT_TRY(checkEvent(event));
  while (events.size() <= size_t(event))
    events.push_back({CudaEvent(*context)});
  events[size_t(event)].run = run;
  return events[size_t(event)].event.record(context->currentStream());
}

Status CudaDevice::waitEvent(int event) {
  APRT_TRY(checkEvent(event));
  if (size_t(event) >= events.size() || events[size_t(event)].run != run)
    return Status::error("event " + std::to_string(event) +
                         " was never recorded in this run of the step");
  return events[size_t(event)].event.makeWait(context->currentStream());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaDevice::allocate(int64_t bytes, const char *what,
                            MemoryCounter &counter, void *&result) {
  return context->allocate(bytes, what, counter, result);
}

Status CudaDevice::release(void *address) { return context->release(address); }

Status CudaDevice::upload(void *to, const HostSlice &slice) {
  return uploads->upload(deviceAddress(to), slice);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status CudaDevice::feed(std::vector<Transfer> transfers) {
  context->setOp(-1);
  APRT_TRY(uploads->release());
  return inputs->feed(transfers);
}

Status CudaDevice::runStep(int64_t time, const std::function<Status()> &body) {
  APRT_TRY(inputs->arrive());
  APRT_TRY(steps->begin(context->stream(0)));
  Status status = graphs->run(time, [&] {
    ++run;
    return body();
  });
  context->setOp(-1);
  APRT_TRY(status);
  return steps->end(context->stream(0));
}

Status CudaDevice::collect(std::vector<Transfer> transfers) {
  return outputs->collect(std::move(transfers));
}

void CudaDevice::endSteps() { graphs->clear(); }

Status CudaDevice::synchronize() {
  APRT_TRY(outputs->drain());
  APRT_TRY(context->waitForAll());
  for (CudaTimer *timer : {steps.get(), &inputs->timer, &outputs->timer})
    APRT_TRY(timer->flush());
  return trace->isOn() ? trace->flush() : Status::success();
}

DeviceCounters CudaDevice::counters() const {
  return {outputs->bytesBrought(), steps->seconds(),
          inputs->timer.seconds() + outputs->timer.seconds()};
}

} // namespace autopar::runtime
