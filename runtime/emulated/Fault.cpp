//===- Fault.cpp - What the emulated GPU finds wrong ----------------------===//

#include "Fault.h"

#include "Gpu.h"

namespace autopar::runtime::emulated {

const char *faultWords(FaultKind kind) {
  switch (kind) {
#define APEMU_WORDS(kind, words, code)                                         \
  case FaultKind::kind:                                                        \
    return words;
    APEMU_FAULTS(APEMU_WORDS)
#undef APEMU_WORDS
  case FaultKind::none:
    break;
  }
  return "none";
}

static CUresult codeOf(FaultKind kind) {
  switch (kind) {
#define APEMU_CODE(kind, words, code)                                          \
  case FaultKind::kind:                                                        \
    return code;
    APEMU_FAULTS(APEMU_CODE)
#undef APEMU_CODE
  case FaultKind::none:
    break;
  }
  return CUDA_SUCCESS;
}

CUresult fault(FaultKind kind, const std::string &text) {
  FaultState &state = gpu().faults;
  if (state.kind == FaultKind::none) {
    state.kind = kind;
    state.code = codeOf(kind);
    state.text = std::string(faultWords(kind)) + ": " + text;
  }
  return state.code;
}

CUresult refuse(CUresult code, const std::string &text) {
  FaultState &state = gpu().faults;
  state.refusedCode = code;
  state.refusedText = text;
  return code;
}

FaultKind faultKind() { return gpu().faults.kind; }
const std::string &faultText() { return gpu().faults.text; }
CUresult faultCode() { return gpu().faults.code; }

} // namespace autopar::runtime::emulated
