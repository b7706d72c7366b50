//===- SharedMemory.h - Memory of several processes -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SHAREDMEMORY_H
#define AUTOPAR_RUNTIME_CORE_SHAREDMEMORY_H

#include "Memory.h"

namespace autopar::runtime {

/// Memory that the processes of a host share, piece by piece. By default its
/// pieces are anonymous and shared with processes that are forked later. If it
/// is a file without a name, it is shared with every process that receives its
/// descriptor and takes the same pieces in the same order.
class SharedMemory {
public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  /// Must be called before the first piece is taken. `createFile` makes the
  /// file; `attach` uses another process's.
  Status createFile();
  void attach(int descriptor);
  /// Returns the file's descriptor, or -1 if pieces are anonymous.
  int descriptor() const { return file; }

  /// Takes the next piece, which is zeroed if it is new.
  Status take(int64_t bytes, const char *what, Buffer &piece);
  /// Returns whether pieces are new, so that this process initializes them.
  bool isNew() const { return !attached; }
  /// Returns the bytes of all pieces.
  int64_t size() const { return end; }

private:
  int file = -1;
  bool attached = false;
  int64_t end = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SHAREDMEMORY_H
