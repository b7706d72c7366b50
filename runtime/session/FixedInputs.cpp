//===- FixedInputs.cpp - Inputs that a program has values of --------------===//

#include "FixedInputs.h"

#include "../files/ContentHash.h"

#include <cstring>

namespace autopar::runtime {

const FixedInput *findFixed(const Manifest &manifest, const std::string &name) {
  for (const FixedInput &input : manifest.fixedInputs)
    if (input.name == name)
      return &input;
  return nullptr;
}

/// Returns whether `data`, which has as many bytes as the input, equals its
/// value.
static bool holds(const FixedInput &input, const void *data) {
  if (!input.isLarge)
    return input.bytes == 0 ||
           std::memcmp(data, input.data.data(), size_t(input.bytes)) == 0;
  ContentHash hash;
  hash.add(data, size_t(input.bytes));
  return hash.value() == input.content;
}

Status checkFixed(const FixedInput &input, aprt_dtype dtype,
                  const std::vector<int64_t> &shape, const void *data) {
  if (dtype == input.dtype && shape == input.shape && holds(input, data))
    return Status::success();
  return Status::error("input '" + input.name + "' is " + input.text + " of " +
                       describeTensor(input.dtype, input.shape) +
                       " in this program, as --bind gave it; leave it out, or "
                       "compile the model with the value that you want");
}

} // namespace autopar::runtime
