//===- PythonCalls.cpp - The usual call of a session from Python ----------===//
//
// A step leaves nothing of Python's in the caches, so that each object which a
// call touches costs. This way through a call touches few.
//
//===----------------------------------------------------------------------===//

#include "PythonApi.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <vector>

using namespace autopar::runtime;

namespace {

/// Python passes a function nothing but Python's objects, so that these are
/// known to all calls: a process has one Python.
PythonApi python;

/// The number of forks between this process and its first ancestor that loaded
/// the library. A forked child must not use its parent's session.
std::atomic<int> forks{0};

constexpr char capsuleName[] = "autopar usual call";

/// The format codes of Python's buffer protocol for a tensor type.
struct ElementFormat {
  std::string_view dtype, formats;
};
constexpr ElementFormat elementFormats[] = {
    {"bool", "?"}, {"i8", "b"},  {"u8", "B"},  {"i16", "h"},
    {"u16", "H"},  {"i32", "i"}, {"u32", "I"}, {"i64", "lq"},
    {"u64", "LQ"}, {"f16", "e"}, {"f32", "f"}, {"f64", "d"},
};

std::string_view formatsOf(std::string_view dtype) {
  for (const ElementFormat &known : elementFormats)
    if (known.dtype == dtype)
      return known.formats;
  return {};
}

/// A tensor of the entry, described by objects and buffers of Python.
struct PythonPort {
  PyObject *name = nullptr;
  PyObject *kind = nullptr; // of an output: what makes a new array of it
  std::string_view formats;
  std::vector<int64_t> shape;
  PythonBuffer buffer{}; // of the array, while a step runs

  bool fits() const {
    if (size_t(buffer.rank) != shape.size() || !buffer.format ||
        std::strlen(buffer.format) != 1 ||
        formats.find(buffer.format[0]) == formats.npos ||
        uintptr_t(buffer.data) % uintptr_t(buffer.elementBytes) != 0)
      return false;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (buffer.shape[dim] != shape[dim])
        return false;
    return true;
  }
};

class UsualCall {
public:
  UsualCall(const PythonObjects &objects, autopar_session *entry);
  ~UsualCall();
  UsualCall(const UsualCall &) = delete;
  UsualCall &operator=(const UsualCall &) = delete;

  /// Returns whether buffers can describe all tensors.
  bool isPossible() const { return possible; }
  PyObject *run(PyObject *feeds);
  /// Returns once no call is under way. Later calls do nothing.
  void end();

private:
  void describe(autopar_kind kind, std::vector<PythonPort> &ports);
  /// Calls `use` with each object that is held from one call to the next.
  template <typename Use> void forEachObject(const Use &use);
  bool isOf(PyObject *object, PyObject *type) const;
  bool takeInputs(PyObject *feeds);
  PyObject *makeResults();
  void releaseBuffers(std::vector<PythonPort> &ports);
  PyObject *notUsual() const;
  PyObject *step();

  PythonObjects objects;
  autopar_session *const entry;
  const int born = forks;
  bool possible = true;
  std::mutex one; // call at a time, which has what follows
  bool ended = false;
  std::vector<PythonPort> inputs, outputs;
  std::vector<const void *> read;
  std::vector<void *> written;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names and descriptions
//===----------------------------------------------------------------------===//

UsualCall::UsualCall(const PythonObjects &objects, autopar_session *entry)
    : objects(objects), entry(entry) {
  describe(AUTOPAR_INPUT, inputs);
  describe(AUTOPAR_OUTPUT, outputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs[i].name = python.tupleItem(objects.inputs, intptr_t(i));
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].name = python.tupleItem(objects.outputs, intptr_t(i));
    outputs[i].kind = python.tupleItem(objects.outputKinds, intptr_t(i));
  }
  read.resize(inputs.size());
  written.resize(outputs.size());
  forEachObject(python.retain);
}

UsualCall::~UsualCall() { forEachObject(python.release); }

void UsualCall::describe(autopar_kind kind, std::vector<PythonPort> &ports) {
  ports.resize(size_t(autopar_session_count(entry, kind)));
  for (size_t i = 0; i < ports.size(); ++i) {
    autopar_tensor tensor{};
    tensor.size = sizeof(tensor);
    possible &= autopar_session_tensor(entry, kind, int64_t(i), &tensor) == 0;
    if (!possible)
      return;
    ports[i].formats = formatsOf(tensor.dtype);
    ports[i].shape.assign(tensor.shape, tensor.shape + tensor.rank);
    possible &= !ports[i].formats.empty();
  }
}

template <typename Use> void UsualCall::forEachObject(const Use &use) {
  for (PyObject *object : {objects.none, objects.dictType, objects.arrayType,
                           objects.newArray, objects.fail})
    use(object);
  for (const PythonPort &port : inputs)
    use(port.name);
  for (const PythonPort &port : outputs) {
    use(port.name);
    use(port.kind);
  }
}

//===----------------------------------------------------------------------===//
// A call
//===----------------------------------------------------------------------===//

bool UsualCall::isOf(PyObject *object, PyObject *type) const {
  PyObject *found = python.typeOf(object);
  python.release(found); // the object has it, too
  return found == type;
}

PyObject *UsualCall::notUsual() const {
  python.clearError();
  python.retain(objects.none);
  return objects.none;
}

void UsualCall::releaseBuffers(std::vector<PythonPort> &ports) {
  for (PythonPort &port : ports)
    if (port.buffer.owner) {
      python.releaseBuffer(&port.buffer);
      port.buffer.owner = nullptr;
    }
}

/// Takes references to the arrays, because another thread may change `feeds`
/// during the step.
bool UsualCall::takeInputs(PyObject *feeds) {
  if (!isOf(feeds, objects.dictType) ||
      size_t(python.dictSize(feeds)) != inputs.size())
    return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PythonPort &port = inputs[i];
    PyObject *array = python.item(feeds, port.name);
    if (!array)
      return false;
    bool isThere =
        isOf(array, objects.arrayType) &&
        python.getBuffer(array, &port.buffer, WithFormat | WithShape) == 0;
    python.release(array); // the buffer has it
    if (!isThere || !port.fits())
      return false;
    read[i] = port.buffer.data;
  }
  return true;
}

/// Returns a dict of new arrays, whose buffers are held, or null if Python has
/// an error.
PyObject *UsualCall::makeResults() {
  PyObject *results = python.newDict();
  bool made = results != nullptr;
  for (size_t i = 0; made && i < outputs.size(); ++i) {
    PythonPort &port = outputs[i];
    PyObject *array = python.call(objects.newArray, port.kind);
    made = array &&
           python.getBuffer(array, &port.buffer, Writable | WithShape) == 0 &&
           python.dictSetItem(results, port.name, array) == 0;
    written[i] = port.buffer.data;
    if (array)
      python.release(array);
  }
  if (made || !results)
    return results;
  python.release(results);
  return nullptr;
}

PyObject *UsualCall::step() {
  int32_t failed = 0;
  PyObject *results = makeResults();
  if (results) {
    void *thread = python.saveThread();
    failed = autopar_session_run(entry, read.data(), written.data());
    python.restoreThread(thread);
  }
  releaseBuffers(inputs);
  releaseBuffers(outputs);
  if (!failed)
    return results;
  python.release(results);
  return python.call(objects.fail, nullptr);
}

/// Returns None if the lock is taken, because Python code within a call may
/// make another call, even in the same thread. That thread must not wait for a
/// mutex that it holds.
PyObject *UsualCall::run(PyObject *feeds) {
  if (forks != born)
    return notUsual();
  std::unique_lock<std::mutex> lock(one, std::try_to_lock);
  if (!lock || ended)
    return notUsual();
  if (takeInputs(feeds))
    return step();
  releaseBuffers(inputs);
  return notUsual();
}

void UsualCall::end() {
  if (forks != born) // who has the lock may not be in this process
    return;
  void *thread = python.saveThread();
  {
    std::lock_guard<std::mutex> lock(one);
    ended = true;
  }
  python.restoreThread(thread);
}

//===----------------------------------------------------------------------===//
// Functions of Python
//===----------------------------------------------------------------------===//

static UsualCall *callOf(PyObject *capsule) {
  return static_cast<UsualCall *>(python.capsulePointer(capsule, capsuleName));
}

static PyObject *runOf(PyObject *capsule, PyObject *feeds) {
  return callOf(capsule)->run(feeds);
}

static void endOf(PyObject *capsule) { delete callOf(capsule); }

static PyObject *functionOf(std::unique_ptr<UsualCall> call) {
  static PythonMethod method = {"usual_call", runOf, methodOfOneArgument,
                                nullptr};
  PyObject *capsule = python.newCapsule(call.get(), capsuleName, endOf);
  if (!capsule)
    return nullptr;
  (void)call.release();
  PyObject *function = python.newFunction(&method, capsule, nullptr);
  python.release(capsule); // the function has it
  return function;
}

PyObject *autopar_python_call(const PythonApi *functions,
                              const PythonObjects *objects,
                              autopar_session *entry) {
  python = *functions;
  static const int counts = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  if (counts != 0) { // a child would be taken for its parent
    python.retain(objects->none);
    return objects->none;
  }
  auto call = std::make_unique<UsualCall>(*objects, entry);
  if (call->isPossible())
    return functionOf(std::move(call));
  python.retain(objects->none);
  return objects->none;
}

void autopar_python_end(PyObject *capsule) { callOf(capsule)->end(); }
