//===- PythonApi.h - What calls from Python need of Python ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_PYTHONAPI_H
#define AUTOPAR_RUNTIME_SESSION_PYTHONAPI_H

#include "autopar/session.h"

namespace autopar::runtime {

/// CPython's PyObject. Of its fields only the type is accessed, the last one in
/// all versions of Python.
struct PyObject;

/// CPython's PyMethodDef, with all fields part of its stable ABI.
struct PythonMethod {
  const char *name;
  PyObject *(*function)(PyObject *self, PyObject *argument);
  int flags;
  const char *doc;
};
enum PythonMethodFlags { TupleOfArguments = 0x1, OneArgument = 0x8 };

/// The fields of NumPy's PyArrayObject that follow the head of the object.
/// Extensions read them, so that all versions of NumPy have them.
struct ArrayFields {
  void *data;
  int rank;
  intptr_t *shape, *strides;
  PyObject *base, *dtype;
  int flags;
};
enum ArrayFlags { RowMajor = 0x1, Aligned = 0x100 };

/// Functions of CPython's stable ABI. The package `autopar` passes their
/// addresses, because the library is not linked with Python. _calls.py has
/// their names in this order.
struct PythonApi {
  PyObject *(*call)(PyObject *, PyObject *args); // PyObject_CallObject
  PyObject *(*item)(PyObject *, PyObject *key);  // PyObject_GetItem
  PyObject *(*newDict)();
  intptr_t (*dictSize)(PyObject *);
  int (*dictSetItem)(PyObject *, PyObject *key, PyObject *value);
  intptr_t (*listSize)(PyObject *); // -1 and an error if it is no list
  intptr_t (*tupleSize)(PyObject *);
  PyObject *(*tupleItem)(PyObject *, intptr_t);  // borrowed
  PyObject *(*newTuple)(const char *types, ...); // Py_BuildValue
  void (*retain)(PyObject *);                    // Py_IncRef
  void (*release)(PyObject *);                   // Py_DecRef
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
  PyObject *inputs, *inputTypes;   // tuples of names, of tuples of dtypes
  PyObject *outputs, *outputKinds; // tuples of names, of what newArray takes
  intptr_t objectBytes;            // of the fields that every object has
};

} // namespace autopar::runtime

extern "C" {
/// Returns a tuple of two functions for the entry's steps. Only the package
/// `autopar` calls this. Null means that Python has an error, and None that the
/// functions cannot be made.
///
/// The first function takes a dict of arrays, runs a step, and returns a dict
/// of new arrays. The second one takes a dict of arrays and None, or an empty
/// list if no output is wanted, and runs no step: it returns a tuple of the
/// addresses of what autopar_session_run() takes as inputs and outputs, a dict
/// of new arrays, and an object that keeps the addresses valid.
///
/// Both return None and do nothing if the dict does not have exactly one dense
/// array of the right type for each input. An input of the role "counted_rows"
/// may be left out. The first one does so too if another call of it is under
/// way, or if this process was forked.
AUTOPAR_API autopar::runtime::PyObject *
autopar_python_calls(const autopar::runtime::PythonApi *python,
                     const autopar::runtime::PythonObjects *objects,
                     autopar_session *entry);
/// Returns once no call of the first function is under way. Later calls of it
/// return None. `self` is the `__self__` of the function.
AUTOPAR_API void autopar_python_end(autopar::runtime::PyObject *self);
}

#endif // AUTOPAR_RUNTIME_SESSION_PYTHONAPI_H
