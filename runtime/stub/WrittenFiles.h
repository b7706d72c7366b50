//===- WrittenFiles.h - Results that would replace files --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_WRITTENFILES_H
#define AUTOPAR_RUNTIME_STUB_WRITTENFILES_H

#include "Run.h"

namespace autopar::runtime {

/// Checks that results do not overwrite each other, the run's arrays and
/// shards, the sources of the program, or the executable. A result may replace
/// the file of --weights, which is read before.
Status checkWrittenFiles(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_WRITTENFILES_H
