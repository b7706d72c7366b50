//===- PlanRequestTest.cpp - What a user asks of a plan -------------------===//

#include "autopar/Planning/Constraints/PlanRequest.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

const RequestOption &optionOf(StringRef name) {
  for (const RequestOption &option : kRequestOptions)
    if (option.name == name)
      return option;
  ADD_FAILURE() << "no option " << name.str();
  return kRequestOptions[0];
}

/// The option's JSON after it was parsed from a text; "absent" if a request
/// without it writes nothing. An error is returned as it is.
std::string jsonOf(StringRef name, StringRef text) {
  PlanRequest request;
  if (Error error = parseOption(optionOf(name), text, request))
    return toString(std::move(error));
  std::optional<json::Value> value = optionToJSON(optionOf(name), request);
  std::string written = "absent";
  if (value) {
    written.clear();
    raw_string_ostream(written) << *value;
  }
  return written;
}

TEST(PlanRequest, EachOptionIsParsedAndWritten) {
  EXPECT_EQ(jsonOf("strategy", "data,tensor"), "\"data,tensor\"");
  EXPECT_EQ(jsonOf("mesh", "data=2,tensor=4"), "\"data=2,tensor=4\"");
  EXPECT_EQ(jsonOf("micro-batches", "4"), "4");
  EXPECT_EQ(jsonOf("objective", "throughput"), "\"throughput\"");
  EXPECT_EQ(jsonOf("fewest-devices", "true"), "true");
  EXPECT_EQ(jsonOf("fewest-devices", "0"), "absent");
  EXPECT_EQ(jsonOf("memory-limit", "2KiB"), "2048");
}

TEST(PlanRequest, ErrorsSayWhatTheTextIsFor) {
  EXPECT_EQ(jsonOf("micro-batches", "0"),
            "--micro-batches: '0' is no number of 1 or more");
  EXPECT_EQ(jsonOf("fewest-devices", "yes"),
            "--fewest-devices: 'yes' is neither true nor false");
  EXPECT_EQ(jsonOf("memory-limit", "much"),
            "--memory-limit: 'much' is no size; write 16GiB, 80GB or bytes");
  EXPECT_EQ(jsonOf("mesh", "data"),
            "mesh 'data' is not of the form data=2,tensor=2");
}

/// What a request writes is read back, and written again, as it was; a request
/// that asks for nothing writes its strategy alone.
TEST(PlanRequest, JsonIsReadBack) {
  PlanRequest empty, asked, read;
  for (auto [name, text] : {std::pair("strategy", "layer,data"),
                            {"mesh", "layer=2,data=3"},
                            {"micro-batches", "2"},
                            {"objective", "step"},
                            {"fewest-devices", "1"},
                            {"memory-limit", "16GiB"}})
    cantFail(parseOption(optionOf(name), text, asked));
  asked.constraints = cantFail(constraintsFromJSON(
      json::Object{{"constraints",
                    json::Array{json::Object{{"mesh", "layer=2,data=3"}}}}},
      "demands.json"));
  for (const RequestOption &option : kRequestOptions) {
    EXPECT_EQ(optionToJSON(option, empty).has_value(),
              option.name == "strategy");
    std::optional<json::Value> value = optionToJSON(option, asked);
    ASSERT_TRUE(value) << option.name.str();
    cantFail(optionFromJSON(option, *value, read));
    EXPECT_EQ(optionToJSON(option, read), value) << option.name.str();
  }
}

TEST(PlanRequest, JsonOfAnotherKindIsRefused) {
  std::string told;
  for (const RequestOption &option : kRequestOptions) {
    PlanRequest request;
    Error error = optionFromJSON(option, json::Array{}, request);
    told += toString(std::move(error)) + "\n";
  }
  EXPECT_EQ(told, "'strategy' must be a string\n"
                  "'mesh' must be a string\n"
                  "'micro_batches' must be an integer of 0 or more\n"
                  "'objective' must be a string\n"
                  "'fewest_devices' must be true or false\n"
                  "'memory_limit' must be an integer of 0 or more\n"
                  "'constraints' must be a dictionary of file and text\n");
}

} // namespace
