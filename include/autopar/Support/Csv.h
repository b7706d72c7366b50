//===- Csv.h - Tables in CSV ------------------------------------*- C++ -*-===//
//
// Tables are as RFC 4180 says: a header with the names of the columns, then
// rows with as many cells. A cell in quotes may hold commas, line ends and
// doubled quotes. Lines before the header that start with '#' are comments;
// empty lines are skipped.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_CSV_H
#define AUTOPAR_SUPPORT_CSV_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace autopar {

class CsvTable {
public:
  using Row = std::vector<std::string>;

  /// Reads a table. An error names the line: the header is missing, a column is
  /// there twice, a row is not as long as the header, or a quote does not end.
  static llvm::Expected<CsvTable> parse(llvm::StringRef text);

  const std::vector<Row> &rows() const { return body; }
  bool has(llvm::StringRef column) const { return indexOf(column).has_value(); }
  /// The cell in that column, which the table must have.
  llvm::StringRef text(const Row &row, llvm::StringRef column) const;
  /// The cell as a number; 0 if it is no number.
  double number(const Row &row, llvm::StringRef column) const;

  /// Appends a column, with a cell for each row.
  void append(llvm::StringRef column, llvm::ArrayRef<std::string> cells);
  /// The table in CSV, without comments.
  std::string str() const;

private:
  std::optional<size_t> indexOf(llvm::StringRef column) const;

  Row header;
  std::vector<Row> body;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_CSV_H
