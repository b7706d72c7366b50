//===- Text.h - Parts of messages -------------------------------*- C++ -*-===//

#ifndef AUTOPAR_SUPPORT_TEXT_H
#define AUTOPAR_SUPPORT_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace autopar {

/// The end of a message, `; did you mean 'tensor'?`, if one of the known words
/// is close to the given one; otherwise nothing.
std::string didYouMean(llvm::StringRef given,
                       llvm::ArrayRef<llvm::StringRef> known);

/// The text with its control characters written as `\x1b`, since names come
/// from files. Line ends and tabs stay.
std::string printable(llvm::StringRef text);

/// `12.1 us`, `3.40 ms`.
std::string secondsText(double seconds);

/// `484.4 MiB`, `1.2 GiB`.
std::string bytesText(double bytes);

/// Parses bytes as people write them: `16GiB`, `80GB`, `1000000`.
llvm::Expected<int64_t> parseSize(llvm::StringRef text);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXT_H
