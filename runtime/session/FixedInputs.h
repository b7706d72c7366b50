//===- FixedInputs.h - Inputs that a program has values of ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_FIXEDINPUTS_H
#define AUTOPAR_RUNTIME_SESSION_FIXEDINPUTS_H

#include "../core/Manifest.h"

namespace autopar::runtime {

/// Returns the input of that name to which --bind gave a value, or null if
/// there is none.
const FixedInput *findFixed(const Manifest &manifest, const std::string &name);

/// Checks that an array equals the input's value. `data` is dense and
/// row-major.
Status checkFixed(const FixedInput &input, aprt_dtype dtype,
                  const std::vector<int64_t> &shape, const void *data);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_FIXEDINPUTS_H
