//===- CudaHostTables.cpp - Tables of a host program as C++ ---------------===//

#include "CudaHostTables.h"
#include "CudaText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar::gpu {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static std::string fieldText(const abi::Field &field, ArrayRef<int64_t> words) {
  if (!field.values.empty())
    return abi::textOf(field.values, words.front());
  auto numbers = llvm::map_range(words.take_front(field.words),
                                 [](int64_t n) { return std::to_string(n); });
  return formatv("/*{0}*/ {1}{2}{3}", field.name, field.isArray ? "{" : "",
                 llvm::join(numbers, ", "), field.isArray ? "}" : "");
}

static std::string descriptorText(ArrayRef<abi::Field> fields,
                                  ArrayRef<int64_t> words) {
  SmallVector<std::string> parts;
  for (const abi::Field &field : fields) {
    parts.push_back(fieldText(field, words));
    words = words.drop_front(field.words);
  }
  return wrapped("    {" + llvm::join(parts, ", ") + "},") + "\n";
}

Descriptors::Descriptors(const LibraryFunctions &row)
    : type(*row.descriptor), array(stringifyCallKind(row.kind).str() + "s"),
      title(row.title) {}

std::vector<Descriptors> Descriptors::all() {
  std::vector<Descriptors> result;
  for (const LibraryFunctions &row : libraryFunctions())
    if (llvm::none_of(result, [&](const Descriptors &known) {
          return known.areOf(row.descriptor);
        }))
      result.push_back(Descriptors(row));
  return result;
}

std::string Descriptors::text(ArrayRef<int64_t> words) const {
  if (numbers.empty())
    return "";
  std::vector<int64_t> firsts(numbers.size());
  for (auto [word, number] : numbers)
    firsts[number] = word;
  std::string text =
      formatv("\nstatic const {0} {1}[] = {{\n", type.name, array);
  for (auto [number, word] : llvm::enumerate(firsts)) {
    auto each = words.slice(word, type.words);
    text += "    // " + std::to_string(number) + ": " + title(each) + "\n" +
            descriptorText(type.fields, each);
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
