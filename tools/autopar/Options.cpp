//===- Options.cpp - The driver's command line ----------------------------===//

#include "Options.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace autopar::driver {

static std::string spelled(const Option &option) {
  return (option.name.size() == 1 ? "-" : "--") + option.name;
}

static const Option *findOption(ArrayRef<Option> options, StringRef dashed) {
  const auto *it = find_if(
      options, [&](const Option &option) { return spelled(option) == dashed; });
  return it == options.end() ? nullptr : it;
}

static Error unknownOption(ArrayRef<Option> options, StringRef name) {
  std::vector<std::string> words;
  for (const Option &option : options)
    words.push_back(spelled(option));
  std::vector<StringRef> refs(words.begin(), words.end());
  return createStringError("unknown option '" + name + "'" +
                           didYouMean(name, refs));
}

Error CommandLine::parse(ArrayRef<const char *> arguments) const {
  std::map<std::string, std::string> given; // by option
  for (size_t at = 0; at < arguments.size(); ++at) {
    StringRef argument = arguments[at];
    if (!argument.starts_with("-") || argument == "-") {
      if (!positional || !positional->empty())
        return createStringError("unexpected argument '" + argument + "'");
      *positional = argument.str();
      continue;
    }
    auto [name, inlined] = argument.split('=');
    bool hasInlined = argument.contains('=');
    const Option *option = findOption(options, name);
    if (!option)
      return unknownOption(options, name);
    if (option->value.empty() && hasInlined)
      return createStringError("option '" + name + "' takes no value");
    std::string value = inlined.str();
    size_t wanted = option->value.empty()
                        ? 0
                        : 1 + StringRef(option->value).count(' ') - hasInlined;
    if (arguments.size() - at <= wanted)
      return createStringError("option '" + name + "' needs a value: " + name +
                               " " + option->value);
    for (; wanted > 0; --wanted)
      value += (value.empty() ? "" : " ") + std::string(arguments[++at]);
    auto [before, isFirst] = given.emplace(option->name, value);
    if (!isFirst && !option->repeatable && before->second != value)
      errs() << "autopar: warning: option '" << name
             << "' is given twice: " << printable(value) << " holds, not "
             << printable(std::exchange(before->second, value)) << "\n";
    if (Error error = option->apply(value))
      return createStringError("option '" + name +
                               "': " + toString(std::move(error)));
  }
  return Error::success();
}

/// Prints a line of help. Those after its first one stand under that.
static void printOption(StringRef left, StringRef help) {
  for (StringRef line : split(help, '\n')) {
    outs() << format("  %-26s ", left.str().c_str()) << line << "\n";
    left = "";
  }
}

void CommandLine::printHelp() const {
  outs() << "usage: " << usage << "\n\n" << about << "\n\noptions:\n";
  for (const Option &option : options) {
    std::string left = spelled(option);
    if (!option.value.empty())
      left += " " + option.value;
    printOption(left, option.help);
  }
}

Option flag(std::string name, std::string help, bool &to) {
  return {std::move(name), "", std::move(help), [&to](StringRef) {
            to = true;
            return Error::success();
          }};
}

Option text(std::string name, std::string value, std::string help,
            std::string &to) {
  return {std::move(name), std::move(value), std::move(help),
          [&to](StringRef given) -> Error {
            if (given.empty())
              return createStringError("its value is empty");
            to = given.str();
            return Error::success();
          }};
}

Option texts(std::string name, std::string value, std::string help,
             std::vector<std::string> &to) {
  return {std::move(name), std::move(value), std::move(help),
          [&to](StringRef given) {
            to.push_back(given.str());
            return Error::success();
          },
          /*repeatable=*/true};
}

Option number(std::string name, std::string value, std::string help,
              int64_t &to) {
  return {std::move(name), std::move(value), std::move(help),
          [&to](StringRef given) -> Error {
            if (given.getAsInteger(10, to) || to < 1)
              return createStringError("'" + given +
                                       "' is no number of 1 or more");
            return Error::success();
          }};
}

} // namespace autopar::driver
