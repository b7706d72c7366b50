//===- Units.h - Numbers for people -----------------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_UNITS_H
#define AUTOPAR_LIB_PLANNING_UNITS_H

#include "autopar/Interfaces/Sharding.h"
#include "autopar/Support/Text.h"
#include <string>

namespace autopar {

std::string meshText(const Mesh &mesh); // data=2, tensor=2

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_UNITS_H
