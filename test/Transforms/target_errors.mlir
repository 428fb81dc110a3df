// RUN: fusion-opt %s --te-schedule --split-input-file --verify-diagnostics

// expected-error @+1 {{has a fusion.target that describes no target: it has no text `name`}}
module attributes {fusion.target = {cores = 2 : i64}} {}

// -----

// expected-error @+1 {{has a fusion.target that describes no target: it has no number `vector_bytes`}}
module attributes {fusion.target = {name = "a", about = "b", processor = "host", cores = 2 : i64}} {}

// -----

// expected-error @+1 {{has a fusion.target that describes no target: `cores` cannot be 0}}
module attributes {fusion.target = {name = "a", about = "b", processor = "host", cores = 0 : i64}} {}
