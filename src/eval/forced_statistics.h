// How well a model's probabilities fit human translations: perplexity and calibration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "infer/teacher_forced.h"

namespace headscope {

// Bins of equal width over confidences from 0 to 1, as in Guo et al. (2017): (0, 1/15], (1/15, 2/15], ...
constexpr std::size_t kCalibrationBins = 15;

// The tokens whose likeliest candidate has a probability in this bin.
struct CalibrationBin {
    std::int64_t tokens = 0;
    std::int64_t right = 0;       // the likeliest candidate is the token
    double confidence_sum = 0.0;  // of the likeliest candidates' probabilities

    double accuracy() const { return tokens == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(tokens); }
    double confidence() const { return tokens == 0 ? 0.0 : confidence_sum / static_cast<double>(tokens); }
};

// Sums over the tokens of teacher-forced targets, including eos.
class ForcedStatistics {
public:
    // Error for a NaN or infinite probability.
    void add(const ForcedToken& token);

    std::int64_t tokens() const { return all_.tokens; }
    double nll() const;  // mean of -log P, unsmoothed, natural logarithm
    double perplexity() const;
    double accuracy() const { return all_.accuracy(); }
    double confidence() const { return all_.confidence(); }
    // Mean of ForcedToken::logit_gap.
    double logit_gap() const;
    // Mean of |accuracy - confidence| over the bins, each weighted by its tokens (Naeini et al., 2015).
    double expected_calibration_error() const;
    const std::array<CalibrationBin, kCalibrationBins>& bins() const { return bins_; }

private:
    double nll_sum_ = 0.0, gap_sum_ = 0.0;
    CalibrationBin all_;
    std::array<CalibrationBin, kCalibrationBins> bins_{};
};

}  // namespace headscope
