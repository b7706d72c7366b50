//===- BeneathFile.h - Files that a model names -----------------*- C++ -*-===//
//
// A model comes from outside: the places of external data that it names are
// hostile until checked.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_FILES_BENEATHFILE_H
#define AUTOPAR_RUNTIME_FILES_BENEATHFILE_H

#include "../core/Status.h"

#include <cstdint>
#include <string>

namespace autopar::runtime {

/// A location of external data is a relative path that does not climb.
Status checkBeneathPath(const std::string &file);

/// What openBeneath accepts; `hint` ends messages about a link.
struct BeneathLinks {
  bool follow = false; // symbolic and hard links, inside the folder
  std::string followHint, acceptHint;
};

/// Opens the plain file `file` beneath `folder` ("": the working one) for
/// reading. Nothing outside of the folder is ever opened. After a failure errno
/// says what the system did, 0 where it was us who refused.
Status openBeneath(const std::string &folder, const std::string &file,
                   const BeneathLinks &links, int &descriptor, uint64_t &bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_BENEATHFILE_H
