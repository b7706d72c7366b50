//===- WriteExecutable.cpp - Linking, and the file of a program -----------===//
//
// [stub ELF][padding to 4096][weights][trailer]([program .so][trailer])...; see
// docs/RuntimeABI.md.
//
//===----------------------------------------------------------------------===//

#include "autopar/Lowering/Executable.h"
#include "autopar/Support/Output.h"
#include "files/OutputFile.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MathExtras.h"
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

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

ExecutableWriter::ExecutableWriter()
    : out(std::make_unique<runtime::OutputFile>()) {}
ExecutableWriter::~ExecutableWriter() = default;

llvm::Error ExecutableWriter::finish() { return toError(out->commit()); }

/// "AUTOPAR1" or "AUTOPARW", then offset, size and checksum.
Error ExecutableWriter::trailer(StringRef magic, uint64_t offset, uint64_t size,
                                uint64_t sum) {
  ProgramBytes bytes(magic.begin(), magic.end());
  for (uint64_t word : {offset, size, sum})
    appendWord(bytes, word);
  return append(bytes);
}

Error ExecutableWriter::append(ArrayRef<char> bytes) {
  return toError(out->write(bytes.data(), bytes.size()));
}

Error ExecutableWriter::open(StringRef path, StringRef stub) {
  auto base = MemoryBuffer::getFile(stub, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!base)
    return createStringError(base.getError(), "cannot read '" + stub + "': " +
                                                  base.getError().message());
  if (Error error = toError(out->open(path.str(), /*isProgram=*/true)))
    return error;
  SmallVector<char, 0> bytes((*base)->getBufferStart(),
                             (*base)->getBufferEnd());
  bytes.resize(alignTo(bytes.size(), 4096));
  return append(bytes);
}

Error ExecutableWriter::endWeights(const MadeWeightsPlace &place) {
  return trailer("AUTOPARW", place.offset, place.size, place.content);
}

Error ExecutableWriter::addProgram(ArrayRef<char> program) {
  uint64_t offset = out->position();
  if (Error error = append(program))
    return error;
  return trailer("AUTOPAR1", offset, program.size(), checksum(program));
}

Error writeExecutable(StringRef path, StringRef stub,
                      ArrayRef<ProgramBytes> programs) {
  ExecutableWriter writer;
  if (Error error = writer.open(path, stub))
    return error;
  for (const ProgramBytes &program : programs)
    if (Error error = writer.addProgram(program))
      return error;
  return writer.finish();
}

} // namespace autopar
