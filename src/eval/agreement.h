// Compares the greedy translations of two devices: are they equal, and could differences be rounding?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope {

// The first difference of two outputs. Later differences follow from it and do not matter.
struct Divergence {
    std::size_t position = 0;                               // number of equal tokens before it
    std::array<std::optional<std::int32_t>, 2> candidates;  // the next token of each; std::nullopt at its end
};

// std::nullopt if the outputs are equal.
std::optional<Divergence> find_divergence(std::span<const std::int32_t> first, std::span<const std::int32_t> second);

// log P of both candidates given the previous tokens, on one device.
using CandidateScores = std::array<double, 2>;

// The difference of the candidates' scores, on the device where it is larger. Infinite if an output has no candidate or
// a score is NaN: that is not rounding.
double score_gap(const Divergence& divergence, const std::array<CandidateScores, 2>& by_device);

struct Difference {
    std::size_t sentence = 0;  // from 0
    Divergence divergence;
    std::array<CandidateScores, 2> by_device{};
    double gap = 0.0;
};

struct Agreement {
    std::size_t identical = 0;
    std::vector<Difference> differences;
    double score_drift = 0.0;  // largest difference of log P of an identical output, caused by rounding

    // Adds an output that is equal on both devices, with its log P on each.
    void add_identical(double first_score, double second_score);

    std::size_t sentences() const { return identical + differences.size(); }
    // The number of differences with a gap of at most `tie`.
    std::size_t ties(double tie) const;
    // True if every difference is a tie.
    bool holds(double tie) const { return ties(tie) == differences.size(); }
};

}  // namespace headscope
