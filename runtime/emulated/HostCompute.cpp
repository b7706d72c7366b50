//===- HostCompute.cpp - How emulated libraries compute -------------------===//

#include "HostCompute.h"

namespace autopar::runtime::emulated {

HostCompute &hostCompute() {
  static HostCompute host;
  return host;
}

} // namespace autopar::runtime::emulated
