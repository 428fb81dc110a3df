//===- Relay.td - The relay dialect ----------------------------------------===//
include "Base.td"
include "Creation.td"
// Of the rows of fusion-operators, by build/operators.rs.
include "Operators.td"
include "Functional.td"
include "Control.td"
include "Data.td"
include "References.td"
