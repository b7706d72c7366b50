//===- Text.h - Parts of messages -------------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_TEXT_H
#define AUTOPAR_RUNTIME_FILES_TEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace autopar::runtime {

/// `; did you mean 'tensor'?` if one of the known words is close to the one
/// given, for the end of a message; else nothing.
std::string didYouMean(const std::string &given,
                       const std::vector<std::string> &known);

/// The text as a terminal may have it: names come from files, and their control
/// characters, which could move the cursor or hide what was said, are written
/// as `\x1b`. Lines and tabs stay.
std::string printable(std::string_view text);

/// `484.4 MiB`, `1.2 GiB`.
std::string bytesText(double bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_TEXT_H
