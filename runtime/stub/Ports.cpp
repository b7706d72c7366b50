//===- Ports.cpp - Inputs and outputs of a run ----------------------------===//

#include "Ports.h"

#include "../files/Text.h"

#include <algorithm>

namespace autopar::runtime {

static std::string listPorts(const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += (text.empty() ? "" : ", ") + port.name + " " +
            describeTensor(port.dtype, port.shape);
  return text.empty() ? "none" : text;
}

static const Port *findPort(const std::vector<Port> &ports,
                            const std::string &name) {
  for (const Port &port : ports)
    if (port.name == name)
      return &port;
  return nullptr;
}

/// The nearest of the ports' names, as the end of a sentence.
static std::string meantPort(const std::vector<Port> &ports,
                             const std::string &name) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back(port.name);
  return didYouMean(name, names);
}

static Status readArrays(const std::vector<std::string> &arguments,
                         NamedArrays &arrays) {
  for (const std::string &argument : arguments) {
    ArrayFile file;
    APRT_TRY(parseArrayFile(argument, file));
    if (file.name.empty()) {
      APRT_TRY(readNpz(file.path, arrays));
      continue;
    }
    Array array;
    APRT_TRY(readNpy(file.path, array));
    if (!arrays.emplace(file.name, std::move(array)).second)
      return Status::error("input '" + file.name + "' is given twice");
  }
  return Status::success();
}

static Status checkArray(const Port &port, const Array &array) {
  if (array.dtype == port.dtype && array.shape == port.shape)
    return Status::success();
  std::string hint =
      array.dtype == port.dtype ? "" : "; convert it, nothing is cast here";
  return Status::error("input '" + port.name + "' is " +
                       describeTensor(array.dtype, array.shape) +
                       " but the program expects " +
                       describeTensor(port.dtype, port.shape) + hint);
}

static const FixedInput *findFixed(const Manifest &manifest,
                                   const std::string &name) {
  for (const FixedInput &input : manifest.fixedInputs)
    if (input.name == name)
      return &input;
  return nullptr;
}

static Status checkFixed(const FixedInput &input, const Array &array) {
  if (array.dtype == input.dtype && array.shape == input.shape &&
      std::equal(array.data.begin(), array.data.end(), input.data.begin(),
                 input.data.end()))
    return Status::success();
  return Status::error("input '" + input.name + "' is " + input.text + " of " +
                       describeTensor(input.dtype, input.shape) +
                       " in this program, as --bind gave it; leave it out, or "
                       "compile the model with the value that you want");
}

/// Whether every input is there and has the shape of this entry, and those
/// that are fixed have their values.
static bool fits(const Manifest &manifest, const NamedArrays &given) {
  for (const auto &[name, array] : given)
    if (const FixedInput *fixed = findFixed(manifest, name))
      if (checkFixed(*fixed, array).failed())
        return false;
  for (const Port &port : manifest.inputs) {
    auto found = given.find(port.name);
    if (found == given.end() || checkArray(port, found->second).failed())
      return false;
  }
  return true;
}

static std::string listEntries(const std::vector<Program> &programs,
                               const std::vector<size_t> &shown) {
  std::string text;
  for (size_t i : shown)
    text += "\n  " + programs[i].manifest.entry + ": " +
            listPorts(programs[i].manifest.inputs);
  return text;
}

static Status chooseEntry(const std::vector<Program> &programs,
                          const std::string &wanted, const NamedArrays *given,
                          size_t &chosen) {
  std::vector<size_t> fitting, all;
  for (size_t i = 0; i < programs.size(); ++i) {
    all.push_back(i);
    bool fitsName = wanted.empty() || programs[i].manifest.entry == wanted;
    // What is given for the only candidate is judged later, input by input.
    bool alone = programs.size() == 1 || !wanted.empty();
    if (fitsName && (!given || alone || fits(programs[i].manifest, *given)))
      fitting.push_back(i);
  }
  if (fitting.empty() && !wanted.empty())
    return Status::error("no entry is called '" + wanted +
                         "'; the entries:" + listEntries(programs, all));
  if (fitting.empty()) {
    std::string shapes;
    for (const auto &[name, array] : *given)
      shapes += (shapes.empty() ? "" : ", ") + name + " " +
                describeTensor(array.dtype, array.shape);
    return Status::error("no entry takes the inputs " + shapes +
                         "; the entries:" + listEntries(programs, all));
  }
  chosen = fitting.front();
  return Status::success();
}

static Status takeInputs(const Manifest &manifest, NamedArrays &given,
                         std::vector<Array> &arrays) {
  for (const auto &[name, array] : given)
    if (const FixedInput *fixed = findFixed(manifest, name))
      APRT_TRY(checkFixed(*fixed, array));
    else if (!findPort(manifest.inputs, name))
      return Status::error("the model has no input '" + name +
                           "'; its inputs: " + listPorts(manifest.inputs) +
                           meantPort(manifest.inputs, name));
  for (const Port &port : manifest.inputs) {
    auto found = given.find(port.name);
    if (found == given.end())
      return Status::error(
          "input '" + port.name +
          "' is missing; the model's inputs: " + listPorts(manifest.inputs));
    APRT_TRY(checkArray(port, found->second));
    arrays.push_back(std::move(found->second));
  }
  return Status::success();
}

Status loadInputs(const std::vector<Program> &programs, const Options &options,
                  size_t &chosen, std::vector<Array> &arrays) {
  NamedArrays given;
  APRT_TRY(readArrays(options.inputs, given));
  bool zeros = options.inputs.empty();
  APRT_TRY(
      chooseEntry(programs, options.entry, zeros ? nullptr : &given, chosen));
  const Manifest &manifest = programs[chosen].manifest;
  if (!zeros)
    return takeInputs(manifest, given, arrays);
  for (const Port &port : manifest.inputs)
    arrays.push_back(
        {port.dtype, port.shape, ArrayBytes(size_t(port.globalBytes))});
  return Status::success();
}

Status checkOutputs(const Manifest &manifest,
                    const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments) {
    ArrayFile file;
    APRT_TRY(parseArrayFile(argument, file));
    if (!file.name.empty() && !findPort(manifest.outputs, file.name))
      return Status::error("the model has no output '" + file.name +
                           "'; its outputs: " + listPorts(manifest.outputs) +
                           meantPort(manifest.outputs, file.name));
  }
  return Status::success();
}

/// What does not parse has been refused before.
std::vector<bool> wantedOutputs(const Manifest &manifest,
                                const std::vector<std::string> &arguments) {
  std::vector<bool> wanted(manifest.outputs.size());
  for (const std::string &argument : arguments) {
    ArrayFile file;
    bool known = parseArrayFile(argument, file).ok();
    for (size_t i = 0; known && i < wanted.size(); ++i)
      wanted[i] = wanted[i] || file.name.empty() ||
                  manifest.outputs[i].name == file.name;
  }
  return wanted;
}

Status writeOutputs(const Manifest &manifest,
                    const std::vector<std::string> &arguments,
                    const std::vector<Buffer> &buffers) {
  std::vector<ArrayView> views;
  for (size_t i = 0; i < buffers.size(); ++i)
    views.push_back({manifest.outputs[i].name, manifest.outputs[i].dtype,
                     manifest.outputs[i].shape, buffers[i].data()});
  for (const std::string &argument : arguments) {
    ArrayFile file;
    APRT_TRY(parseArrayFile(argument, file));
    if (file.name.empty()) {
      APRT_TRY(writeNpz(file.path, views));
      continue;
    }
    for (const ArrayView &view : views)
      if (view.name == file.name)
        APRT_TRY(writeNpy(file.path, view));
  }
  return Status::success();
}

} // namespace autopar::runtime
