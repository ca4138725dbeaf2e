// What the trials of a study measured, row by row beside the paper, for plots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope {

// Over the seeds of a row.
struct SeedSpread {
    double mean = 0.0;
    std::optional<double> deviation = {};  // standard deviation of the sample; empty for one seed
    std::vector<double> values = {};       // of each seed, in the order of ExperimentRow::seeds
    std::string text(int digits) const;    // "8.00 ± 0.40"
    bool operator==(const SeedSpread&) const = default;
};

struct ExperimentRow {
    struct Measured {
        SeedSpread perplexity;  // per piece of the development data
        SeedSpread bleu;        // 0 to 100
        double parameters = 0.0;
        double minutes = 0.0;  // of training, the mean over seeds
        bool operator==(const Measured&) const = default;
    };
    // Empty: the paper has no number.
    struct Reported {
        std::optional<double> perplexity = {};
        std::optional<double> bleu = {};
        std::optional<double> parameters = {};
        bool operator==(const Reported&) const = default;
    };
    std::string name;                   // "A1"; the first row is what others vary
    std::string varied = {};            // "h 1, d_k 128, d_v 128"; empty for the base
    std::optional<Measured> ours = {};  // of the finished trials
    std::vector<int> seeds = {};        // of the finished trials; 0: the only one, without a seed of its own
    std::vector<int> unfinished = {};   // seeds of trials that were started
    Reported paper = {};
    std::string impossible = {};             // why there is no such model; empty if there is
    std::vector<std::string> problems = {};  // of trials that failed
    bool operator==(const ExperimentRow&) const = default;
};

struct ExperimentTable {
    std::string folder = {};  // where the trials are
    std::string title = {};
    std::vector<ExperimentRow> rows = {};
    bool operator==(const ExperimentTable&) const = default;
};

// The name of a trial's folder: "A1-s2" for seed 2 of row A1, and the row's for seed 0.
std::string trial_name(const std::string& row, int seed);

}  // namespace headscope
