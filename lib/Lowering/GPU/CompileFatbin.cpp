//===- CompileFatbin.cpp - PTX to cubins and a fatbin ---------------------===//

#include "CompileFatbin.h"
#include "FindCuda.h"
#include "autopar/Support/Output.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

namespace {

constexpr StringLiteral architectures[] = {"sm_80", "sm_90", "sm_100"};

/// A compiler that takes longer does not end.
constexpr unsigned kToolSeconds = 1200;

/// Files that go with their owner, and when a signal ends the compiler.
class ScratchFiles {
public:
  ~ScratchFiles() {
    for (const std::string &path : paths) {
      sys::fs::remove(path);
      sys::DontRemoveFileOnSignal(path);
    }
  }
  Expected<std::string> create(StringRef stem, StringRef suffix) {
    SmallString<128> path;
    if (std::error_code error = sys::fs::createTemporaryFile(
            "autopar-kernels-" + stem, suffix, path))
      return createStringError("no file for the kernels: " + error.message());
    paths.push_back(std::string(path));
    sys::RemoveFileOnSignal(path);
    if (StringRef(path).contains(','))
      return createStringError("fatbinary takes no file with a comma in its "
                               "name: " +
                               path + "; let TMPDIR name another folder");
    return paths.back();
  }

private:
  std::vector<std::string> paths;
};

/// Runs a program of the toolkit; what it says is part of the error.
Error runTool(ScratchFiles &files, StringRef program,
              ArrayRef<std::string> arguments) {
  auto log = files.create("log", "txt");
  if (!log)
    return log.takeError();
  SmallVector<StringRef> words{program};
  llvm::append_range(words, arguments);
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(*log),
                                          StringRef(*log)};
  int code = sys::ExecuteAndWait(program, words, std::nullopt, redirects,
                                 kToolSeconds, /*MemoryLimit=*/0, &message);
  if (code == 0)
    return Error::success();
  if (auto said = MemoryBuffer::getFile(*log))
    message += (*said)->getBuffer().take_front(2000).str();
  return createStringError(program + " failed: " + message);
}

Expected<SmallVector<char, 0>> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

/// Compiles PTX; gives the file of the cubin.
Expected<std::string> compilePtx(ScratchFiles &files, StringRef ptxas,
                                 StringRef arch, StringRef source) {
  auto cubin = files.create(arch, "cubin");
  if (!cubin)
    return cubin.takeError();
  if (Error error = runTool(
          files, ptxas,
          {"-O3", "--gpu-name", arch.str(), "-o", *cubin, source.str()}))
    return std::move(error);
  return cubin;
}

/// The architectures for which `ptxas` compiles an empty program; an older
/// ptxas does not know them all.
Expected<SmallVector<StringRef>> knownTo(ScratchFiles &files, StringRef ptxas,
                                         mlir::gpu::GPUModuleOp kernels) {
  auto source = files.create("empty", "ptx");
  if (!source)
    return source.takeError();
  if (Error error =
          writeFile(*source, ".version 7.0\n.target sm_80\n.address_size 64\n"))
    return std::move(error);
  SmallVector<StringRef> known;
  SmallVector<std::string> unknown;
  for (StringRef arch : architectures) {
    auto cubin = compilePtx(files, ptxas, arch, *source);
    if (cubin)
      known.push_back(arch);
    else
      unknown.push_back(toString(cubin.takeError()));
  }
  if (known.empty())
    return createStringError(unknown.front());
  if (!unknown.empty())
    kernels.emitRemark() << ptxas << " knows " << llvm::join(known, ", ")
                         << " alone: newer GPUs take the program's PTX, which "
                            "the driver compiles at start ("
                         << StringRef(unknown.front()).rtrim() << ")";
  return known;
}

SmallVector<char, 0> zeroEnded(StringRef text) {
  SmallVector<char, 0> bytes(text.begin(), text.end());
  bytes.push_back('\0');
  return bytes;
}

/// Adds what fatbinary shall take of one architecture; the PTX of the oldest
/// one is kept.
Error addArchitecture(ScratchFiles &files, StringRef ptxas,
                      mlir::gpu::GPUModuleOp kernels, StringRef arch,
                      bool withPtx, std::vector<std::string> &images,
                      SmallVector<char, 0> &oldest) {
  auto ptx = compileToPtx(kernels, arch);
  if (!ptx)
    return ptx.takeError();
  if (arch == architectures[0])
    oldest = zeroEnded(*ptx);
  auto source = files.create(arch, "ptx");
  if (!source)
    return source.takeError();
  if (Error error = writeFile(*source, *ptx))
    return error;
  auto cubin = compilePtx(files, ptxas, arch, *source);
  if (!cubin)
    return cubin.takeError();
  std::string sm = arch.drop_front(3).str();
  images.push_back("--image3=kind=elf,sm=" + sm + ",file=" + *cubin);
  if (withPtx)
    images.push_back("--image3=kind=ptx,sm=" + sm + ",file=" + *source);
  return Error::success();
}

Expected<DeviceImages> onlyPtx(mlir::gpu::GPUModuleOp kernels,
                               StringRef missing) {
  kernels.emitRemark() << "no " << missing
                       << " found: the program carries PTX, which the driver "
                          "compiles at start (install a CUDA toolkit or `pip "
                          "install nvidia-cuda-nvcc` and set CUDA_HOME)";
  auto ptx = compileToPtx(kernels, architectures[0]);
  if (!ptx)
    return ptx.takeError();
  return DeviceImages{zeroEnded(*ptx), {}};
}

} // namespace

Expected<DeviceImages> compileFatbin(mlir::gpu::GPUModuleOp kernels) {
  auto ptxas = findCudaTool("ptxas");
  auto fatbinary = findCudaTool("fatbinary", ptxas.value_or(""));
  if (!ptxas || !fatbinary)
    return onlyPtx(kernels, ptxas ? "fatbinary" : "ptxas");
  ScratchFiles files;
  auto result = files.create("all", "fatbin");
  if (!result)
    return result.takeError();
  auto known = knownTo(files, *ptxas, kernels);
  if (!known)
    return known.takeError();
  std::vector<std::string> arguments{"--create=" + *result, "-64"};
  DeviceImages images;
  for (StringRef arch : *known)
    if (Error error =
            addArchitecture(files, *ptxas, kernels, arch, arch == known->back(),
                            arguments, images.ptx))
      return error;
  if (images.ptx.empty()) { // a ptxas that forgot the oldest architecture
    auto ptx = compileToPtx(kernels, architectures[0]);
    if (!ptx)
      return ptx.takeError();
    images.ptx = zeroEnded(*ptx);
  }
  if (Error error = runTool(files, *fatbinary, arguments))
    return error;
  auto code = readFile(*result);
  if (!code)
    return code.takeError();
  images.code = std::move(*code);
  return images;
}

} // namespace autopar
