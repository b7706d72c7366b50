//===- Text.cpp - Parts of messages ---------------------------------------===//

#include "autopar/Support/Text.h"
#include "files/Text.h"

namespace autopar {

std::string didYouMean(llvm::StringRef given,
                       llvm::ArrayRef<llvm::StringRef> known) {
  std::vector<std::string> words;
  for (llvm::StringRef word : known)
    words.push_back(word.str());
  return runtime::didYouMean(given.str(), words);
}

std::string bytesText(double bytes) { return runtime::bytesText(bytes); }

} // namespace autopar
