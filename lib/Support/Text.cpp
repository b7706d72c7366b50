//===- Text.cpp - Parts of messages ---------------------------------------===//

#include "autopar/Support/Text.h"
#include "files/Text.h"
#include "llvm/Support/FormatVariadic.h"

namespace autopar {

std::string didYouMean(llvm::StringRef given,
                       llvm::ArrayRef<llvm::StringRef> known) {
  std::vector<std::string> words;
  for (llvm::StringRef word : known)
    words.push_back(word.str());
  return runtime::didYouMean(given.str(), words);
}

std::string printable(llvm::StringRef text) {
  return runtime::printable(std::string_view(text));
}

std::string secondsText(double seconds) {
  if (seconds < 1e-3)
    return llvm::formatv("{0:f1} us", seconds * 1e6);
  if (seconds < 1)
    return llvm::formatv("{0:f2} ms", seconds * 1e3);
  return llvm::formatv("{0:f2} s", seconds);
}

std::string bytesText(double bytes) { return runtime::bytesText(bytes); }

} // namespace autopar
