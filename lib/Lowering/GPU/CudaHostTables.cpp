//===- CudaHostTables.cpp - Tables of a host program as C++ ---------------===//

#include "CudaHostTables.h"
#include "CudaText.h"
#include "autopar/runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar::gpu {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static constexpr int64_t kBatch = APRT_GEMM_MAX_BATCH,
                         kSpatial = APRT_CONV_MAX_SPATIAL;
static const Field gemmFields[] = {{"dtype", 1},
                                   {"batch_rank", 1},
                                   {"batch", kBatch},
                                   {"m", 1},
                                   {"n", 1},
                                   {"k", 1},
                                   {"a_strides", kBatch + 2},
                                   {"b_strides", kBatch + 2},
                                   {"c_strides", kBatch + 2},
                                   {"bias", 1},
                                   {"addend", 1},
                                   {"activation", 1},
                                   {"slot", 1}};
static const Field convFields[] = {{"dtype", 1},
                                   {"spatial_rank", 1},
                                   {"n", 1},
                                   {"c", 1},
                                   {"o", 1},
                                   {"groups", 1},
                                   {"in", kSpatial},
                                   {"window", kSpatial},
                                   {"out", kSpatial},
                                   {"strides", kSpatial},
                                   {"dilations", kSpatial},
                                   {"pad_low", kSpatial},
                                   {"pad_high", kSpatial},
                                   {"bias", 1},
                                   {"addend", 1},
                                   {"activation", 1},
                                   {"slot", 1},
                                   {"channels_last", 1}};

static int64_t wordsOf(ArrayRef<Field> fields) {
  int64_t words = 0;
  for (const Field &field : fields)
    words += field.words;
  return words;
}

static const StringRef dtypeNames[] = {
    "APRT_BOOL", "APRT_I8",  "APRT_U8",  "APRT_I16", "APRT_U16",
    "APRT_I32",  "APRT_U32", "APRT_I64", "APRT_U64", "APRT_F16",
    "APRT_BF16", "APRT_F32", "APRT_F64"};
static const StringRef reduceNames[] = {"APRT_SUM", "APRT_PROD", "APRT_MAX",
                                        "APRT_MIN"};
static const StringRef activationNames[] = {
    "APRT_ACT_NONE",      "APRT_ACT_RELU", "APRT_ACT_GELU_ERF",
    "APRT_ACT_GELU_TANH", "APRT_ACT_TANH", "APRT_ACT_SIGMOID",
    "APRT_ACT_SILU"};

static std::string nameAt(ArrayRef<StringRef> names, int64_t number) {
  return number >= 0 && number < static_cast<int64_t>(names.size())
             ? names[number].str()
             : std::to_string(number);
}

std::string dtypeText(int64_t number) { return nameAt(dtypeNames, number); }

std::string reduceText(int64_t number) { return nameAt(reduceNames, number); }

/// "0: 128x64 from 128x32 and 32x64", "1: 8 -> 16 channels, 2 images".
static std::string titleOf(ArrayRef<Field> fields, ArrayRef<int64_t> words,
                           int64_t number) {
  auto value = [&](StringRef name) {
    int64_t at = 0;
    for (const Field &field : fields) {
      if (field.name == name)
        break;
      at += field.words;
    }
    return words[at];
  };
  if (fields.data() == gemmFields)
    return llvm::formatv("{0}: {1}x{2} from {1}x{3} and {3}x{2}", number,
                         value("m"), value("n"), value("k"));
  return llvm::formatv("{0}: {1} images, {2} -> {3} channels", number,
                       value("n"), value("c"), value("o"));
}

static std::string descriptorText(ArrayRef<Field> fields,
                                  ArrayRef<int64_t> words) {
  SmallVector<std::string> parts;
  for (const Field &field : fields) {
    auto numbers = llvm::map_range(words.take_front(field.words),
                                   [](int64_t n) { return std::to_string(n); });
    if (field.name == "dtype")
      parts.push_back(nameAt(dtypeNames, words.front()));
    else if (field.name == "activation")
      parts.push_back(nameAt(activationNames, words.front()));
    else
      parts.push_back(llvm::formatv(
          "/*{0}*/ {1}{2}{3}", field.name, field.words == 1 ? "" : "{",
          llvm::join(numbers, ", "), field.words == 1 ? "" : "}"));
    words = words.drop_front(field.words);
  }
  return wrapped("    {" + llvm::join(parts, ", ") + "},") + "\n";
}

Descriptors Descriptors::ofGemms() {
  return {"aprt_gemm_desc", "gemms", gemmFields};
}

Descriptors Descriptors::ofConvs() {
  return {"aprt_conv_desc", "convolutions", convFields};
}

std::string Descriptors::text(ArrayRef<int64_t> words) const {
  if (numbers.empty())
    return "";
  std::vector<int64_t> firsts(numbers.size());
  for (auto [word, number] : numbers)
    firsts[number] = word;
  std::string text = formatv("\nstatic const {0} {1}[] = {{\n", type, array);
  for (auto [number, word] : llvm::enumerate(firsts)) {
    auto each = words.slice(word, wordsOf(fields));
    text += "    // " + titleOf(fields, each, number) + "\n" +
            descriptorText(fields, each);
  }
  return text + "};\n";
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::string PlaceTable::place(StringRef kind,
                              const std::vector<int64_t> &values) {
  if (llvm::all_equal(values))
    return std::to_string(values.front());
  std::vector<int64_t> moves;
  moves.reserve(values.size());
  for (int64_t value : values)
    moves.push_back(value - values.front());
  auto [it, isNew] = known.try_emplace(moves, columns.size());
  if (isNew) {
    names.push_back(kind.str() + std::to_string(columns.size()));
    columns.push_back(values);
  }
  std::string text = "at." + names[it->second];
  int64_t more = values.front() - columns[it->second].front();
  if (more != 0)
    text += (more < 0 ? " - " : " + ") + std::to_string(std::abs(more));
  return text;
}

std::string PlaceTable::structText(StringRef name) const {
  return ("struct " + name + " {\n  int64_t " + llvm::join(names, ", ") +
          ";\n};\n")
      .str();
}

std::string PlaceTable::rowsText() const {
  std::string text;
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<std::string> numbers;
    for (const std::vector<int64_t> &column : columns)
      numbers.push_back(std::to_string(column[row]));
    text += "      {" + llvm::join(numbers, ", ") + "},\n";
  }
  return text;
}

} // namespace autopar::gpu
