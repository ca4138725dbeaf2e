#include "eval/forced_statistics.h"

#include <algorithm>
#include <cmath>

#include "support/check.h"

namespace headscope {

namespace {

std::size_t bin_of(double confidence) {
    const double place = std::ceil(confidence * static_cast<double>(kCalibrationBins)) - 1.0;
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(kCalibrationBins - 1)));
}

}  // namespace

void ForcedStatistics::add(const ForcedToken& token) {
    if (!std::isfinite(token.log_probability) || !std::isfinite(token.best_log_probability)) {
        throw Error(
            "the model's probability for a token of the references is NaN or infinite: its weights are "
            "damaged, or too large for the precision");
    }
    const double confidence = std::exp(token.best_log_probability);
    nll_sum_ -= token.log_probability;
    gap_sum_ += token.logit_gap;
    for (CalibrationBin* bin : {&all_, &bins_[bin_of(confidence)]}) {
        ++bin->tokens;
        bin->right += token.likeliest ? 1 : 0;
        bin->confidence_sum += confidence;
    }
}

double ForcedStatistics::nll() const {
    return all_.tokens == 0 ? 0.0 : nll_sum_ / static_cast<double>(all_.tokens);
}

double ForcedStatistics::logit_gap() const {
    return all_.tokens == 0 ? 0.0 : gap_sum_ / static_cast<double>(all_.tokens);
}

double ForcedStatistics::perplexity() const {
    return std::exp(nll());
}

double ForcedStatistics::expected_calibration_error() const {
    double error = 0.0;
    for (const CalibrationBin& bin : bins_) {
        error += std::abs(static_cast<double>(bin.right) - bin.confidence_sum);
    }
    return all_.tokens == 0 ? 0.0 : error / static_cast<double>(all_.tokens);
}

}  // namespace headscope
