// Whether two devices translate alike (greedily), and where they do not, whether rounding alone may have chosen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope {

// Where two outputs part. What comes after follows from the choice made here, and says nothing about the devices.
struct Parting {
    std::size_t position = 0;                               // tokens before it, the same in both
    std::array<std::optional<std::int32_t>, 2> candidates;  // what each goes on with; nothing where it is at its end
};

// Nothing where the outputs are the same.
std::optional<Parting> find_parting(std::span<const std::int32_t> first, std::span<const std::int32_t> second);

// log P of both candidates, after the tokens before them, on one device.
using CandidateScores = std::array<double, 2>;

// How far the candidates' scores are apart, on the device where that is more. Infinite where an output has no candidate
// or a score is no number: that was not rounding.
double score_gap(const Parting& parting, const std::array<CandidateScores, 2>& by_device);

struct Difference {
    std::size_t sentence = 0;  // from 0
    Parting parting;
    std::array<CandidateScores, 2> by_device{};
    double gap = 0.0;
};

struct Agreement {
    std::size_t identical = 0;
    std::vector<Difference> differences;
    double score_drift = 0.0;  // largest difference of log P of an identical output, which rounding alone explains

    // Adds an output that is the same on both devices, with its log P on each.
    void add_identical(double first_score, double second_score);

    std::size_t sentences() const { return identical + differences.size(); }
    // Differences whose gap is at most `tie`.
    std::size_t ties(double tie) const;
    // Every difference is a tie.
    bool holds(double tie) const { return ties(tie) == differences.size(); }
};

}  // namespace headscope
