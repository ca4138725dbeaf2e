// Compares forced tokens with those expected.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "infer/teacher_forced.h"

namespace headscope {

inline void check_same(const std::vector<ForcedToken>& found, const std::vector<ForcedToken>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t token = 0; token < expected.size(); ++token) {
        CHECK(found[token].log_probability == Approx(expected[token].log_probability).margin(1e-4));
        CHECK(found[token].best_log_probability == Approx(expected[token].best_log_probability).margin(1e-4));
        CHECK(found[token].likeliest == expected[token].likeliest);
        CHECK(found[token].logit_gap == Approx(expected[token].logit_gap).margin(1e-3));
    }
}

}  // namespace headscope
