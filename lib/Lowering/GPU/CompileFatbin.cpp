//===- CompileFatbin.cpp - PTX to cubins and a fatbin ---------------------===//

#include "CompileFatbin.h"
#include "FindCuda.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

namespace {

constexpr StringLiteral architectures[] = {"sm_80", "sm_90", "sm_100"};

/// A folder that goes with its owner.
class ScratchFolder {
public:
  ~ScratchFolder() {
    if (!path.empty())
      sys::fs::remove_directories(path);
  }
  Error create() {
    if (std::error_code error =
            sys::fs::createUniqueDirectory("autopar-kernels", path))
      return createStringError("no folder for the kernels: " + error.message());
    return Error::success();
  }
  std::string file(const Twine &name) const {
    SmallString<128> result(path);
    sys::path::append(result, name);
    return std::string(result);
  }

private:
  SmallString<128> path;
};

Error writeFile(StringRef path, StringRef text) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  os << text;
  os.close();
  if (error || os.has_error())
    return createStringError(path + " cannot be written");
  return Error::success();
}

/// Runs a program of the toolkit; what it says is part of the error.
Error runTool(const ScratchFolder &folder, StringRef program,
              ArrayRef<std::string> arguments) {
  SmallVector<StringRef> words{program};
  llvm::append_range(words, arguments);
  std::string log = folder.file("log"), message;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  int code =
      sys::ExecuteAndWait(program, words, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (code == 0)
    return Error::success();
  if (auto said = MemoryBuffer::getFile(log))
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

/// Adds what fatbinary shall take of one architecture.
Error addArchitecture(const ScratchFolder &folder, StringRef ptxas,
                      mlir::gpu::GPUModuleOp kernels, StringRef arch,
                      std::vector<std::string> &images) {
  auto ptx = compileToPtx(kernels, arch);
  if (!ptx)
    return ptx.takeError();
  std::string source = folder.file(arch + ".ptx");
  std::string cubin = folder.file(arch + ".cubin");
  if (Error error = writeFile(source, *ptx))
    return error;
  if (Error error =
          runTool(folder, ptxas,
                  {"-O3", "--gpu-name", arch.str(), "-o", cubin, source}))
    return error;
  std::string sm = arch.drop_front(3).str();
  images.push_back("--image3=kind=elf,sm=" + sm + ",file=" + cubin);
  if (arch == std::end(architectures)[-1])
    images.push_back("--image3=kind=ptx,sm=" + sm + ",file=" + source);
  return Error::success();
}

Expected<SmallVector<char, 0>> onlyPtx(mlir::gpu::GPUModuleOp kernels,
                                       StringRef missing) {
  kernels.emitRemark() << "no " << missing
                       << " found: the program carries PTX, which the driver "
                          "compiles at start (install a CUDA toolkit or `pip "
                          "install nvidia-cuda-nvcc` and set CUDA_HOME)";
  auto ptx = compileToPtx(kernels, architectures[0]);
  if (!ptx)
    return ptx.takeError();
  SmallVector<char, 0> bytes(ptx->begin(), ptx->end());
  bytes.push_back('\0');
  return bytes;
}

} // namespace

Expected<SmallVector<char, 0>> compileFatbin(mlir::gpu::GPUModuleOp kernels) {
  auto ptxas = findCudaTool("ptxas"), fatbinary = findCudaTool("fatbinary");
  if (!ptxas || !fatbinary)
    return onlyPtx(kernels, ptxas ? "fatbinary" : "ptxas");
  ScratchFolder folder;
  if (Error error = folder.create())
    return error;
  std::string result = folder.file("kernels.fatbin");
  std::vector<std::string> arguments{"--create=" + result, "-64"};
  for (StringRef arch : architectures)
    if (Error error = addArchitecture(folder, *ptxas, kernels, arch, arguments))
      return error;
  if (Error error = runTool(folder, *fatbinary, arguments))
    return error;
  return readFile(result);
}

} // namespace autopar
