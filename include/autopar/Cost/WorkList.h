//===- WorkList.h - Order and memory of a function's work -------*- C++ -*-===//
//
// Plain data: Cost makes a work list from kernel groups to predict memory,
// Schedule makes one from kernels to fix it. Both decide by the functions here.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_WORKLIST_H
#define AUTOPAR_COST_WORKLIST_H

#include "autopar/Cost/Arena.h"
#include "llvm/ADT/SmallVector.h"

namespace autopar {

/// A value in memory. Reshapes of it are the same buffer.
struct WorkBuffer {
  int64_t bytes = 0;
  /// A parameter, a setup value, or an input that is read where the host holds
  /// it: not in the arena, and no result is stored over it.
  bool persistent = false;
  bool input = false;  // given at the start: alive until its last read
  bool output = false; // alive from its write to the end
};

enum class WorkKind { Compute, Collective, Send, Recv };

/// A kernel, a collective, a send or a receive.
struct WorkItem {
  WorkKind kind = WorkKind::Compute;
  int64_t channel = -1; // of Send and Recv: in order on each channel
  llvm::SmallVector<unsigned, 4> reads, writes; // buffers
  /// Pairs (index in writes, index in reads): the one may be stored over the
  /// other.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> inPlace;
};

/// How a target communicates.
struct CommunicationRules {
  /// Communication runs beside compute items, one after the other.
  bool ownStream = false;
  /// A send ends with its receive: all messages of a step go in one order, that
  /// of their channels.
  bool rendezvous = false;
  /// Collectives add and compare integers of 16 bits.
  bool reducesShortIntegers = true;
  /// Ranks of a host pass collectives and messages through memory that they
  /// share; otherwise through the communication library's own.
  bool sharesMemory = false;
};

/// A state: the buffer that holds it at the start, and the one of its next
/// value. Both are the same memory.
struct WorkState {
  unsigned argument, next;
};

struct WorkList {
  std::vector<WorkBuffer> buffers;
  std::vector<WorkItem> items;
  CommunicationRules communication;
  std::vector<WorkState> states;
};

/// Per state whether its next value cannot be computed in the state's memory,
/// the items taken as they stand: the state is read after it, or by the item
/// that writes it and not in place. It must then be computed elsewhere, and
/// copied at the end.
std::vector<bool> statesToCopy(const WorkList &work);

/// An order of the items that respects reads after writes, and writes of states
/// after the reads before them: collectives and sends as soon as their operands
/// are computed, collectives of arguments and receives just before their first
/// reader. Compute items are as they stand, but for two kinds: single numbers
/// that come of single numbers are computed as soon as they can be, and when
/// the last readers of a buffer can be computed and leave less in the arena
/// than the buffer takes, they are, as the update by a gradient
///
///   gradient of b; gradient of a; update of a; update of b
///   -> gradient of b; update of b; gradient of a; update of a
///
/// unless kernels would wait for communication on its own stream that they have
/// not waited for. Of two messages of which one needs the other, that one has
/// the higher channel.
std::vector<unsigned> orderWork(const WorkList &work);
/// The same work in that order.
WorkList orderedWork(const WorkList &work);

struct MemoryPlan {
  std::vector<int64_t> offsets; // per buffer; -1: persistent
  int64_t arenaBytes = 0;
};
/// Places the buffers of `work`, its items taken as they stand. What
/// communication on its own stream reads or writes stays in place until the
/// kernels wait for it anyway.
MemoryPlan planMemory(const WorkList &work);

} // namespace autopar

#endif // AUTOPAR_COST_WORKLIST_H
