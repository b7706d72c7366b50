//===- WriteExecutable.cpp - Linking, and the file of a program -----------===//
//
// [stub ELF][padding to 4096][weights][trailer]([program .so][trailer])...; see
// docs/RuntimeABI.md.
//
//===----------------------------------------------------------------------===//

#include "autopar/Frontend/OnnxReader.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Executable.h"
#include "autopar/Lowering/MadeWeights.h"
#include "autopar/Lowering/Passes.h"
#include "autopar/Support/Output.h"
#include "files/ContentHash.h"
#include "files/OutputFile.h"
#include "lld/Common/Driver.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace autopar {

#define GEN_PASS_DEF_WRITEEXECUTABLE
#include "autopar/Lowering/Passes.h.inc"

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

namespace {

/// The file, piece by piece.
class ExecutableWriter {
public:
  /// Begins with the stub.
  Error open(StringRef path);
  /// The file to which the caller writes the bytes of weights until endWeights.
  runtime::OutputFile &file() { return out; }
  Error endWeights(uint64_t offset, uint64_t size, uint64_t content) {
    return trailer("AUTOPARW", offset, size, content);
  }
  Error addProgram(ArrayRef<char> program);
  Error finish() { return toError(out.commit()); }

private:
  Error append(ArrayRef<char> bytes) {
    return toError(out.write(bytes.data(), bytes.size()));
  }
  Error trailer(StringRef magic, uint64_t offset, uint64_t size, uint64_t sum);

  runtime::OutputFile out;
};

} // namespace

/// "AUTOPAR2" or "AUTOPARW", then offset, size and checksum.
Error ExecutableWriter::trailer(StringRef magic, uint64_t offset, uint64_t size,
                                uint64_t sum) {
  ProgramBytes bytes(magic.begin(), magic.end());
  for (uint64_t word : {offset, size, sum})
    appendWord(bytes, word);
  return append(bytes);
}

Error ExecutableWriter::open(StringRef path) {
  Expected<std::string> stub = findStub();
  if (!stub)
    return stub.takeError();
  auto base = MemoryBuffer::getFile(*stub, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!base)
    return createStringError(base.getError(), "cannot read '" + *stub + "': " +
                                                  base.getError().message());
  if (Error error = toError(out.open(path.str(), /*isProgram=*/true)))
    return error;
  SmallVector<char, 0> bytes((*base)->getBufferStart(),
                             (*base)->getBufferEnd());
  bytes.resize(alignTo(bytes.size(), 4096));
  return append(bytes);
}

Error ExecutableWriter::addProgram(ArrayRef<char> program) {
  uint64_t offset = out.position();
  if (Error error = append(program))
    return error;
  return trailer("AUTOPAR2", offset, program.size(), checksum(program));
}

/// Writes the weights, each at its offset from where `out` is; gives their
/// hash.
static Expected<uint64_t> writeWeights(const MadeWeights &made,
                                       const OnnxModel &model,
                                       runtime::OutputFile &out) {
  runtime::ContentHash hash;
  int64_t written = 0;
  auto append = [&](ArrayRef<char> bytes) {
    hash.add(bytes.data(), bytes.size());
    written += bytes.size();
    return toError(out.write(bytes.data(), bytes.size()));
  };
  for (const MadeWeights::Piece &piece : made.all()) {
    auto bytes = model.readParameter(piece.name);
    if (!bytes)
      return bytes.takeError();
    if (static_cast<int64_t>(bytes->size()) != piece.size)
      return createStringError("parameter '" + piece.name + "' has " +
                               Twine(bytes->size()) + " bytes, not " +
                               Twine(piece.size));
    if (Error error = append(std::vector<char>(piece.offset - written)))
      return std::move(error);
    if (Error error = append(*bytes))
      return std::move(error);
  }
  return hash.value();
}

/// The weights' own file: it ends with their hash.
static Expected<uint64_t> writeBeside(const MadeWeights &made,
                                      const OnnxModel &model) {
  runtime::OutputFile file;
  if (Error error = toError(file.open(made.path())))
    return std::move(error);
  auto hash = writeWeights(made, model, file);
  if (!hash)
    return hash.takeError();
  SmallString<16> end("AUTOPARW");
  appendWord(end, *hash);
  if (Error error = toError(file.write(end.data(), end.size())))
    return std::move(error);
  if (Error error = model.checkUnchanged())
    return std::move(error);
  if (Error error = toError(file.commit()))
    return std::move(error);
  return hash;
}

Error writeExecutable(StringRef path, ArrayRef<ProgramBytes> programs,
                      const MadeWeights &made, const OnnxModel *model) {
  ExecutableWriter writer;
  if (Error error = writer.open(path))
    return error;
  if (!made.all().empty()) {
    uint64_t begin = made.isEmbedded() ? writer.file().position() : 0;
    auto hash = made.isEmbedded() ? writeWeights(made, *model, writer.file())
                                  : writeBeside(made, *model);
    if (!hash)
      return hash.takeError();
    if (Error error = writer.endWeights(begin, made.end(), *hash))
      return error;
  }
  for (const ProgramBytes &program : programs)
    if (Error error = writer.addProgram(program))
      return error;
  if (Error error = model ? model->checkUnchanged() : Error::success())
    return error;
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct WriteExecutable : impl::WriteExecutableBase<WriteExecutable> {
  using WriteExecutableBase::WriteExecutableBase;
  explicit WriteExecutable(std::vector<ProgramBytes> *programs)
      : programs(programs) {}

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
    mlir::registerGPUDialectTranslation(registry);
    mlir::registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    if (Error error = run()) {
      mlir::emitError(getOperation().getLoc()) << toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  Error run() {
    mlir::ModuleOp module = getOperation();
    auto program = compileProgram(module, targetName(module));
    if (!program)
      return program.takeError();
    if (programs) {
      programs->push_back(std::move(*program));
      return Error::success();
    }
    if (executable.empty())
      return createStringError("no file to write: give executable=FILE");
    auto made = MadeWeights::create(
        executable, embed,
        module->getAttrOfType<mlir::ArrayAttr>(AutoparDialect::kMadeWeights));
    if (!made)
      return made.takeError();
    std::unique_ptr<OnnxModel> file;
    if (!made->all().empty()) {
      if (model.empty())
        return createStringError("the executable has weights of the model in "
                                 "it or beside it: give model=FILE");
      auto read = OnnxModel::read(model);
      if (!read)
        return read.takeError();
      file = std::move(*read);
    }
    return writeExecutable(executable, {std::move(*program)}, *made,
                           file.get());
  }

  std::vector<ProgramBytes> *programs = nullptr;
};

} // namespace

std::unique_ptr<mlir::Pass>
createWriteExecutable(std::vector<ProgramBytes> *programs) {
  return std::make_unique<WriteExecutable>(programs);
}

} // namespace autopar
