//===- EntriesTest.cpp - Sessions of programs with several entries --------===//

#include "BuiltExecutable.h"
#include "autopar/session.h"
#include "session/StoredOnce.h"

#include <array>

using namespace autopar::runtime;
using Json = nlohmann::json;

namespace {

using Numbers = std::array<float, 4>;

/// The manifest of Inputs/counter.c on one rank.
const char counterText[] = R"json({
  "abi": 6, "cpu_features": ["sse2"], "model": "counter.onnx",
  "libraries": [], "mesh": [["data", 1]], "stages": 1, "micro_batches": 1,
  "weights": {"files": [{"name": "weights.bin", "bytes": 16}]},
  "communicators": [{"axes": ["data"], "groups": [[0]], "bytes": 16}],
  "channels": [], "ops": [{"name": "/add", "kind": "kernel", "stream": 0}],
  "inputs": [
    {"name": "x", "dtype": "f32", "shape": [4],
     "dims": [{"size": 4, "step": 4, "offset": 0, "length": 4, "split": []}],
     "stages": [{"stage": 0, "offset": 0}]}],
  "outputs": [
    {"name": "y", "dtype": "f32", "shape": [4],
     "dims": [{"size": 4, "step": 4, "offset": 0, "length": 4, "split": []}],
     "stages": [{"stage": 0, "offset": 64}]}],
  "persistent": [[
    {"name": "n", "dtype": "f32", "shape": [4], "kind": "state",
     "fill": [0, 0, 0, 0], "global_shape": [4],
     "dims": [{"size": 4, "step": 4, "offset": 0, "length": 4, "split": []}]},
    {"name": "w", "dtype": "f32", "shape": [4], "kind": "parameter",
     "file": 0, "offset": 0, "global_shape": [4],
     "dims": [{"size": 4, "step": 4, "offset": 0, "length": 4,
               "split": []}]}]],
  "arena_bytes": [128], "setup_arena_bytes": [0], "packed_slots": [0],
  "plan": {}})json";

Json counterManifest(const std::string &entry, int ranks = 1) {
  Json manifest = Json::parse(counterText);
  manifest["entry"] = entry;
  manifest["mesh"][0][1] = ranks;
  for (int rank = 1; rank < ranks; ++rank)
    manifest["communicators"][0]["groups"][0].push_back(rank);
  return manifest;
}

class Entries : public BuiltExecutable {
protected:
  ~Entries() override { autopar_session_close(session); }

  /// An executable of the counter with these manifests, which is opened.
  void open(const std::vector<Json> &manifests, int ranks = 1) {
    for (size_t i = 0; i < manifests.size(); ++i) {
      compile("counter.c", manifests[i], ranks);
      i == 0 ? append(checksum(program)) : appendEntry();
    }
    float w[] = {1, 2, 3, 4};
    folder.write("weights.bin",
                 std::string(reinterpret_cast<const char *>(w), sizeof(w)));
    if (autopar_session_open(folder.path("exe").c_str(), nullptr, &session))
      failure = autopar_error();
  }
  /// A step of an entry; y of it.
  Numbers step(int64_t entry, float x) {
    Numbers given, y{};
    given.fill(x);
    const void *inputs[] = {given.data()};
    void *outputs[] = {y.data()};
    EXPECT_EQ(autopar_session_run(autopar_session_entry(session, entry), inputs,
                                  outputs),
              0)
        << autopar_error();
    return y;
  }
  static Numbers wanted(float n) { return {n, 2 * n, 3 * n, 4 * n}; }
  Numbers state(int64_t entry) {
    Numbers n{};
    EXPECT_EQ(autopar_session_read_state(autopar_session_entry(session, entry),
                                         0, n.data()),
              0);
    return n;
  }
  /// The number of the entry whose memory an entry's state is.
  int64_t ownerOf(int64_t entry) {
    autopar_tensor tensor{};
    tensor.size = sizeof(tensor);
    EXPECT_EQ(autopar_session_tensor(autopar_session_entry(session, entry),
                                     AUTOPAR_STATE, 0, &tensor),
              0);
    return tensor.entry;
  }

  autopar_session *session = nullptr;
  std::string failure;
};

class EntriesOnRanks : public Entries,
                       public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EntriesOnRanks, ::testing::Values(1, 2, 3));

TEST_P(EntriesOnRanks, HaveAStateInCommon) {
  int ranks = GetParam();
  open({counterManifest("a", ranks), counterManifest("b", ranks),
        counterManifest("c", ranks)},
       ranks);
  ASSERT_EQ(failure, "");
  EXPECT_EQ(step(0, 1), wanted(1));
  EXPECT_EQ(step(1, 2), wanted(3));
  EXPECT_EQ(step(2, 4), wanted(7));
  EXPECT_EQ(state(0), state(2));
  EXPECT_EQ(ownerOf(2), 0);
  Numbers ten{10, 10, 10, 10};
  ASSERT_EQ(autopar_session_write_state(autopar_session_entry(session, 1), 0,
                                        ten.data()),
            0);
  EXPECT_EQ(step(0, 1), wanted(11));
}

/// A state that begins otherwise is another state.
TEST_P(EntriesOnRanks, HaveTheirOwnStates) {
  int ranks = GetParam();
  Json other = counterManifest("b", ranks);
  other["persistent"][0][0]["fill"] = {0, 0, 128, 63}; // 1.0
  open({counterManifest("a", ranks), other}, ranks);
  ASSERT_EQ(failure, "");
  EXPECT_EQ(step(0, 1), wanted(1));
  EXPECT_EQ(step(1, 2), wanted(3));
  EXPECT_EQ(step(0, 1), wanted(2));
  EXPECT_EQ(ownerOf(1), 1);
}

TEST_F(Entries, AreTold) {
  open({counterManifest("batch=1"), counterManifest("batch=8")});
  ASSERT_EQ(failure, "");
  EXPECT_EQ(autopar_session_entries(session), 2);
  autopar_session *second = autopar_session_entry(session, 1);
  EXPECT_STREQ(autopar_session_entry_name(session), "batch=1");
  EXPECT_STREQ(autopar_session_entry_name(second), "batch=8");
  EXPECT_EQ(autopar_session_entry(second, 0), session);
  EXPECT_EQ(autopar_session_entry(session, 2), nullptr);
  EXPECT_EQ(autopar_session_entry(session, -1), nullptr);
  EXPECT_EQ(autopar_session_count(second, AUTOPAR_STATE), 1);
  autopar_session_close(second); // it is the session's
  EXPECT_EQ(step(1, 1), wanted(1));
}

TEST_F(Entries, AreLoadedByName) {
  open({counterManifest("a"), counterManifest("b")});
  autopar_session_options options{};
  options.size = sizeof(options);
  options.entry = "b";
  autopar_session *one = nullptr;
  ASSERT_EQ(autopar_session_open(folder.path("exe").c_str(), &options, &one),
            0);
  EXPECT_EQ(autopar_session_entries(one), 1);
  EXPECT_STREQ(autopar_session_entry_name(one), "b");
  autopar_session_close(one);
  options.entry = "c";
  EXPECT_NE(autopar_session_open(folder.path("exe").c_str(), &options, &one),
            0);
  EXPECT_STREQ(autopar_error(),
               "no entry is called 'c'; the entries: 'a', 'b'");
}

TEST_F(Entries, OfOtherRanksAreRefused) {
  open({counterManifest("a"), counterManifest("b", 2)});
  EXPECT_EQ(failure,
            "the program's entries are for different ranks: 'a' has 1, 'b' has "
            "2; name the entry or the number of ranks that you want when you "
            "open it");
}

TEST_F(Entries, OfSeveralNumbersOfRanksThoseOfOneAreLoaded) {
  open({counterManifest("a"), counterManifest("b"), counterManifest("a", 2),
        counterManifest("b", 2)});
  ASSERT_EQ(failure, "");
  EXPECT_EQ(autopar_session_entries(session), 2);
  EXPECT_EQ(step(0, 1), wanted(1));
  EXPECT_EQ(step(1, 2), wanted(3));
  autopar_session *other = nullptr;
  autopar_session_options options{};
  options.size = sizeof(options);
  options.ranks = 3;
  EXPECT_NE(autopar_session_open(folder.path("exe").c_str(), &options, &other),
            0);
  EXPECT_STREQ(autopar_error(),
               "the program was compiled for 1 or 2 ranks, not for 3");
}

//===----------------------------------------------------------------------===//
// Which tensors are stored once
//===----------------------------------------------------------------------===//

class StoredOnce : public ::testing::Test {
protected:
  void add(const Json &manifest) {
    all.push_back(std::make_unique<Manifest>());
    Status status = parseManifest(manifest.dump().c_str(), *all.back());
    ASSERT_TRUE(status.ok()) << status.message();
    entries.push_back(all.back().get());
  }
  std::vector<std::unique_ptr<Manifest>> all;
  std::vector<const Manifest *> entries;
};

TEST_F(StoredOnce, ParametersOfOneSource) {
  add(counterManifest("a"));
  add(counterManifest("b"));
  Json elsewhere = counterManifest("c");
  elsewhere["weights"]["files"][0]["bytes"] = 32;
  elsewhere["persistent"][0][1]["offset"] = 16;
  add(elsewhere);
  Json other = counterManifest("d");
  other["weights"]["files"][0]["name"] = "other.bin";
  add(other);
  Json half = counterManifest("e");
  half["persistent"][0][1]["dtype"] = "f16";
  add(half);
  std::vector<std::vector<int>> numbers = numbersOfTensors(entries, 0);
  EXPECT_EQ(numbers[0][1], numbers[1][1]);
  for (size_t entry : {2, 3, 4})
    EXPECT_NE(numbers[0][1], numbers[entry][1]) << entry;
}

/// Rank 0 has the same part in both, rank 1 has not.
TEST_F(StoredOnce, PartsOfARank) {
  Json whole = counterManifest("a", 2), split = counterManifest("b", 2);
  Json &w = split["persistent"][0][1];
  w["dims"][0] = {{"size", 4}, {"step", 2}, {"offset", 0}, {"length", 2}};
  w["dims"][0]["split"] = {{0, 1, 2}};
  w["shape"] = {2};
  Json front = split;
  front["persistent"][0][1]["dims"][0]["split"] = Json::array();
  add(split);
  add(front);
  add(whole);
  std::vector<std::vector<int>> first = numbersOfTensors(entries, 0);
  std::vector<std::vector<int>> second = numbersOfTensors(entries, 1);
  EXPECT_EQ(first[0][1], first[1][1]);
  EXPECT_NE(second[0][1], second[1][1]);
  EXPECT_NE(first[0][1], first[2][1]);
}

/// One of two states that both entries have is unlike: each has its own.
TEST_F(StoredOnce, StatesAllOrNone) {
  auto withTwo = [](const std::string &entry, int fill) {
    Json manifest = counterManifest(entry);
    Json second = manifest["persistent"][0][0];
    second["name"] = "m";
    second["fill"] = {0, 0, 0, fill};
    manifest["persistent"][0].push_back(second);
    return manifest;
  };
  add(withTwo("a", 0));
  add(withTwo("b", 64));
  add(withTwo("c", 64));
  add(counterManifest("d")); // has n only, as a
  EXPECT_EQ(groupsOfStates(entries), (std::vector<int>{0, 1, 1, 0}));
  std::vector<std::vector<int>> numbers = numbersOfTensors(entries, 0);
  EXPECT_NE(numbers[0][0], numbers[1][0]);
  EXPECT_EQ(numbers[1], numbers[2]);
  EXPECT_EQ(numbers[0][0], numbers[3][0]);
}

/// One steps on to what another one trains.
TEST_F(StoredOnce, RolesAreOfTheName) {
  add(counterManifest("a"));
  Json average = counterManifest("b");
  average["persistent"][0][0]["role"] = "average";
  add(average);
  EXPECT_EQ(groupsOfStates(entries), (std::vector<int>{0, 1}));
}

} // namespace
