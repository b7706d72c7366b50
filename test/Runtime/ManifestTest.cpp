//===- ManifestTest.cpp - Manifests, good and damaged ---------------------===//

#include "core/Manifest.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace autopar::runtime;
using nlohmann::json;

namespace {

const char goodText[] = R"json({
  "abi": 6, "cpu_features": ["avx2"], "model": "m.onnx",
  "libraries": ["onednn"], "mesh": [["time", 2], ["data", 2]],
  "stages": 2, "micro_batches": 2,
  "weights": {"files": [{"name": "w.bin", "bytes": 400}]},
  "communicators": [{"axes": ["data"], "groups": [[0, 1], [2, 3]], "bytes": 64}],
  "channels": [{"from_stage": 0, "to_stage": 1, "bytes": 64, "slots": 2}],
  "ops": [{"name": "/a", "kind": "gemm", "stream": 0}],
  "inputs": [{"name": "x", "dtype": "f32", "shape": [4, 3],
    "dims": [{"size": 4, "step": 1, "offset": 0, "length": 1,
              "split": [[0, 1, 2], [1, 1, 2]]},
             {"size": 3, "step": 3, "offset": 0, "length": 3, "split": []}],
    "stages": [{"stage": 0, "offset": 64}]}],
  "outputs": [],
  "persistent": [[{"name": "w", "dtype": "f32", "shape": [5, 10],
    "kind": "parameter", "file": 0, "offset": 0,
    "global_shape": [10, 10],
    "dims": [{"size": 10, "step": 5, "offset": 0, "length": 5,
              "split": [[1, 1, 2]]},
             {"size": 10, "step": 10, "offset": 0, "length": 10,
              "split": []}]}], []],
  "arena_bytes": [128, 0], "setup_arena_bytes": [0, 64], "packed_slots": [1, 0],
  "predicted": {"step_seconds": 0.5, "peak_memory_bytes": [10, 20]},
  "plan": {}})json";

json goodManifest() { return json::parse(goodText); }

std::string parseMessage(const json &document) {
  Manifest manifest;
  return parseManifest(document.dump().c_str(), manifest).message();
}

/// Sets the value at `path` and expects a message with `why`.
void expectRefused(const char *path, const json &value, const char *why) {
  json document = goodManifest();
  document[json::json_pointer(path)] = value;
  std::string message = parseMessage(document);
  EXPECT_NE(message.find(why), std::string::npos)
      << path << " = " << value << ": '" << message << "'";
}

TEST(Manifest, GoodOneParses) {
  Manifest manifest;
  std::string text = goodManifest().dump();
  ASSERT_EQ(parseManifest(text.c_str(), manifest).message(), "");
  EXPECT_EQ(manifest.worldSize(), 4);
  EXPECT_EQ(manifest.timeAxis, 0);
  EXPECT_EQ(manifest.inputs[0].localBytes, 12);
  EXPECT_EQ(manifest.persistent[0][0].globalBytes, 400);
  EXPECT_EQ(manifest.communicators[0].groups[1][0], 2);
  EXPECT_TRUE(manifest.uses("onednn"));
  EXPECT_STREQ(manifest.opName(0), "/a");
  EXPECT_STREQ(manifest.opName(9), "(start)");
}

/// A check without places is a boolean, one with them the number of a place.
/// An output of one number.
json scalarOutput(const char *name) {
  return {{"name", name},
          {"dtype", "f32"},
          {"shape", json::array()},
          {"dims", json::array()},
          {"stages", {{{"stage", 0}, {"offset", 0}}}}};
}

TEST(Manifest, RolesSayWhatOutputsAndStatesAreFor) {
  json document = goodManifest();
  document["outputs"] = {scalarOutput("loss"), scalarOutput("mine")};
  document["outputs"][1]["role"] = "loss";
  json &state = document["persistent"][0][0];
  state["kind"] = "state";
  state["fill"] = {0, 0, 0, 0};
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  // Names say nothing.
  EXPECT_EQ(manifest.outputOf(OutputRole::Loss), std::optional<size_t>(1));
  EXPECT_EQ(manifest.outputOf(OutputRole::Skipped), std::nullopt);
  EXPECT_TRUE(manifest.persistent[0][0].isGivenState());
  state["role"] = "optimizer";
  Manifest own;
  ASSERT_EQ(parseManifest(document.dump().c_str(), own).message(), "");
  EXPECT_FALSE(own.persistent[0][0].isGivenState());
  document["outputs"][0]["role"] = "loss";
  EXPECT_NE(parseMessage(document).find("the role of another one"),
            std::string::npos);
  document["outputs"][0]["role"] = "accuracy";
  EXPECT_NE(parseMessage(document).find("none that this runtime knows"),
            std::string::npos);
}

TEST(Manifest, TellsWhatItIsMadeOfAndComputes) {
  json document = goodManifest();
  Manifest without, with;
  ASSERT_EQ(parseManifest(document.dump().c_str(), without).message(), "");
  EXPECT_EQ(without.hashes.model + without.strategy, "");
  EXPECT_EQ(without.stepFlops, 0);
  document["hashes"] = {{"model", "0123456789abcdef"}};
  document["work"] = {{"flops", 1.5e9}, {"peak_flops", 2e12}};
  document["plan"] = {{"strategy", "data"}};
  ASSERT_EQ(parseManifest(document.dump().c_str(), with).message(), "");
  EXPECT_EQ(with.hashes.model, "0123456789abcdef");
  EXPECT_EQ(with.hashes.recipe, "");
  EXPECT_EQ(with.strategy, "data");
  EXPECT_EQ(with.peakFlops / with.stepFlops, 2e12 / 1.5e9);
  expectRefused("/hashes", {{"recipe", "12"}}, "'hashes.recipe' is no hash");
  expectRefused("/hashes", {{"model", 12}}, "'hashes.model' must be a string");
  expectRefused("/work", {{"flops", -1}}, "'work.flops' is negative");
  expectRefused("/work", {{"flops", "1"}}, "'work.flops' must be a number");
}

TEST(Manifest, HyperparametersAreOneNumber) {
  json document = goodManifest();
  json &state = document["persistent"][0][0];
  state = {{"name", "lr"},
           {"dtype", "f64"},
           {"shape", json::array()},
           {"kind", "state"},
           {"role", "hyperparameter"},
           {"fill", {0, 0, 0, 0, 0, 0, 240, 63}},
           {"global_shape", json::array()},
           {"dims", json::array()},
           {"range", {{"above", 0}, {"below", 2.5}, {"integer", true}}}};
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  const PersistentEntry &entry = manifest.persistent[0][0];
  EXPECT_EQ(entry.role, StateRole::Hyperparameter);
  EXPECT_FALSE(entry.isGivenState());
  EXPECT_EQ(entry.range.least, 0);
  EXPECT_EQ(entry.range.below, 2.5);
  EXPECT_TRUE(entry.range.isAboveLeast && entry.range.isInteger);
  json changed = document;
  changed["persistent"][0][0].erase("range");
  EXPECT_NE(parseMessage(changed).find("'persistent[0][0].range' is missing"),
            std::string::npos)
      << parseMessage(changed);
  changed = document;
  changed["persistent"][0][0]["dtype"] = "i64";
  EXPECT_NE(parseMessage(changed).find("no state of one f64"),
            std::string::npos);
}

TEST(Manifest, ChecksAreOneNumber) {
  json document = goodManifest();
  json check = {{"name", "check"},         {"dtype", "i32"},
                {"shape", json::array()},  {"dims", json::array()},
                {"message", "the first:"}, {"places", {"here", "there"}}};
  check["stages"] = {{{"stage", 0}, {"offset", 0}}};
  document["checks"] = json::array({check});
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  EXPECT_EQ(manifest.checks[0].places[1], "there");
  document["checks"][0]["dtype"] = "bool";
  EXPECT_NE(parseMessage(document).find("must be one i32"), std::string::npos);
  document["checks"][0]["dtype"] = "i32";
  document["checks"][0]["places"] = json::array();
  EXPECT_NE(parseMessage(document).find("has no places"), std::string::npos);
  document["checks"][0].erase("places");
  EXPECT_NE(parseMessage(document).find("must be one boolean"),
            std::string::npos);
}

TEST(Manifest, KernelsOfAGpuParse) {
  json document = goodManifest();
  document["target"] = "emulated";
  document["ops"][0]["stream"] = 1;
  document["kernels"] = {{{"name", "kernel_0"},
                          {"threads", 256},
                          {"shared_bytes", 128},
                          {"scalars", 1},
                          {"buffers", {{{"bytes", 64}, {"access", "rw"}}}}}};
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  EXPECT_EQ(manifest.target, Target::Emulated);
  EXPECT_EQ(manifest.streams, 2);
  EXPECT_EQ(manifest.kernels[0].threads, 256);
  EXPECT_TRUE(manifest.kernels[0].buffers[0].writes);
  document["kernels"][0]["buffers"][0]["access"] = "x";
  EXPECT_NE(parseMessage(document).find("access"), std::string::npos);
  document["kernels"][0]["buffers"] = json::array();
  document["kernels"][0]["threads"] = 2048;
  EXPECT_NE(parseMessage(document).find("from 1 to 1024"), std::string::npos);
  document["target"] = "cpu";
  document["kernels"][0]["threads"] = 32;
  EXPECT_NE(parseMessage(document).find("for GPUs only"), std::string::npos);
}

TEST(Manifest, InputsHeldByTheHostHaveATensorOfTheirOwn) {
  json document = goodManifest();
  document["inputs"][0]["stages"] = {{{"stage", 1}, {"persistent", 0}}};
  document["persistent"][1] = {
      {{"name", "x"}, {"dtype", "f32"}, {"shape", {1, 3}}, {"kind", "input"}}};
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  EXPECT_EQ(manifest.inputs[0].stages[0].persistent, 0);
  EXPECT_TRUE(manifest.persistent[1][0].isInput);

  auto expectMessage = [](const json &changed, const char *why) {
    std::string message = parseMessage(changed);
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  const char notIts[] = "has 'x' in a persistent tensor that is not its";
  json changed = document;
  changed["inputs"][0]["stages"][0]["stage"] = 0; // a parameter is there
  expectMessage(changed, notIts);
  changed = document;
  changed["inputs"][0]["stages"][0]["persistent"] = 1;
  expectMessage(changed, notIts);
  changed = document;
  changed["persistent"][1][0]["shape"] = {2, 3};
  expectMessage(changed, notIts);
  changed = document;
  changed["target"] = "emulated";
  expectMessage(changed, notIts);
  changed = document;
  changed["persistent"][1].push_back(changed["persistent"][1][0]);
  expectMessage(changed, "has an input that is none");
  changed = document;
  changed["persistent"] = json::array();
  expectMessage(changed, "must have one element per stage");
}

TEST(Manifest, PredictionsMayBeEmpty) {
  json document = goodManifest();
  document["predicted"]["peak_memory_bytes"] = json::array();
  EXPECT_EQ(parseMessage(document), "");
  document.erase("predicted");
  EXPECT_EQ(parseMessage(document), "");
}

TEST(Manifest, UsersArraysMayHaveAnotherShape) {
  json document = goodManifest();
  document["inputs"][0]["user_shape"] = {12};
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  EXPECT_EQ(manifest.inputs[0].shape, std::vector<int64_t>{12});
  EXPECT_EQ(manifest.inputs[0].dims.size(), 2u);
  document["inputs"][0]["user_shape"] = {13};
  EXPECT_NE(parseMessage(document).find("has not as many elements"),
            std::string::npos);
}

/// Two blocks of rows are one dimension of arrays; a bound is of the blocks.
TEST(Manifest, IndexBoundsArePartsOfInputs) {
  json document = goodManifest();
  json &input = document["inputs"][0];
  input["dtype"] = "i64";
  input["user_shape"] = {12};
  input["stages"][0]["offset"] = 0;
  input["index_bounds"] = {{{"table", "w"},
                            {"dim", 1},
                            {"size", 50},
                            {"starts", {0, 1}},
                            {"sizes", {4, 2}}}};
  Manifest manifest;
  ASSERT_EQ(parseManifest(document.dump().c_str(), manifest).message(), "");
  ASSERT_EQ(manifest.inputs[0].indexBounds.size(), 1u);
  const IndexBound &bound = manifest.inputs[0].indexBounds[0];
  EXPECT_EQ(bound.table, "w");
  EXPECT_EQ(bound.dim, 1);
  EXPECT_EQ(bound.size, 50);
  EXPECT_EQ(bound.shape, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(bound.starts, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(bound.sizes, (std::vector<int64_t>{4, 2}));
  auto expectWrong = [&](const char *key, const json &value, const char *why) {
    json wrong = document;
    wrong["inputs"][0]["index_bounds"][0][key] = value;
    EXPECT_NE(parseMessage(wrong).find(why), std::string::npos) << key;
  };
  expectWrong("sizes", {4, 3}, "is no part of the input");
  expectWrong("starts", json::array({0}), "is no part of the input");
  expectWrong("size", 0, "integer from 1");
  expectWrong("dim", -1, "integer from 0");
  json &labels = input["index_bounds"][0];
  labels.erase("table");
  EXPECT_NE(parseMessage(document).find("index_bounds[0].table' is missing"),
            std::string::npos);
  labels["text"] = "labels are classes";
  labels["ignored"] = -100;
  Manifest ofLabels;
  ASSERT_EQ(parseManifest(document.dump().c_str(), ofLabels).message(), "");
  EXPECT_EQ(ofLabels.inputs[0].indexBounds[0].text, "labels are classes");
  EXPECT_EQ(ofLabels.inputs[0].indexBounds[0].ignored, -100);
  input["dtype"] = "f64";
  EXPECT_NE(parseMessage(document).find("are of numbers that are no integers"),
            std::string::npos);
}

TEST(Manifest, NoJsonIsRefused) {
  Manifest manifest;
  for (const char *text : {"", "{", "[]", "3", "\"x\"", "{\"abi\":1,}"})
    EXPECT_TRUE(parseManifest(text, manifest).failed()) << text;
}

TEST(Manifest, EveryMissingKeyIsNamed) {
  const json good = goodManifest();
  for (const auto &[key, value] : good.items()) {
    if (key == "plan" || key == "predicted")
      continue;
    json document = goodManifest();
    document.erase(key);
    EXPECT_NE(parseMessage(document).find("'" + key), std::string::npos) << key;
  }
}

/// Any value of another type anywhere gives a message or parses, never crashes.
TEST(Manifest, OtherTypesNeverCrash) {
  json flat = goodManifest().flatten();
  const std::vector<json> values = {nullptr,        -1,        1e300,
                                    "text",         true,      json::array(),
                                    json::object(), INT64_MAX, UINT64_MAX};
  for (const auto &[path, old] : flat.items())
    for (const json &value : values) {
      json document = goodManifest();
      document[json::json_pointer(path)] = value;
      parseMessage(document);
    }
}

TEST(Manifest, BadValuesAreNamed) {
  expectRefused("/abi", 1, "compile the model again");
  expectRefused("/target", "tpu", "\"emulated\"");
  expectRefused("/mesh/1/1", 100000, "devices");
  expectRefused("/mesh/1/1", 0, "integer from 1");
  expectRefused("/stages", 4000, "'stages'");
  expectRefused("/micro_batches", 3, "axis 'time'");
  expectRefused("/inputs/0/dtype", "f8", "unknown dtype 'f8'");
  expectRefused("/inputs/0/shape", json({4, 4}), "does not agree");
  expectRefused("/inputs/0/shape", json::array({4}), "does not agree");
  expectRefused("/inputs/0/user_shape", {-1, -12}, "integer from 0");
  expectRefused("/inputs/0/user_shape", {4, 4}, "has not as many elements");
  expectRefused("/inputs/0/stages/0/offset", 120, "outside the stage's arena");
  expectRefused("/inputs/0/stages/0/stage", 2, "integer from 0 to 1");
  expectRefused("/inputs/0/stages/0/after", 1, "integer from 0 to 0");
  expectRefused("/inputs/0/dims/0/split/0/0", 2, "integer from 0 to 1");
  expectRefused("/inputs/0/dims/0/split/0/1", 0, "integer from 1");
  expectRefused("/inputs/0/dims/0/step", int64_t(1) << 48, "reaches too far");
  expectRefused("/inputs/0/dims/0/length", -1, "integer from 0");
  expectRefused("/persistent/0/0/offset", 4, "past the end of its file");
  expectRefused("/persistent/0/0/file", 1, "integer from 0 to 0");
  expectRefused("/persistent/0/0/shape", json({5, 9}), "does not agree");
  expectRefused("/persistent/0/0/kind", "x", "parameter");
  expectRefused("/persistent", json::array(), "one element per stage");
  expectRefused("/arena_bytes", json::array({128}), "one element per stage");
  expectRefused("/communicators/0/groups/1/0", 1, "a second time");
  expectRefused("/communicators/0/groups/1/0", 4, "integer from 0 to 3");
  expectRefused("/communicators/0/groups/1", json::array(), "is empty");
  expectRefused("/channels/0/slots", 0, "integer from 1");
  expectRefused("/channels/0/bytes", int64_t(1) << 50, "too large");
  expectRefused("/channels/0/to_stage", 2, "integer from 0 to 1");
}

/// A manifest of an evaluation: the sum of its losses, their number, and rows
/// that may not count.
json evaluationManifest() {
  json document = goodManifest();
  auto port = [](const char *name, const char *dtype, json shape, json dims) {
    return json{{"name", name},
                {"dtype", dtype},
                {"shape", shape},
                {"dims", dims},
                {"stages", {{{"stage", 0}, {"offset", 0}}}}};
  };
  json rows = port("rows", "bool", {4},
                   {{{"size", 4},
                     {"step", 4},
                     {"offset", 0},
                     {"length", 4},
                     {"split", json::array()}}});
  rows["role"] = "counted_rows";
  document["inputs"].push_back(rows);
  for (auto [name, dtype] : {std::pair("sum", "f32"), {"count", "i32"}}) {
    json output = port(name, dtype, json::array(), json::array());
    output["role"] = "metric";
    document["outputs"].push_back(output);
  }
  document["evaluation"] = {{"best", "loss"},
                            {"every", 10},
                            {"metrics",
                             {{{"name", "loss"},
                               {"kind", "mean"},
                               {"higher_is_better", false},
                               {"outputs", {"sum", "count"}}}}}};
  return document;
}

TEST(Manifest, OfAnEvaluationParses) {
  Manifest manifest;
  std::string text = evaluationManifest().dump();
  ASSERT_EQ(parseManifest(text.c_str(), manifest).message(), "");
  EXPECT_TRUE(manifest.inputs[1].countsRows);
  ASSERT_TRUE(manifest.evaluation);
  EXPECT_EQ(manifest.evaluation->every, 10);
  EXPECT_EQ(manifest.evaluation->patience, 0);
  EXPECT_EQ(manifest.evaluation->metrics[0].outputs,
            (std::vector<size_t>{0, 1}));
}

TEST(Manifest, OfAnEvaluationIsRefused) {
  auto expect = [](const char *path, const json &value, const char *why) {
    json document = evaluationManifest();
    document[json::json_pointer(path)] = value;
    std::string message = parseMessage(document);
    EXPECT_NE(message.find(why), std::string::npos)
        << path << " = " << value << ": '" << message << "'";
  };
  expect("/evaluation/best", "f1", "is none of the metrics");
  expect("/evaluation/every", 0, "integer from 1");
  expect("/evaluation/metrics/0/kind", "median", "none that this runtime");
  expect("/evaluation/metrics/0/outputs", {"sum"}, "must be 2 outputs");
  expect("/evaluation/metrics/0/outputs", {"sum", "z"}, "is no output");
  expect("/evaluation/metrics/0/kind", "auc", "cannot be made of");
  expect("/outputs/0/role", "loss", "cannot be made of");
  expect("/inputs/1/dtype", "i8", "a boolean per row");
  expect("/inputs/1/role", "rows", "none that this runtime");
}

} // namespace
