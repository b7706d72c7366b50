//===- Ops.td - Every op and attribute of the dialect, for TableGen -----------===//

#ifndef AUTOPAR_DIALECT_OPS_TD
#define AUTOPAR_DIALECT_OPS_TD

include "autopar/Dialect/ProgramAttributes.td"
include "autopar/Dialect/StructureOps.td"

#endif // AUTOPAR_DIALECT_OPS_TD
