//===- WorkerSetup.cpp - What a session tells its workers -----------------===//

#include "Worker.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace autopar::runtime {

using Json = nlohmann::json;

static constexpr size_t descriptorBytes = 2 * sizeof(int);

namespace {
/// A message with two descriptors.
struct Envelope {
  Envelope(char *text, size_t size) : part{text, size} {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  Envelope(const Envelope &) = delete;
  Envelope &operator=(const Envelope &) = delete;

  iovec part;
  alignas(cmsghdr) char control[CMSG_SPACE(descriptorBytes)] = {};
  msghdr message{};
};
} // namespace

Status sendSetup(int socket, const WorkerSetup &setup, int memory, int owner) {
  Json json = {{"protocol", sessionProtocol},
               {"first", setup.first},
               {"bytes", setup.bytes},
               {"entries", setup.entries},
               {"checksums", setup.checksums},
               {"weights", setup.weights},
               {"threads", setup.options.threads},
               {"timeout", setup.options.timeoutSeconds},
               {"graphs", setup.options.graphs},
               {"verify", setup.options.verifyWeights}};
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  Envelope envelope(text.data(), text.size());
  cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptorBytes);
  int descriptors[] = {memory, owner};
  std::memcpy(CMSG_DATA(header), descriptors, descriptorBytes);
  if (sendmsg(socket, &envelope.message, MSG_NOSIGNAL) == ssize_t(text.size()))
    return Status::success();
  return Status::error(std::string("cannot tell the ranks' process what to "
                                   "do: ") +
                       std::strerror(errno));
}

static bool readSetup(const std::string &text, WorkerSetup &setup) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("protocol", 0) != sessionProtocol)
    return false;
  setup.first = json.value("first", 0);
  setup.bytes = json.value("bytes", int64_t(0));
  setup.entries = json.value("entries", std::vector<size_t>());
  setup.checksums = json.value("checksums", std::vector<uint64_t>());
  setup.weights = json.value("weights", std::string());
  setup.options.threads = json.value("threads", int64_t(0));
  setup.options.timeoutSeconds = json.value("timeout", 0.0);
  setup.options.graphs = json.value("graphs", true);
  setup.options.verifyWeights = json.value("verify", false);
  return true;
}

Status otherVersion() {
  return Status::error("the executable is of another version of autopar than "
                       "the session's library; compile the model again");
}

Status receiveSetup(WorkerSetup &setup, int &memory, int &owner) {
  std::string text(1 << 16, 0);
  Envelope envelope(text.data(), text.size());
  ssize_t got = recvmsg(workerSocket, &envelope.message, MSG_CMSG_CLOEXEC);
  cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&envelope.message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(descriptorBytes))
    return Status::error(std::string(workerArgument) +
                         " is for sessions, which start ranks by it");
  int descriptors[2];
  std::memcpy(descriptors, CMSG_DATA(header), descriptorBytes);
  memory = descriptors[0];
  owner = descriptors[1];
  text.resize(size_t(got));
  return readSetup(text, setup) ? Status::success() : otherVersion();
}

} // namespace autopar::runtime
