//===- Csv.cpp - Tables in CSV --------------------------------------------===//

#include "autopar/Support/Csv.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cassert>

using namespace llvm;

namespace autopar {

namespace {

/// Takes rows off a text.
class Reader {
public:
  explicit Reader(StringRef text) : rest(text) {}

  bool done() const { return rest.empty(); }
  int64_t lineNumber() const { return line; }

  /// Leaves the comments and empty lines before the next row out.
  void skip(bool comments) {
    while (!rest.empty()) {
      auto [first, others] = rest.split('\n');
      if (!first.trim().empty() && !(comments && first.starts_with("#")))
        return;
      rest = others;
      ++line;
    }
  }

  /// The cells up to the end of a line that is in no quotes.
  Expected<CsvTable::Row> row() {
    CsvTable::Row cells;
    do {
      Expected<std::string> next = cell();
      if (!next)
        return next.takeError();
      cells.push_back(std::move(*next));
    } while (rest.consume_front(","));
    rest.consume_front("\r");
    if (!rest.consume_front("\n") && !rest.empty())
      return fail("no comma and no end of the line after a cell");
    ++line;
    return cells;
  }

  Error fail(const Twine &what) const {
    return createStringError("line " + Twine(line) + ": " + what);
  }

private:
  Expected<std::string> cell() {
    if (!rest.consume_front("\"")) {
      StringRef plain = rest.take_until(
          [](char c) { return c == ',' || c == '\n' || c == '\r'; });
      rest = rest.drop_front(plain.size());
      return plain.str();
    }
    std::string text;
    do {
      size_t end = rest.find('"');
      if (end == StringRef::npos)
        return fail("a quote does not end");
      text += rest.take_front(end);
      line += rest.take_front(end).count('\n');
      rest = rest.drop_front(end + 1);
      if (rest.starts_with("\""))
        text += '"';
    } while (rest.consume_front("\""));
    return text;
  }

  StringRef rest;
  int64_t line = 1;
};

} // namespace

Expected<CsvTable> CsvTable::parse(StringRef text) {
  text.consume_front("\xef\xbb\xbf"); // which some editors put first
  Reader reader(text);
  CsvTable table;
  reader.skip(/*comments=*/true);
  if (reader.done())
    return reader.fail("no header with the names of columns");
  Expected<Row> header = reader.row();
  if (!header)
    return header.takeError();
  table.header = std::move(*header);
  StringSet<> names;
  for (StringRef name : table.header)
    if (!names.insert(name).second)
      return createStringError("the column '" + name + "' is there twice");
  for (reader.skip(false); !reader.done(); reader.skip(false)) {
    int64_t line = reader.lineNumber();
    Expected<Row> row = reader.row();
    if (!row)
      return row.takeError();
    if (row->size() != table.header.size())
      return createStringError(
          "line " + Twine(line) + ": " + Twine(row->size()) +
          " cells, but the header has " + Twine(table.header.size()));
    table.body.push_back(std::move(*row));
  }
  return table;
}

std::optional<size_t> CsvTable::indexOf(StringRef column) const {
  auto it = llvm::find(header, column);
  if (it == header.end())
    return std::nullopt;
  return it - header.begin();
}

StringRef CsvTable::text(const Row &row, StringRef column) const {
  std::optional<size_t> index = indexOf(column);
  assert(index && "no such column");
  return row[*index];
}

double CsvTable::number(const Row &row, StringRef column) const {
  double value = 0;
  return text(row, column).getAsDouble(value) ? 0 : value;
}

void CsvTable::append(StringRef column, ArrayRef<std::string> cells) {
  assert(cells.size() == body.size() && "a cell for each row");
  header.push_back(column.str());
  for (auto [row, cell] : llvm::zip_equal(body, cells))
    row.push_back(cell);
}

static void write(std::string &text, const CsvTable::Row &row) {
  for (auto [index, cell] : llvm::enumerate(row)) {
    if (index > 0)
      text += ',';
    if (StringRef(cell).find_first_of(",\"\r\n") == StringRef::npos &&
        !StringRef(cell).starts_with("#")) {
      text += cell;
      continue;
    }
    text += '"';
    for (char c : cell)
      text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  text += '\n';
}

std::string CsvTable::str() const {
  std::string text;
  write(text, header);
  for (const Row &row : body)
    write(text, row);
  return text;
}

} // namespace autopar
