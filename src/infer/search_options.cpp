#include "infer/search_options.h"

#include <cmath>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

// Conditions are written so that NaN fails as well.
void check_sampling(const Sampling& sampling) {
    if (!(sampling.temperature > 0.0) || !std::isfinite(sampling.temperature)) {
        throw Error(fmt::format(
            "a temperature of {} is not possible: give more than 0, such as 0.7; greedy search takes the likeliest",
            sampling.temperature));
    }
    if (sampling.top_k < 0) {
        throw Error(fmt::format("drawing from the {} likeliest pieces is not possible: give 1 or more, or 0 for all",
                                sampling.top_k));
    }
    if (!(sampling.top_p > 0.0 && sampling.top_p <= 1.0)) {
        throw Error(fmt::format("drawing from a share of {} is not possible: give more than 0 and at most 1 (all)",
                                sampling.top_p));
    }
}

}  // namespace

void check_search_options(const SearchOptions& options) {
    if (options.beam < 1 || options.beam > SearchOptions::kMaxBeam) {
        throw Error(
            fmt::format("a beam of {} is not possible: give 1 (greedy) to {}", options.beam, SearchOptions::kMaxBeam));
    }
    // A negative penalty would make the bound of the early end wrong.
    if (!(options.length_penalty >= 0.0 && options.length_penalty <= SearchOptions::kMaxLengthPenalty)) {
        throw Error(fmt::format("a length penalty of {} is not possible: give 0 (none) to {}, such as 0.6",
                                options.length_penalty, SearchOptions::kMaxLengthPenalty));
    }
    if (options.max_extra < 0 || options.max_extra > SearchOptions::kMaxExtra) {
        throw Error(fmt::format("an output {} tokens longer than the input is not possible: give 0 to {}",
                                options.max_extra, SearchOptions::kMaxExtra));
    }
    if (options.n_best < 1 || options.n_best > options.beam) {
        throw Error(fmt::format("{} best translations of a beam of {} are not possible: give 1 to {}, or a wider beam",
                                options.n_best, options.beam, options.beam));
    }
    if (options.no_repeat_ngram < 0 || options.no_repeat_ngram > SearchOptions::kMaxNoRepeatNgram) {
        throw Error(fmt::format("no repetition of {} pieces is not possible: give 1 to {}, or 0 to allow any",
                                options.no_repeat_ngram, SearchOptions::kMaxNoRepeatNgram));
    }
    if (options.min_length < 0 || options.min_length > SearchOptions::kMaxMinLength) {
        throw Error(fmt::format("an output of at least {} tokens is not possible: give 1 to {}, or 0 to allow none",
                                options.min_length, SearchOptions::kMaxMinLength));
    }
    if (options.sampling) {
        check_sampling(*options.sampling);
        if (options.beam != 1) {
            throw Error(
                fmt::format("sampling draws one translation and has no beam of {}: leave the beam out", options.beam));
        }
    }
}

double length_penalty(std::int64_t length, double alpha, LengthPenaltyForm form) {
    const auto tokens = static_cast<double>(length);
    return std::pow(form == LengthPenaltyForm::Gnmt ? (5.0 + tokens) / 6.0 : tokens, alpha);
}

double length_penalty(std::int64_t length, const SearchOptions& options) {
    return length_penalty(length, options.length_penalty, options.length_penalty_form);
}

}  // namespace headscope
