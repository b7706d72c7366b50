//===- SearchTrial.cpp - What became of a mesh, in words ------------------===//

#include "autopar/Planning/Search/SearchTrial.h"
#include "autopar/Support/Text.h"

using namespace llvm;

namespace autopar {

std::string toString(const SearchTrial &trial) {
  if (!trial.complaint.empty())
    return trial.name + ": none: " + trial.complaint;
  return trial.name + ": " + secondsText(trial.seconds) + ", at least " +
         secondsText(trial.lowerBoundSeconds) + ", " +
         bytesText(double(trial.peakMemoryBytes)) + " a device" +
         (trial.best ? ", best so far" : "");
}

} // namespace autopar
