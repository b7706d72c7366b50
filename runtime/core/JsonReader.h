//===- JsonReader.h - Reading JSON that may be anything ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_JSONREADER_H
#define AUTOPAR_RUNTIME_CORE_JSONREADER_H

#include "DataType.h"
#include "Status.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace autopar::runtime {

/// A place in a JSON document. Reading something that is missing or of the
/// wrong type records the first failure, with its path, and gives a neutral
/// value; so a reader runs straight through and looks at the failure once.
class JsonReader {
public:
  JsonReader(const nlohmann::json &value, std::string path, Status &status)
      : value(&value), path(std::move(path)), status(&status) {}

  /// Returns the member `key`. If it is missing, returns null and records a
  /// failure unless it is optional.
  JsonReader member(const char *key, bool optional = false) const {
    static const nlohmann::json null;
    std::string inner = path.empty() ? key : path + "." + key;
    if (value->is_object()) {
      auto it = value->find(key);
      if (it != value->end())
        return {*it, std::move(inner), *status};
    }
    if (!optional)
      fail(inner, "is missing");
    return {null, std::move(inner), *status};
  }

  bool isNull() const { return value->is_null(); }

  /// Returns the elements of an array. If it is not an array, returns none and
  /// records a failure.
  std::vector<JsonReader> elements() const {
    std::vector<JsonReader> result;
    if (!value->is_array()) {
      fail(path, "must be an array");
      return result;
    }
    for (size_t i = 0; i < value->size(); ++i)
      result.emplace_back((*value)[i], path + "[" + std::to_string(i) + "]",
                          *status);
    return result;
  }

  /// Returns an integer in [least, most], or `least` on failure.
  int64_t integer(int64_t least, int64_t most) const {
    bool fits = value->is_number_unsigned()
                    ? value->get<uint64_t>() <= uint64_t(INT64_MAX)
                    : value->is_number_integer();
    int64_t number = fits ? value->get<int64_t>() : 0;
    if (fits && number >= least && number <= most)
      return number;
    fail(path, "must be an integer from " + std::to_string(least) + " to " +
                   std::to_string(most));
    return least;
  }

  double number() const {
    if (value->is_number())
      return value->get<double>();
    fail(path, "must be a number");
    return 0;
  }

  bool boolean() const {
    if (value->is_boolean())
      return value->get<bool>();
    fail(path, "must be true or false");
    return false;
  }

  std::string string() const {
    if (value->is_string())
      return value->get<std::string>();
    fail(path, "must be a string");
    return {};
  }

  std::vector<int64_t> integers(int64_t least, int64_t most) const {
    std::vector<int64_t> result;
    for (const JsonReader &element : elements())
      result.push_back(element.integer(least, most));
    return result;
  }

  std::vector<std::string> strings() const {
    std::vector<std::string> result;
    for (const JsonReader &element : elements())
      result.push_back(element.string());
    return result;
  }

  aprt_dtype dtype() const {
    aprt_dtype result = APRT_F32;
    std::string name = string();
    if (!parseDtype(name, result))
      fail(path, "has the unknown dtype '" + name + "'");
    return result;
  }

  void fail(const std::string &where, const std::string &what) const {
    if (status->ok())
      *status = Status::error("'" + where + "' " + what);
  }
  void fail(const std::string &what) const { fail(path, what); }

private:
  const nlohmann::json *value;
  std::string path;
  Status *status;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_JSONREADER_H
