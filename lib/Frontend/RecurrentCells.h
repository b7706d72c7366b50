//===- RecurrentCells.h - One step of LSTM, GRU, RNN ------------*- C++ -*-===//
//
// T steps, B sequences, H hidden units, G gates.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_FRONTEND_RECURRENTCELLS_H
#define AUTOPAR_LIB_FRONTEND_RECURRENTCELLS_H

#include "RecurrentActivations.h"

namespace autopar::recurrent {

struct State {
  Value hidden; // [B, H]
  Value cell;   // [B, H], widened; of LSTM only
};

/// The tensors with which one direction computes.
struct Direction {
  Value projected; // [T, B, G, H]: X * W^T and biases
  Value weights;   // R [G, H, H]
  Value bias;      // of R, where it is not in `projected`; [G, H] or null
  Value peepholes; // [3, H], widened, or null
  llvm::ArrayRef<RecurrentActivation> functions;

  /// Gates that begin at `first`: hidden * R^T [B, count, H], widened
  Value recurrent(OnnxNode &node, Value hidden, int64_t first,
                  int64_t count) const;
};

/// A step of a cell: x [B, G, H] is its part of `projected`, widened. The
/// hidden state that it returns is widened, too.
using Cell = State (*)(OnnxNode &node, const Direction &direction, Value x,
                       State state);

/// Gates i, o, f, c; functions f (gates), g (cell input), h (cell output).
State lstmCell(OnnxNode &node, const Direction &direction, Value x,
               State state);
/// Gates z, r, h; functions f (gates), g (hidden).
State gruCell(OnnxNode &node, const Direction &direction, Value x, State state);
/// The cell of RNN: one gate and its function.
State rnnCell(OnnxNode &node, const Direction &direction, Value x, State state);

} // namespace autopar::recurrent

#endif // AUTOPAR_LIB_FRONTEND_RECURRENTCELLS_H
