#include "data/task.h"

#include <catch2/catch.hpp>
#include <string>

using namespace headscope;

TEST_CASE("each task has a row of its own", "[task]") {
    for (std::size_t i = 0; i < tasks().size(); ++i) {
        const TaskTraits& row = tasks()[i];
        CHECK(static_cast<std::size_t>(row.task) == i);
        CHECK(&traits(row.task) == &row);
        CHECK(find_task(row.key) == &row);
        CHECK(name_of(row.task) == std::string(row.key));
        // A document is predicted piece by piece, or part of it is hidden in one way, or it has a label.
        CHECK((row.reads_pairs ? 1 : 0) + (row.predicts_next ? 1 : 0) + (row.masks_pieces ? 1 : 0) +
                  (row.masks_spans ? 1 : 0) + (row.reads_labels ? 1 : 0) ==
              1);
    }
    CHECK(find_task("translation") == nullptr);
    CHECK(std::string(tasks().front().key) == "translate");  // of configurations that name none
}
