// Tables of text.
#include <catch2/catch.hpp>

#include "experiment/text_table.h"

using namespace headscope;

TEST_CASE("a table is aligned in the terminal and in Markdown") {
    const TextTable table{.head = {"row", "PPL"}, .rows = {{"base", "4.92"}, {"A1", "5.3 ± 0.1"}}};
    CHECK(table.plain() ==
          "row         PPL\n"
          "---------------\n"
          "base       4.92\n"
          "A1    5.3 ± 0.1\n");
    CHECK(table.markdown() ==
          "| row  |       PPL |\n"
          "|------|----------:|\n"
          "| base |      4.92 |\n"
          "| A1   | 5.3 ± 0.1 |\n");
}
