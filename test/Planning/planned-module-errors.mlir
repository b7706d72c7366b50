// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-verify-plan

// expected-error @below {{autopar.plan: its 'stages' are not 1, as autopar.stages says}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, stages = 2 : i64}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.plan: its 'stages' are not 1, as autopar.stages says}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.plan: 'fastest' is no objective: write one of latency, throughput, step}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, stages = 1 : i64, objective = "fastest"}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.plan: its 'objective' is no string}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, stages = 1 : i64, objective = 3 : i64}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.plan: it has no 'cluster'}}
module attributes {autopar.plan = {stages = 1 : i64}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.plan: its cluster has 1 devices, but 1 stages of a mesh of 2 need 2}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, stages = 1 : i64}} {
  autopar.mesh @mesh #autopar.mesh<["x"=2]>
}

// -----

// expected-error @below {{autopar.plan: its 'predicted_step_seconds' are no number}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, stages = 1 : i64, predicted_step_seconds = "2"}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.plan: its 'predicted_stage_memory_bytes' are not one integer for each of its stages}}
module attributes {autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, stages = 1 : i64, predicted_stage_memory_bytes = [1, 2]}} {
  autopar.mesh @mesh #autopar.mesh<["x"=1]>
}

// -----

// expected-error @below {{autopar.stages must be 1 or more}}
module attributes {autopar.stages = 0 : i64} {
  autopar.mesh @mesh #autopar.mesh<["x"=2]>
}
