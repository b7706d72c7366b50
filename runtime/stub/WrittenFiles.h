//===- WrittenFiles.h - Results that would replace files --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_WRITTENFILES_H
#define AUTOPAR_RUNTIME_STUB_WRITTENFILES_H

#include "Run.h"

namespace autopar::runtime {

/// A result may replace the file of --weights, which is read before, but not
/// the run's arrays and shards, what the program was compiled of, the
/// executable, or another result.
Status checkWrittenFiles(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_WRITTENFILES_H
