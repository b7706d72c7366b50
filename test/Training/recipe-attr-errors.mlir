// The reader of recipe files verifies the attribute; recipe-errors.test of Driver has all that it refuses.
// RUN: autopar-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{recipe #training.recipe: optimizer sgd: unknown key 'betas'}}
module attributes {test.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd", betas = [0.9, 0.9]}}>} {
}

// -----
// expected-error @+1 {{recipe #training.recipe: 'accumulation' must be an integer of 1 or more}}
module attributes {test.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, accumulation = 0 : i64}>} {
}

// -----
// expected-error @+1 {{invalid kind of attribute specified}}
module attributes {test.recipe = #training.recipe<"recipe.json">} {
}
