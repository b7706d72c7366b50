//===- PythonCalls.cpp - The usual call of a session from Python ----------===//
//
// A step leaves nothing of Python's in the caches, so that each object which a
// call touches costs. This way through a call touches few.
//
//===----------------------------------------------------------------------===//

#include "PythonApi.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

using namespace autopar::runtime;

namespace {

/// Python passes a function nothing but Python's objects, so that these are
/// known to all calls: a process has one Python.
PythonApi python;

/// The number of forks between this process and its first ancestor that loaded
/// the library. A forked child must not use its parent's session.
std::atomic<int> forks{0};

constexpr char callName[] = "autopar usual call";
constexpr char tensorsName[] = "autopar tensors of a step";

/// A tensor of the entry, described by objects of Python.
struct PythonPort {
  PyObject *name = nullptr;
  PyObject *kind = nullptr;       // an input's dtypes, or what newArray takes
  std::vector<PyObject *> dtypes; // of an input
  bool countsRows = false;        // an input that may be left out
  std::vector<intptr_t> shape;

  bool fits(const ArrayFields &array) const {
    constexpr int dense = RowMajor | Aligned;
    return (array.flags & dense) == dense &&
           size_t(array.rank) == shape.size() &&
           std::equal(shape.begin(), shape.end(), array.shape) &&
           std::find(dtypes.begin(), dtypes.end(), array.dtype) != dtypes.end();
  }
};

/// The tensors of a step, with a reference to each array that is an input:
/// another thread may change the dict of inputs meanwhile.
struct StepTensors {
  StepTensors(size_t inputs, size_t outputs) : read(inputs), written(outputs) {
    arrays.reserve(inputs);
  }
  ~StepTensors() { release(); }
  StepTensors(const StepTensors &) = delete;
  StepTensors &operator=(const StepTensors &) = delete;

  void release() {
    for (PyObject *array : arrays)
      python.release(array);
    arrays.clear();
  }

  std::vector<const void *> read;
  std::vector<void *> written;
  std::vector<PyObject *> arrays;
};

class UsualCall {
public:
  UsualCall(const PythonObjects &objects, autopar_session *entry);
  ~UsualCall();
  UsualCall(const UsualCall &) = delete;
  UsualCall &operator=(const UsualCall &) = delete;

  PyObject *run(PyObject *feeds);
  /// `wanted` is None for all outputs, or an empty list.
  PyObject *request(PyObject *feeds, PyObject *wanted) const;
  /// Returns once no call of run() is under way. Later calls do nothing.
  void end();

private:
  std::vector<PythonPort> describe(autopar_kind kind) const;
  /// Calls `use` with each object that is held from one call to the next.
  template <typename Use> void forEachObject(const Use &use) const;
  PyObject *typeOf(PyObject *object) const;
  const ArrayFields &fieldsOf(PyObject *array) const;
  bool takeInputs(PyObject *feeds, StepTensors &step) const;
  PyObject *makeResults(StepTensors &step) const;
  PyObject *notUsual() const;
  PyObject *runStep();

  const PythonObjects objects;
  autopar_session *const entry;
  const int born = forks;
  const std::vector<PythonPort> inputs, outputs;
  const size_t mandatory; // number of inputs that may not be left out
  std::mutex one;         // call of run() at a time, which has what follows
  bool ended = false;
  StepTensors tensors;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names and descriptions
//===----------------------------------------------------------------------===//

UsualCall::UsualCall(const PythonObjects &objects, autopar_session *entry)
    : objects(objects), entry(entry), inputs(describe(AUTOPAR_INPUT)),
      outputs(describe(AUTOPAR_OUTPUT)),
      mandatory(size_t(std::count_if(
          inputs.begin(), inputs.end(),
          [](const PythonPort &port) { return !port.countsRows; }))),
      tensors(inputs.size(), outputs.size()) {
  forEachObject(python.retain);
}

UsualCall::~UsualCall() { forEachObject(python.release); }

std::vector<PythonPort> UsualCall::describe(autopar_kind kind) const {
  bool isInput = kind == AUTOPAR_INPUT;
  std::vector<PythonPort> ports(size_t(autopar_session_count(entry, kind)));
  for (size_t i = 0; i < ports.size(); ++i) {
    autopar_tensor tensor{};
    tensor.size = sizeof(tensor);
    (void)autopar_session_tensor(entry, kind, int64_t(i), &tensor);
    PythonPort &port = ports[i];
    port.countsRows = std::strcmp(tensor.role, "counted_rows") == 0;
    port.shape.assign(tensor.shape, tensor.shape + tensor.rank);
    PyObject *names = isInput ? objects.inputs : objects.outputs;
    PyObject *kinds = isInput ? objects.inputTypes : objects.outputKinds;
    port.name = python.tupleItem(names, intptr_t(i));
    port.kind = python.tupleItem(kinds, intptr_t(i));
    for (intptr_t k = 0; isInput && k < python.tupleSize(port.kind); ++k)
      port.dtypes.push_back(python.tupleItem(port.kind, k));
  }
  return ports;
}

template <typename Use> void UsualCall::forEachObject(const Use &use) const {
  for (PyObject *object : {objects.none, objects.dictType, objects.arrayType,
                           objects.newArray, objects.fail})
    use(object);
  for (const std::vector<PythonPort> *ports : {&inputs, &outputs})
    for (const PythonPort &port : *ports) {
      use(port.name);
      use(port.kind);
    }
}

//===----------------------------------------------------------------------===//
// The tensors of a step
//===----------------------------------------------------------------------===//

PyObject *UsualCall::typeOf(PyObject *object) const {
  const char *end =
      reinterpret_cast<const char *>(object) + objects.objectBytes;
  return reinterpret_cast<PyObject *const *>(end)[-1];
}

const ArrayFields &UsualCall::fieldsOf(PyObject *array) const {
  const char *end = reinterpret_cast<const char *>(array) + objects.objectBytes;
  return *reinterpret_cast<const ArrayFields *>(end);
}

/// Returns what a call returns that did nothing.
PyObject *UsualCall::notUsual() const {
  python.clearError();
  python.retain(objects.none);
  return objects.none;
}

bool UsualCall::takeInputs(PyObject *feeds, StepTensors &step) const {
  if (typeOf(feeds) != objects.dictType)
    return false;
  size_t given = size_t(python.dictSize(feeds));
  bool allCount = given == mandatory && given < inputs.size();
  if (!allCount && given != inputs.size())
    return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (allCount && inputs[i].countsRows) {
      step.read[i] = nullptr;
      continue;
    }
    PyObject *array = python.item(feeds, inputs[i].name);
    if (!array)
      return false;
    step.arrays.push_back(array);
    if (typeOf(array) != objects.arrayType || !inputs[i].fits(fieldsOf(array)))
      return false;
    step.read[i] = fieldsOf(array).data;
  }
  return true;
}

/// Returns a dict of new arrays, or null if Python has an error.
PyObject *UsualCall::makeResults(StepTensors &step) const {
  PyObject *results = python.newDict();
  bool made = results != nullptr;
  for (size_t i = 0; made && i < outputs.size(); ++i) {
    PyObject *array = python.call(objects.newArray, outputs[i].kind);
    made = array && python.dictSetItem(results, outputs[i].name, array) == 0;
    if (!array)
      break;
    step.written[i] = fieldsOf(array).data;
    python.release(array); // the dict has it
  }
  if (made || !results)
    return results;
  python.release(results);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

PyObject *UsualCall::runStep() {
  int32_t failed = 0;
  PyObject *results = makeResults(tensors);
  if (results) {
    void *thread = python.saveThread();
    failed =
        autopar_session_run(entry, tensors.read.data(), tensors.written.data());
    python.restoreThread(thread);
  }
  tensors.release();
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
  if (takeInputs(feeds, tensors))
    return runStep();
  tensors.release();
  return notUsual();
}

static void endOfTensors(PyObject *capsule) {
  delete static_cast<StepTensors *>(
      python.capsulePointer(capsule, tensorsName));
}

PyObject *UsualCall::request(PyObject *feeds, PyObject *wanted) const {
  bool areWanted = wanted == objects.none;
  auto made = std::make_unique<StepTensors>(inputs.size(), outputs.size());
  if ((!areWanted && python.listSize(wanted) != 0) || !takeInputs(feeds, *made))
    return notUsual();
  PyObject *capsule = python.newCapsule(made.get(), tensorsName, endOfTensors);
  if (!capsule)
    return nullptr;
  StepTensors &step = *made.release();
  PyObject *results = areWanted ? makeResults(step) : python.newDict();
  return python.newTuple("(KKNN)", step.read.data(), step.written.data(),
                         results, capsule);
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
  return static_cast<UsualCall *>(python.capsulePointer(capsule, callName));
}

static PyObject *runOf(PyObject *capsule, PyObject *feeds) {
  return callOf(capsule)->run(feeds);
}

static PyObject *requestOf(PyObject *capsule, PyObject *arguments) {
  return callOf(capsule)->request(python.tupleItem(arguments, 0),
                                  python.tupleItem(arguments, 1));
}

static void endOf(PyObject *capsule) { delete callOf(capsule); }

/// Returns a tuple of the two functions, or null if Python has an error.
static PyObject *functionsOf(PyObject *capsule) {
  static PythonMethod methods[] = {
      {"usual_call", runOf, OneArgument, nullptr},
      {"usual_request", requestOf, TupleOfArguments, nullptr}};
  PyObject *run = python.newFunction(&methods[0], capsule, nullptr);
  PyObject *request =
      run ? python.newFunction(&methods[1], capsule, nullptr) : nullptr;
  return python.newTuple("(NN)", run, request);
}

PyObject *autopar_python_calls(const PythonApi *functions,
                               const PythonObjects *objects,
                               autopar_session *entry) {
  python = *functions;
  static const int counts = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  if (counts != 0) { // a child would be taken for its parent
    python.retain(objects->none);
    return objects->none;
  }
  auto call = std::make_unique<UsualCall>(*objects, entry);
  PyObject *capsule = python.newCapsule(call.get(), callName, endOf);
  if (!capsule)
    return nullptr;
  (void)call.release();
  PyObject *both = functionsOf(capsule);
  python.release(capsule); // the functions have it
  return both;
}

void autopar_python_end(PyObject *capsule) { callOf(capsule)->end(); }
