// Rows of searches that go on step by step, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "infer/prepared_line.h"
#include "infer/session.h"
#include "tiny_model.h"

namespace headscope {

inline ModelConfig context_of(std::int64_t context) {
    ModelConfig config = tiny_language_config(Architecture::CausalLm);
    config.max_length = context;
    return config;
}

// Greedy, and as long as said.
inline SearchOptions exactly(std::int64_t tokens) {
    return {.beam = 1, .length_penalty = 0.0, .max_extra = tokens, .min_length = tokens};
}

struct Wish {
    std::string text;
    SearchOptions search;
};

// One line, which fits in one part.
class SearchedRow {
public:
    SearchedRow(const LoadedModel& model, const Wish& wish, std::size_t number = 1, bool reports = false)
        : line_(prepare_line(model.model(), {.text = wish.text, .number = static_cast<std::uint32_t>(number)},
                             {.search = wish.search}, model.longest())) {
        REQUIRE(line_.units.size() == 1);
        REQUIRE(part()->sentence.problem.empty());
        part()->reports = reports;
    }
    LinePart* part() { return &line_.units.front(); }
    const TextResult& result() { return part()->sentence; }

private:
    PreparedLine line_;
};

inline std::vector<LinePart*> parts_of(std::vector<SearchedRow>& rows) {
    std::vector<LinePart*> parts;
    for (SearchedRow& row : rows) {
        parts.push_back(row.part());
    }
    return parts;
}

inline void check_result(const TextResult& one, const TextResult& other) {
    CHECK(one.target_ids == other.target_ids);
    CHECK(one.text == other.text);
    CHECK(one.end == other.end);
    CHECK(one.log_probability == Approx(other.log_probability).epsilon(1e-4));
    REQUIRE(one.n_best.size() == other.n_best.size());
    for (std::size_t i = 0; i < one.n_best.size(); ++i) {
        CHECK(one.n_best[i].text == other.n_best[i].text);
    }
}

inline void check_alone(const LoadedModel& model, const Wish& wish, std::size_t number, const TextResult& found) {
    INFO(wish.text);
    SearchedRow alone(model, wish, number);
    finish(*model.begin({alone.part()}, {}));
    check_result(found, alone.result());
}

inline const std::vector<std::string> kTexts = {"the small dog", "a", "the big dog sees the cat", "the",
                                                "a small cat sees"};

}  // namespace headscope
