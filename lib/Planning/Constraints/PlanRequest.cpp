//===- PlanRequest.cpp - What a user asks of a plan -----------------------===//

#include "autopar/Planning/Constraints/PlanRequest.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

std::string jsonKey(const RequestOption &option) {
  std::string key = option.name.str();
  replace(key, '-', '_');
  return key;
}

namespace {

/// Each kind of option has one overload in each of the following structs.
struct TextReader {
  const RequestOption &option;
  StringRef text;
  PlanRequest &into;

  Error fail(const Twine &what) const {
    return createStringError("--" + option.name + ": " + what);
  }
  Error operator()(FlagOption flag) const {
    bool isTrue = text == "true" || text == "1";
    if (!isTrue && text != "false" && text != "0")
      return fail("'" + text + "' is neither true nor false");
    into.*flag.field = isTrue;
    return Error::success();
  }
  Error operator()(CountOption count) const {
    int64_t number = 0;
    if (text.getAsInteger(10, number) || number < 1)
      return fail("'" + text + "' is no number of 1 or more");
    into.*count.field = number;
    return Error::success();
  }
  Error operator()(BytesOption bytes) const {
    Expected<int64_t> size = parseSize(text);
    if (!size)
      return fail(toString(size.takeError()));
    into.*bytes.field = *size;
    return Error::success();
  }
  Error operator()(TextOption kind) const { return kind.parse(text, into); }
  Error operator()(ConstraintsOption constraints) const {
    Expected<Constraints> read = readConstraintsFile(text);
    if (!read)
      return read.takeError();
    into.*constraints.field = std::move(*read);
    return Error::success();
  }
};

struct JsonWriter {
  const PlanRequest &request;
  using Value = std::optional<json::Value>;

  static Value countOf(int64_t count) {
    return count == 0 ? Value() : Value(count);
  }
  Value operator()(FlagOption flag) const {
    return request.*flag.field ? Value(true) : Value();
  }
  Value operator()(CountOption count) const {
    return countOf(request.*count.field);
  }
  Value operator()(BytesOption bytes) const {
    return countOf(request.*bytes.field);
  }
  Value operator()(TextOption kind) const {
    std::string text = kind.print(request);
    return text.empty() ? Value() : Value(std::move(text));
  }
  Value operator()(ConstraintsOption constraints) const {
    const Constraints &asked = request.*constraints.field;
    if (asked.empty())
      return Value();
    return json::Object{{"file", asked.file}, {"text", asked.text}};
  }
};

struct JsonReader {
  const RequestOption &option;
  const json::Value &value;
  PlanRequest &into;

  Error fail(StringRef kind) const {
    return createStringError("'" + jsonKey(option) + "' must be " + kind);
  }
  Error readCount(int64_t &count) const {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number || *number < 0)
      return fail("an integer of 0 or more");
    count = *number;
    return Error::success();
  }
  Error operator()(FlagOption flag) const {
    if (!value.getAsBoolean())
      return fail("true or false");
    into.*flag.field = *value.getAsBoolean();
    return Error::success();
  }
  Error operator()(CountOption count) const {
    return readCount(into.*count.field);
  }
  Error operator()(BytesOption bytes) const {
    return readCount(into.*bytes.field);
  }
  Error operator()(TextOption kind) const {
    std::optional<StringRef> text = value.getAsString();
    return text ? kind.parse(*text, into) : fail("a string");
  }
  Error operator()(ConstraintsOption constraints) const {
    const json::Object *given = value.getAsObject();
    const json::Value *text = given ? given->get("text") : nullptr;
    std::optional<StringRef> file =
        given ? given->getString("file") : std::nullopt;
    if (!text || !file)
      return fail("a dictionary of file and text");
    Expected<Constraints> read = constraintsFromJSON(*text, *file);
    if (!read)
      return read.takeError();
    into.*constraints.field = std::move(*read);
    return Error::success();
  }
};

} // namespace

Error parseOption(const RequestOption &option, StringRef text,
                  PlanRequest &into) {
  return std::visit(TextReader{option, text, into}, option.kind);
}

std::optional<json::Value> optionToJSON(const RequestOption &option,
                                        const PlanRequest &request) {
  return std::visit(JsonWriter{request}, option.kind);
}

Error optionFromJSON(const RequestOption &option, const json::Value &value,
                     PlanRequest &into) {
  return std::visit(JsonReader{option, value, into}, option.kind);
}

} // namespace autopar
