//===- PlanText.h - Parts of a plan as text ---------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_PLANTEXT_H
#define AUTOPAR_LIB_PLANNING_PLANTEXT_H

#include "autopar/Interfaces/Sharding.h"
#include "autopar/Planning/Plan.h"
#include "autopar/Support/Text.h"
#include <string>

namespace autopar {

/// `12.3 ms predicted`, and of what, where steps overlap.
std::string stepText(const Plan &plan);
std::string meshText(const Mesh &mesh); // data=2, tensor=2

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_PLANTEXT_H
