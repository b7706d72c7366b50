//===- MinimaTest.cpp - Vectorised minima against plain loops -------------===//

#include "lib/Planning/Solver/Minima.h"
#include "autopar/Planning/Solver/Problem.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace autopar;

namespace {

/// Numbers, some of them illegal.
std::vector<double> numbers(size_t count, std::mt19937 &random) {
  std::vector<double> list;
  for (size_t i = 0; i < count; ++i)
    list.push_back(random() % 8 == 0 ? kIllegal : double(random() % 1000));
  return list;
}

/// Columns below, at and above a multiple of any vector's width, rows of those
/// that are taken together.
TEST(Minima, AreThoseOfPlainLoops) {
  std::mt19937 random(1);
  for (size_t columns = 1; columns <= 40; ++columns) {
    size_t rows = 1 + columns % 9;
    std::vector<double> cells = numbers(rows * columns, random),
                        ofRows = numbers(rows, random),
                        ofColumns = numbers(columns, random);
    std::vector<double> byRows(rows, kIllegal), byColumns(columns, kIllegal),
        both(rows, kIllegal), ofBoth(columns, kIllegal);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        double cell = cells[row * columns + column], a = cell + ofRows[row],
               b = cell + ofColumns[column], c = a + ofColumns[column];
        byRows[row] = std::min(byRows[row], b);
        byColumns[column] = std::min(byColumns[column], a);
        both[row] = std::min(both[row], c);
        ofBoth[column] = std::min(ofBoth[column], c);
      }
    std::vector<float> rounded(cells.begin(), cells.end()),
        besideRows(ofRows.begin(), ofRows.end()),
        besideColumns(ofColumns.begin(), ofColumns.end()), rowsLeast(rows),
        columnsLeast(columns);
    leastOfRows(rounded.data(), besideColumns.data(), columns, rowsLeast.data(),
                rows);
    leastOfColumns(rounded.data(), besideRows.data(), columns,
                   columnsLeast.data(), rows);
    EXPECT_EQ(std::vector<double>(rowsLeast.begin(), rowsLeast.end()), byRows);
    EXPECT_EQ(std::vector<double>(columnsLeast.begin(), columnsLeast.end()),
              byColumns);
    std::vector<double> rowsOfBoth(rows), columnsOfBoth(columns, kIllegal);
    leastOfBoth(cells.data(), ofRows.data(), ofColumns.data(), columns,
                rowsOfBoth.data(), columnsOfBoth.data(), rows);
    EXPECT_EQ(rowsOfBoth, both);
    EXPECT_EQ(columnsOfBoth, ofBoth);
    EXPECT_EQ(leastOfAll(cells.data(), ofRows.data(), ofColumns.data(), columns,
                         rows),
              *std::min_element(both.begin(), both.end()));
  }
}

TEST(Minima, ExcessPassesOverWhatIsIllegalTwice) {
  std::mt19937 random(2);
  for (size_t count = 0; count <= 40; ++count) {
    std::vector<double> better = numbers(count, random),
                        worse = numbers(count, random);
    double most = -kIllegal;
    for (size_t i = 0; i < count; ++i)
      if (better[i] < kIllegal || worse[i] < kIllegal)
        most = std::max(most, better[i] - worse[i]);
    EXPECT_EQ(mostExcess(better, worse), most);
    std::vector<double> illegal(count, kIllegal);
    EXPECT_EQ(mostExcess(illegal, illegal), -kIllegal);
    EXPECT_EQ(mostExcess(std::vector<double>(count, 1), illegal), -kIllegal);
  }
}

} // namespace
