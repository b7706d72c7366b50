//===- Waves.h - The order in which a kernel computes elements --*- C++ -*-===//
//
// Devices compute a kernel's elements in no order that a program may rely on:
// threads share them out, loops go along other dimensions than the shape says.
// They keep to one rule: an iteration computes one element of the widest
// output, in the order of memory, and the elements of other outputs that are
// stored there, and it reads all that it needs before it writes. In a kernel
// that reduces rows, an iteration computes a row.
//
// The order of a kernel's iterations matters if an output is stored over an
// input: an iteration may read elements that another has written. Such a kernel
// runs in waves. Each wave reads memory as the waves before have left it and
// writes the results of a part of all iterations, drawn from everywhere. So a
// kernel that reads elements of other iterations finds garbage.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_DIALECT_INTERPRETER_WAVES_H
#define AUTOPAR_LIB_DIALECT_INTERPRETER_WAVES_H

#include "autopar/Dialect/Dialect.h"

namespace autopar::interpreter {

class Waves {
public:
  /// `inPlace`: some output shares bytes with an input; otherwise all is one
  /// wave.
  Waves(KernelOp kernel, bool inPlace);

  int64_t count() const { return waves; }
  /// Returns whether wave `wave` writes the element that is `number`-th of an
  /// output's `elements`.
  bool writes(int64_t wave, int64_t number, int64_t elements) const;

private:
  int64_t iterations = 1;
  int64_t waves = 1;
  int64_t stride = 1; // of the order in which waves take iterations
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_DIALECT_INTERPRETER_WAVES_H
