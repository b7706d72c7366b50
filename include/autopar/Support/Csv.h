//===- Csv.h - Tables in CSV ------------------------------------*- C++ -*-===//
//
// RFC 4180: a header of column names, then rows of as many cells; a cell in
// quotes may hold commas, line ends and doubled quotes. Lines before the header
// that start with '#' are comments, empty lines are left out.
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

  /// The error names the line: no header, a column twice, a row of another
  /// length than the header, a quote that does not end.
  static llvm::Expected<CsvTable> parse(llvm::StringRef text);

  const std::vector<Row> &rows() const { return body; }
  bool has(llvm::StringRef column) const { return indexOf(column).has_value(); }
  /// The cell in that column, which the table must have.
  llvm::StringRef text(const Row &row, llvm::StringRef column) const;
  /// The same as a number; 0 if it is none.
  double number(const Row &row, llvm::StringRef column) const;

  /// A last column more, a cell for each row.
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
