//===- SharedMemory.h - Memory of several processes -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SHAREDMEMORY_H
#define AUTOPAR_RUNTIME_CORE_SHAREDMEMORY_H

#include "Memory.h"

namespace autopar::runtime {

/// Memory that the processes of a host share, piece by piece. As it is made,
/// its pieces are anonymous: they are shared with processes that are forked
/// later. As a file without a name they are shared with whoever is given its
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
  /// The file's descriptor; -1: pieces are anonymous.
  int descriptor() const { return file; }

  /// Gives the next piece, zeroed where it is new.
  Status take(int64_t bytes, const char *what, Buffer &piece);
  /// True: pieces are new, and this process makes what is in them.
  bool isNew() const { return !attached; }
  /// The bytes of all pieces.
  int64_t size() const { return end; }

private:
  int file = -1;
  bool attached = false;
  int64_t end = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SHAREDMEMORY_H
