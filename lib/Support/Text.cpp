//===- Text.cpp - Parts of messages ---------------------------------------===//

#include "autopar/Support/Text.h"
#include "files/Text.h"
#include "llvm/ADT/StringSwitch.h"
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

llvm::Expected<int64_t> parseSize(llvm::StringRef text) {
  size_t digits = text.find_first_not_of("0123456789.");
  double value;
  double unit = llvm::StringSwitch<double>(text.substr(digits))
                    .Cases({"", "B"}, 1)
                    .Cases({"K", "KB", "kB"}, 1e3)
                    .Cases({"M", "MB"}, 1e6)
                    .Cases({"G", "GB"}, 1e9)
                    .Cases({"T", "TB"}, 1e12)
                    .Case("KiB", 0x1p10)
                    .Case("MiB", 0x1p20)
                    .Case("GiB", 0x1p30)
                    .Case("TiB", 0x1p40)
                    .Default(0);
  if (text.substr(0, digits).getAsDouble(value) || unit == 0 ||
      value * unit < 1 || value * unit > 0x1p62)
    return llvm::createStringError("'" + text +
                                   "' is no size; write 16GiB, 80GB or bytes");
  return static_cast<int64_t>(value * unit);
}

} // namespace autopar
