//===- autopar.cpp - The command that users call --------------------------===//

#include "Commands.h"
#include "autopar/Support/MemoryFailure.h"
#include "autopar/version.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

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
    {"simulate", "replay a plan's step on its cluster, without devices",
     simulateCommand},
    {"ops", "list the ONNX operators that can be compiled, and what is not",
     opsCommand},
    {"predict", "say what measured collectives should have taken",
     predictCommand},
    {"run", "run a training, and again from its checkpoint where it dies",
     runCommand},
    {"checkpoint", "look into a training's checkpoint, check it, export it",
     checkpointCommand},
    {"calibrate", "measure this host into a file that --cluster takes",
     calibrateCommand},
};

int printHelp() {
  llvm::outs() << "autopar: compiles an ONNX model and a cluster description "
                  "into one multi-device executable\n\n"
                  "usage: autopar COMMAND [options]\n\ncommands:\n";
  for (const Command &command : commands)
    llvm::outs() << "  " << llvm::left_justify(command.name, 12) << command.help
                 << "\n";
  llvm::outs() << "\n`autopar --version` tells the version; `autopar COMMAND "
                  "--help` lists the options of a command.\n"
                  "AUTOPAR_PROGRESS=off in the environment: say nothing of how "
                  "far long work is.\n";
  return 0;
}

int printVersion() {
  llvm::outs() << "autopar " AUTOPAR_VERSION " (LLVM " LLVM_VERSION_STRING
                  ")\n";
  return 0;
}

int dispatch(llvm::ArrayRef<const char *> arguments) {
  if (arguments.empty())
    return complain("no command given; `autopar help` lists them");
  llvm::StringRef name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h")
    return printHelp();
  if (name == "--version" || name == "version")
    return printVersion();
  std::vector<llvm::StringRef> names;
  for (const Command &command : commands) {
    if (name == command.name)
      return command.run(arguments.drop_front());
    names.push_back(command.name);
  }
  return complain("unknown command '" + name + "'; `autopar help` lists them" +
                  autopar::didYouMean(name, names));
}

/// What could not be written to stdout is a failure like any other, and never
/// the end of the process in the middle of LLVM.
int finishOutput(int code) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (out.has_error() && code == 0)
    code = complain("cannot write standard output: " + out.error().message());
  out.clear_error();
  llvm::errs().clear_error();
  return code;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  autopar::installMemoryFailure("autopar");
  std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error of writing
  return finishOutput(dispatch({argv + 1, size_t(argc - 1)}));
}
