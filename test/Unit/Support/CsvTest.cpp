//===- CsvTest.cpp - Tables in CSV ----------------------------------------===//

#include "autopar/Support/Csv.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::string errorOf(StringRef text) {
  Expected<CsvTable> table = CsvTable::parse(text);
  return table ? "" : toString(table.takeError());
}

TEST(Csv, CellsByColumn) {
  CsvTable table = cantFail(
      CsvTable::parse("# where it is from\n\nname,size\r\na,1.5\r\n\nb,\n"));
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(table.text(table.rows()[0], "name"), "a");
  EXPECT_EQ(table.number(table.rows()[0], "size"), 1.5);
  EXPECT_EQ(table.text(table.rows()[1], "size"), "");
  EXPECT_EQ(table.number(table.rows()[1], "size"), 0);
  EXPECT_TRUE(table.has("size"));
  EXPECT_FALSE(table.has("weight"));
}

TEST(Csv, QuotesHoldCommasLineEndsAndQuotes) {
  StringRef text = "name,note\n\"a, b\",\"two\nlines\"\n\"say \"\"no\"\"\",\n";
  CsvTable table = cantFail(CsvTable::parse(text));
  EXPECT_EQ(table.text(table.rows()[0], "name"), "a, b");
  EXPECT_EQ(table.text(table.rows()[0], "note"), "two\nlines");
  EXPECT_EQ(table.text(table.rows()[1], "name"), "say \"no\"");
  EXPECT_EQ(table.str(), text.str());
}

TEST(Csv, AppendedColumnsComeLast) {
  CsvTable table = cantFail(CsvTable::parse("a\n1\n2"));
  table.append("b", {"x,y", ""});
  EXPECT_EQ(table.str(), "a,b\n1,\"x,y\"\n2,\n");
}

TEST(Csv, WhatSpreadsheetsWriteIsRead) {
  CsvTable table = cantFail(CsvTable::parse("\xef\xbb\xbf\"#a\",b\n1,2\n"));
  EXPECT_TRUE(table.has("#a"));
  EXPECT_EQ(table.str(), "\"#a\",b\n1,2\n");
}

TEST(Csv, LaterLinesAreNoComments) {
  CsvTable table = cantFail(CsvTable::parse("a\n#1\n"));
  ASSERT_EQ(table.rows().size(), 1u);
  EXPECT_EQ(table.text(table.rows()[0], "a"), "#1");
}

TEST(Csv, ErrorsNameTheLine) {
  EXPECT_EQ(errorOf(""), "line 1: no header with the names of columns");
  EXPECT_EQ(errorOf("# nothing\n"),
            "line 2: no header with the names of columns");
  EXPECT_EQ(errorOf("a,b,a\n"), "the column 'a' is there twice");
  EXPECT_EQ(errorOf("a,b\n1,2\n3\n"), "line 3: 1 cells, but the header has 2");
  EXPECT_EQ(errorOf("a,b\n1,\"2\n"), "line 2: a quote does not end");
  EXPECT_EQ(errorOf("a,b\n\"1\"2,3\n"),
            "line 2: no comma and no end of the line after a cell");
}

} // namespace
