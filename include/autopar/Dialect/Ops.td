//===- Ops.td - Every op of the dialect, for TableGen -------------------------===//

#ifndef AUTOPAR_OPS_TD
#define AUTOPAR_OPS_TD

include "autopar/Dialect/StructureOps.td"

#endif // AUTOPAR_OPS_TD
