//===- OnnxReader.cpp - An ONNX file, read and checked --------------------===//

#include "autopar/Frontend/OnnxReader.h"
#include "ExternalData.h"
#include "OnnxContents.h"
#include "autopar/Support/Output.h"
#include "files/FileReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <zlib.h>

using namespace llvm;

namespace autopar {

/// Stamps by file, the model's own as "".
struct OnnxModel::Contents::Stamps {
  StringMap<runtime::FileStamp> byFile;
};

/// Subgraphs and nested types are the only recursion in an ONNX message.
static constexpr int kRecursionLimit = 64;

static Error error(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

//===----------------------------------------------------------------------===//
// gzip
//===----------------------------------------------------------------------===//

/// The most bytes to which a packed model may unpack, as a multiple of its
/// packed bytes; up to kFreeBytes the ratio does not matter.
static constexpr uint64_t kMostRatio = 256, kFreeBytes = 64 << 20;

static Error checkUnpacked(uint64_t bytes, uint64_t packed, uint64_t maxBytes) {
  if (bytes > maxBytes)
    return error("it unpacks to more than " + Twine(maxBytes) +
                 " bytes; keep the weights in external data");
  if (bytes > kFreeBytes && bytes / kMostRatio > packed)
    return error("it unpacks to more than " + Twine(kMostRatio) +
                 " times its " + Twine(packed) +
                 " bytes, which no model's graph does; if it is meant, unpack "
                 "it yourself (gunzip) and give the .onnx file");
  return Error::success();
}

static Error inflateAll(z_stream &stream, std::string &out, uint64_t maxBytes) {
  uint64_t packed = stream.avail_in;
  std::vector<char> chunk(1 << 20);
  for (int status = Z_OK; status != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef *>(chunk.data());
    stream.avail_out = chunk.size();
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END)
      return error("its gzip data is damaged or cut off");
    uint64_t count = chunk.size() - stream.avail_out;
    if (Error failed = checkUnpacked(out.size() + count, packed, maxBytes))
      return failed;
    out.append(chunk.data(), count);
    if (status == Z_STREAM_END && stream.avail_in != 0 &&
        inflateReset(&stream) == Z_OK)
      status = Z_OK; // another gzip member follows
  }
  return Error::success();
}

static Error gunzip(StringRef packed, std::string &out, uint64_t maxBytes) {
  if (packed.size() > UINT32_MAX)
    return error("it is too large");
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK)
    return error("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = packed.size();
  Error result = inflateAll(stream, out, maxBytes);
  inflateEnd(&stream);
  return result;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static Error parse(const std::string &bytes, onnx::ModelProto &proto) {
  if (bytes.size() > INT32_MAX)
    return error("it is larger than 2 GiB without its weights");
  google::protobuf::io::CodedInputStream input(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  input.SetRecursionLimit(kRecursionLimit);
  input.SetTotalBytesLimit(INT32_MAX);
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage())
    return error("not an ONNX model: its message does not parse");
  if (!proto.has_graph())
    return error("not an ONNX model: it holds no graph");
  return Error::success();
}

/// Tensors of one model, entered by name and by message.
class TensorCollector {
public:
  explicit TensorCollector(OnnxModel::Contents &content) : content(content) {}

  void collect() {
    const onnx::GraphProto &graph = content.proto.graph();
    for (int i = 0; i < graph.initializer_size(); ++i)
      add(graph.initializer(i).name(), graph.initializer(i),
          content.skeleton.initializers[i], /*isInitializer=*/true);
    for (int n = 0; n < graph.node_size(); ++n)
      for (int a = 0; a < graph.node(n).attribute_size(); ++a)
        if (isValue(graph.node(n), a))
          add(graph.node(n).output(0), graph.node(n).attribute(a).t(),
              rangeOf(n, a), /*isInitializer=*/false);
    for (int n = 0; n < graph.node_size(); ++n)
      for (int a = 0; a < graph.node(n).attribute_size(); ++a)
        if (!isValue(graph.node(n), a))
          attribute(graph.node(n).attribute(a), rangeOf(n, a));
    for (const onnx::FunctionProto &function : content.proto.functions()) {
      for (const onnx::NodeProto &inner : function.node())
        node(inner);
      for (const onnx::AttributeProto &byDefault : function.attribute_proto())
        attribute(byDefault, std::nullopt);
    }
  }

private:
  /// Returns whether an attribute is the tensor of a Constant node.
  static bool isValue(const onnx::NodeProto &node, int a) {
    return node.op_type() == "Constant" && node.output_size() == 1 &&
           node.attribute(a).name() == "value" && node.attribute(a).has_t();
  }

  /// The range of an attribute of one of the graph's own nodes.
  std::optional<DataRange> rangeOf(int node, int attribute) {
    auto range = content.skeleton.attributes.find({node, attribute});
    if (range == content.skeleton.attributes.end())
      return std::nullopt;
    return range->second;
  }

  /// Recursion is as deep as the message, which the parser limits.
  void node(const onnx::NodeProto &node) {
    for (int a = 0; a < node.attribute_size(); ++a)
      if (isValue(node, a))
        addInner(node.output(0), node.attribute(a).t(), false);
      else
        attribute(node.attribute(a), std::nullopt);
  }

  /// A tensor may be what a call gives to a Constant of a function.
  void attribute(const onnx::AttributeProto &attribute,
                 std::optional<DataRange> range) {
    if (attribute.has_g())
      subgraph(attribute.g());
    if (attribute.has_t() && content.proto.functions_size())
      addInner(attribute.name(), attribute.t(), false, range);
  }

  void subgraph(const onnx::GraphProto &graph) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      addInner(tensor.name(), tensor, true);
    for (const onnx::NodeProto &inner : graph.node())
      node(inner);
  }

  /// A name that may be taken by another body's tensor gets a number.
  void addInner(StringRef base, const onnx::TensorProto &proto,
                bool isInitializer,
                std::optional<DataRange> range = std::nullopt) {
    std::string name = base.str();
    for (unsigned &i = numbers[base]; content.tensors.contains(name);)
      name = base.str() + "/" + std::to_string(++i);
    add(name, proto, range, isInitializer);
  }

  void add(StringRef name, const onnx::TensorProto &proto,
           std::optional<DataRange> range, bool isInitializer) {
    auto fault = [&](const Twine &what) {
      content.faults.emplace_back(name.str(), what.str());
    };
    if (name.empty())
      return fault("an initializer has no name");
    Expected<OnnxTensor> tensor = checkTensor(proto, range);
    if (!tensor)
      return fault(toString(tensor.takeError()));
    tensor->name = name.str();
    tensor->isInitializer = isInitializer;
    auto [place, isNew] = content.tensors.try_emplace(name, std::move(*tensor));
    if (!isNew)
      return fault("two tensors have this name");
    content.byMessage[&proto] = &place->second;
  }

  OnnxModel::Contents &content;
  StringMap<unsigned> numbers;
};

static Error tooLarge(uint64_t maxBytes) {
  return error("it is larger than " + Twine(maxBytes) +
               " bytes; keep the weights in external data");
}

/// The bytes of the model's file. It is read, not mapped: one that is cut off
/// meanwhile is an error.
static Expected<std::unique_ptr<MemoryBuffer>>
readFile(OnnxModel::Contents &content) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(content.path, status))
    return error("it cannot be read: " + code.message());
  if (!sys::fs::is_regular_file(status)) { // a pipe
    auto buffer = MemoryBuffer::getFile(content.path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!buffer)
      return error("it cannot be read: " + buffer.getError().message());
    return std::move(*buffer);
  }
  runtime::FileReader file;
  if (Error failed = toError(file.open(content.path)))
    return std::move(failed);
  if (Error failed = toError(file.stamp(content.stamps->byFile[""])))
    return std::move(failed);
  if (uint64_t(file.size()) > content.options.maxBytes)
    return tooLarge(content.options.maxBytes);
  auto buffer = WritableMemoryBuffer::getNewUninitMemBuffer(file.size());
  if (!buffer)
    return error("there is no memory for its " + Twine(file.size()) + " bytes");
  if (Error failed =
          toError(file.readDirect(0, file.size(), buffer->getBufferStart())))
    return std::move(failed);
  return std::move(buffer);
}

static Error load(OnnxModel::Contents &content) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readFile(content);
  if (!file)
    return file.takeError();
  StringRef bytes = (*file)->getBuffer();
  content.packed = bytes.starts_with("\x1f\x8b");
  if (content.packed) {
    if (Error failed =
            gunzip(bytes, content.unpacked, content.options.maxBytes))
      return failed;
    bytes = content.unpacked;
  }
  if (bytes.size() > content.options.maxBytes)
    return tooLarge(content.options.maxBytes);
  Expected<Skeleton> skeleton = walkModel(bytes);
  if (!skeleton)
    return skeleton.takeError();
  content.skeleton = std::move(*skeleton);
  if (Error failed = parse(content.skeleton.bytes, content.proto))
    return failed;
  content.skeleton.bytes.clear();
  content.skeleton.bytes.shrink_to_fit();
  const onnx::GraphProto &graph = content.proto.graph();
  if (size_t(graph.initializer_size()) != content.skeleton.initializers.size())
    return error("not an ONNX model: its initializers do not parse");
  return Error::success();
}

OnnxModel::OnnxModel() : content(std::make_unique<Contents>()) {}
OnnxModel::~OnnxModel() = default;

Expected<std::unique_ptr<OnnxModel>>
OnnxModel::read(StringRef path, const ReadOptions &options) {
  std::unique_ptr<OnnxModel> model(new OnnxModel());
  Contents &content = *model->content;
  content.path = path.str();
  content.folder = sys::path::parent_path(path).str();
  content.fileName = sys::path::filename(path).str();
  content.options = options;
  content.stamps = std::make_unique<Contents::Stamps>();
  if (Error failed = load(content))
    return error(path + ": " + toString(std::move(failed)));
  TensorCollector(content).collect();
  return model;
}

StringRef OnnxModel::fileName() const { return content->fileName; }

bool OnnxModel::isGraphInitializer(StringRef name) const {
  if (content->initializers.empty())
    for (const onnx::TensorProto &tensor : content->proto.graph().initializer())
      content->initializers.insert(tensor.name());
  return content->initializers.contains(name);
}

std::vector<std::string> OnnxModel::knownInitializers() const {
  std::vector<std::string> names;
  for (StringRef name : content->known.keys())
    if (isGraphInitializer(name))
      names.push_back(name.str());
  llvm::sort(names);
  return names;
}

bool OnnxModel::isPacked() const { return content->packed; }

//===----------------------------------------------------------------------===//
// Bytes of tensors
//===----------------------------------------------------------------------===//

Expected<std::vector<char>>
OnnxModel::Contents::read(const OnnxTensor &tensor) const {
  switch (tensor.place) {
  case OnnxTensor::InMessage:
    return bytesInMessage(tensor);
  case OnnxTensor::External:
    return readBeneath(folder, tensor.file, tensor.offset, tensor.bytes,
                       options.allowLinkedWeights, stamps->byFile[tensor.file]);
  case OnnxTensor::InFile:
    break;
  }
  return readOwn(tensor.offset, tensor.bytes);
}

Expected<std::vector<char>>
OnnxModel::Contents::readOwn(uint64_t offset, uint64_t length) const {
  if (packed) {
    const char *begin = unpacked.data() + offset;
    return std::vector<char>(begin, begin + length);
  }
  if (length == 0)
    return std::vector<char>();
  runtime::FileReader file;
  std::vector<char> bytes(length);
  if (Error failed = toError(file.open(path)))
    return std::move(failed);
  if (Error failed = toError(file.readDirect(offset, length, bytes.data())))
    return std::move(failed);
  return bytes;
}

Error OnnxModel::checkUnchanged() const {
  for (const auto &stamp : content->stamps->byFile)
    if (Error failed = toError(stamp.second.check()))
      return failed;
  return Error::success();
}

Expected<std::vector<char>> OnnxModel::readParameter(StringRef name) const {
  auto tensor = content->tensors.find(name);
  if (tensor == content->tensors.end())
    return error(content->path + ": there is no parameter '" + name + "'");
  Expected<std::vector<char>> bytes = content->read(tensor->second);
  if (!bytes)
    return error(content->path + ": parameter '" + name +
                 "': " + toString(bytes.takeError()));
  return bytes;
}

} // namespace autopar
