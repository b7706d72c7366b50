//===- autopar.cpp - The command that users call --------------------------===//

#include "Commands.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar::driver;

namespace {

struct Command {
  const char *name, *help;
  int (*run)(llvm::ArrayRef<const char *>);
};

constexpr Command commands[] = {
    {"compile", "ONNX model in, one executable for N ranks out",
     compileCommand},
    {"plan", "search and print the best plan for a cluster", planCommand},
    {"explain", "say why a plan is as it is and what else would cost",
     explainCommand},
    {"calibrate", "measure this host into a file that --cluster takes",
     calibrateCommand},
};

int printHelp() {
  llvm::outs() << "autopar: compiles an ONNX model and a cluster description "
                  "into one multi-device executable\n\n"
                  "usage: autopar COMMAND [options]\n\ncommands:\n";
  for (const Command &command : commands)
    llvm::outs() << "  " << llvm::left_justify(command.name, 10) << command.help
                 << "\n";
  llvm::outs()
      << "\n`autopar COMMAND --help` lists the options of a command.\n";
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::ArrayRef<const char *> arguments(argv + 1, argc - 1);
  if (arguments.empty())
    return complain("no command given; `autopar help` lists them");
  llvm::StringRef name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h")
    return printHelp();
  for (const Command &command : commands)
    if (name == command.name)
      return command.run(arguments.drop_front());
  return complain("unknown command '" + name + "'; `autopar help` lists them");
}
