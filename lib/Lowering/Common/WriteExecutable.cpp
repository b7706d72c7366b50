//===- WriteExecutable.cpp - Linking, and the file of a program -----------===//
//
// [stub ELF][padding to 4096]([program .so][trailer])...; see
// docs/RuntimeABI.md.
//
//===----------------------------------------------------------------------===//

#include "autopar/Lowering/Executable.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace autopar {

namespace {

/// A temporary file that goes away.
struct TemporaryFile {
  SmallString<128> path;
  FileRemover remover;

  Error create(StringRef suffix, int &descriptor) {
    if (std::error_code code =
            sys::fs::createTemporaryFile("autopar", suffix, descriptor, path))
      return createStringError(code, "cannot make a temporary file: " +
                                         code.message());
    remover.setFile(path);
    return Error::success();
  }
};

Error writeAll(int descriptor, ArrayRef<char> bytes, StringRef path) {
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os.write(bytes.data(), bytes.size());
  os.flush();
  if (std::error_code code = os.error()) {
    os.clear_error();
    return createStringError(code,
                             "cannot write '" + path + "': " + code.message());
  }
  return Error::success();
}

uint64_t checksum(ArrayRef<char> bytes) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (char byte : bytes)
    hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  return hash;
}

void appendWord(SmallVectorImpl<char> &to, uint64_t word) {
  for (unsigned byte = 0; byte < 8; ++byte)
    to.push_back(static_cast<char>(word >> (8 * byte)));
}

} // namespace

Expected<ProgramBytes> linkSharedObject(ArrayRef<ProgramBytes> objects) {
  TemporaryFile output;
  int descriptor;
  std::vector<std::unique_ptr<TemporaryFile>> inputs;
  for (const ProgramBytes &object : objects) {
    auto &input = inputs.emplace_back(std::make_unique<TemporaryFile>());
    if (Error error = input->create("o", descriptor))
      return std::move(error);
    if (Error error = writeAll(descriptor, object, input->path))
      return std::move(error);
  }
  if (Error error = output.create("so", descriptor))
    return std::move(error);
  sys::fs::file_t handle = sys::fs::convertFDToNativeFile(descriptor);
  sys::fs::closeFile(handle);
  std::string messages;
  raw_string_ostream errors(messages);
  std::vector<const char *> arguments{
      "ld.lld",      "-shared", "--hash-style=sysv", "--build-id=none", "-z",
      "noexecstack", "-o",      output.path.c_str()};
  for (auto &input : inputs)
    arguments.push_back(input->path.c_str());
  lld::Result result =
      lld::lldMain(arguments, nulls(), errors, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("cannot link the program: " + messages);
  auto buffer = MemoryBuffer::getFile(output.path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(),
                             "cannot read the linked program");
  return ProgramBytes((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

Expected<std::string> findStub() {
  static int anchor;
  std::string self = sys::fs::getMainExecutable("autopar", &anchor);
  SmallString<128> folder = sys::path::parent_path(self);
  for (StringRef place : {"", "../libexec", "../runtime"}) {
    SmallString<128> path = folder;
    sys::path::append(path, place, "autopar-stub");
    if (sys::fs::can_execute(path))
      return std::string(path);
  }
  return createStringError("no 'autopar-stub' beside '" + self +
                           "'; build the target autopar-stub, or install");
}

static void appendProgram(SmallVectorImpl<char> &bytes,
                          ArrayRef<char> program) {
  uint64_t offset = bytes.size();
  bytes.append(program.begin(), program.end());
  StringRef magic = "AUTOPAR1";
  bytes.append(magic.begin(), magic.end());
  appendWord(bytes, offset);
  appendWord(bytes, program.size());
  appendWord(bytes, checksum(program));
}

Error writeExecutable(StringRef path, StringRef stub,
                      ArrayRef<ProgramBytes> programs) {
  auto base = MemoryBuffer::getFile(stub, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!base)
    return createStringError(base.getError(), "cannot read '" + stub + "': " +
                                                  base.getError().message());
  SmallVector<char, 0> bytes((*base)->getBufferStart(),
                             (*base)->getBufferEnd());
  bytes.resize((bytes.size() + 4095) / 4096 * 4096);
  for (const ProgramBytes &program : programs)
    appendProgram(bytes, program);
  SmallString<128> beside;
  int descriptor;
  if (std::error_code code = sys::fs::createUniqueFile(
          path + ".%%%%%%%%", descriptor, beside, sys::fs::OF_None, 0700))
    return createStringError(code, "cannot write beside '" + path +
                                       "': " + code.message());
  FileRemover remover(beside);
  if (Error error = writeAll(descriptor, bytes, path))
    return error;
  if (std::error_code code = sys::fs::setPermissions(
          beside, sys::fs::all_read | sys::fs::owner_write | sys::fs::all_exe))
    return createStringError(code, "cannot make '" + path +
                                       "' executable: " + code.message());
  if (std::error_code code = sys::fs::rename(beside, path))
    return createStringError(code,
                             "cannot write '" + path + "': " + code.message());
  remover.releaseFile();
  return Error::success();
}

} // namespace autopar
