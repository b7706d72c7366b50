//===- PythonApi.h - What calls from Python need of Python ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_PYTHONAPI_H
#define AUTOPAR_RUNTIME_SESSION_PYTHONAPI_H

#include "autopar/session.h"

namespace autopar::runtime {

/// CPython's PyObject. Its fields are never accessed, so that the library works
/// with all versions of Python.
struct PyObject;

/// CPython's PyMethodDef, with all fields part of its stable ABI.
struct PythonMethod {
  const char *name;
  PyObject *(*function)(PyObject *self, PyObject *argument);
  int flags;
  const char *doc;
};
inline constexpr int methodOfOneArgument = 0x8;

/// CPython's Py_buffer, with all fields part of its stable ABI.
struct PythonBuffer {
  void *data;
  PyObject *owner;
  intptr_t bytes, elementBytes;
  int isReadOnly, rank;
  const char *format;
  intptr_t *shape, *strides, *suboffsets;
  void *internal;
};
/// The requests for a buffer. A buffer with a shape and no strides is dense.
enum PythonBufferRequest { Writable = 0x1, WithFormat = 0x4, WithShape = 0x8 };

/// Functions of CPython's stable ABI. The package `autopar` passes their
/// addresses, because the library is not linked with Python. _calls.py has
/// their names in this order.
struct PythonApi {
  PyObject *(*typeOf)(PyObject *);               // PyObject_Type
  PyObject *(*call)(PyObject *, PyObject *args); // PyObject_CallObject
  PyObject *(*item)(PyObject *, PyObject *key);  // PyObject_GetItem
  int (*getBuffer)(PyObject *, PythonBuffer *, int request);
  void (*releaseBuffer)(PythonBuffer *);
  PyObject *(*newDict)();
  intptr_t (*dictSize)(PyObject *);
  int (*dictSetItem)(PyObject *, PyObject *key, PyObject *value);
  PyObject *(*tupleItem)(PyObject *, intptr_t); // borrowed
  void (*retain)(PyObject *);                   // Py_IncRef
  void (*release)(PyObject *);                  // Py_DecRef
  void (*clearError)();
  void *(*saveThread)(); // lets other threads run
  void (*restoreThread)(void *);
  PyObject *(*newFunction)(PythonMethod *, PyObject *self, PyObject *module);
  PyObject *(*newCapsule)(void *, const char *name, void (*)(PyObject *));
  void *(*capsulePointer)(PyObject *, const char *name);
};

/// Objects that a call uses.
struct PythonObjects {
  PyObject *none, *dictType, *arrayType;
  PyObject *newArray;              // numpy.empty
  PyObject *fail;                  // raises what autopar_error() says
  PyObject *inputs;                // a tuple of names
  PyObject *outputs, *outputKinds; // names; what newArray takes
};

} // namespace autopar::runtime

extern "C" {
/// Returns a function that takes a dict of arrays, runs a step of the entry,
/// and returns a dict of new arrays. Only the package `autopar` calls this. The
/// function returns None and does nothing if the dict does not have exactly one
/// dense array of the right type for each input, if another call is under way,
/// or if this process was forked. In place of a function, None means that
/// buffers cannot describe the entry's tensors, and null means that Python has
/// an error.
AUTOPAR_API autopar::runtime::PyObject *
autopar_python_call(const autopar::runtime::PythonApi *python,
                    const autopar::runtime::PythonObjects *objects,
                    autopar_session *entry);
/// Returns once no call of the function is under way. Later calls return None.
/// `self` is the `__self__` of the function.
AUTOPAR_API void autopar_python_end(autopar::runtime::PyObject *self);
}

#endif // AUTOPAR_RUNTIME_SESSION_PYTHONAPI_H
