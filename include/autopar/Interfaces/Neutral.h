//===- Neutral.h - What a reduction leaves unchanged ------------*- C++ -*-===//

#ifndef AUTOPAR_INTERFACES_NEUTRAL_H
#define AUTOPAR_INTERFACES_NEUTRAL_H

#include "autopar/Interfaces/Enums.h"

namespace autopar {

/// The neutral element of a reduction over real numbers: 0, 1, -inf or inf.
double neutralElement(ReduceKind kind);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_NEUTRAL_H
