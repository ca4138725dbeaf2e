#include "infer/search_options.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

// The conditions also reject NaN.
void check_sampling(const Sampling& sampling) {
    if (!(sampling.temperature > 0.0) || !std::isfinite(sampling.temperature)) {
        throw Error(
            fmt::format("the temperature must be greater than 0, got {}; for the likeliest token use greedy search",
                        sampling.temperature));
    }
    if (sampling.top_k < 0) {
        throw Error(fmt::format("top-k must be 1 or more, or 0 for all pieces, got {}", sampling.top_k));
    }
    if (!(sampling.top_p > 0.0 && sampling.top_p <= 1.0)) {
        throw Error(fmt::format("top-p must be in (0, 1], got {}", sampling.top_p));
    }
}

}  // namespace

SearchOptions default_search(Architecture family) {
    return traits(family).continues_text ? SearchOptions{.beam = 1, .length_penalty = 0.0, .max_extra = 64}
                                         : SearchOptions{};
}

void check_search_options(const SearchOptions& options) {
    if (options.beam < 1 || options.beam > SearchOptions::kMaxBeam) {
        throw Error(
            fmt::format("the beam must be between 1 (greedy) and {}, got {}", SearchOptions::kMaxBeam, options.beam));
    }
    if (!(std::abs(options.length_penalty) <= SearchOptions::kMaxLengthPenalty)) {
        throw Error(fmt::format("the length penalty must be between -{} and {}, got {}",
                                SearchOptions::kMaxLengthPenalty, SearchOptions::kMaxLengthPenalty,
                                options.length_penalty));
    }
    if (options.max_extra < 0 || options.max_extra > SearchOptions::kMaxExtra) {
        throw Error(
            fmt::format("max-extra must be between 0 and {}, got {}", SearchOptions::kMaxExtra, options.max_extra));
    }
    if (options.max_length < 0 || options.max_length > SearchOptions::kMaxLength) {
        throw Error(fmt::format("max-length must be between 1 and {}, or 0 for any length, got {}",
                                SearchOptions::kMaxLength, options.max_length));
    }
    if (!(options.max_factor >= 0.0 && options.max_factor <= SearchOptions::kMaxFactor)) {
        throw Error(fmt::format("max-factor must be between 0 (any length) and {}, got {}", SearchOptions::kMaxFactor,
                                options.max_factor));
    }
    if (options.n_best < 1 || options.n_best > options.beam) {
        throw Error(fmt::format("n-best must be between 1 and the beam, {}, got {}", options.beam, options.n_best));
    }
    if (options.no_repeat_ngram < 0 || options.no_repeat_ngram > SearchOptions::kMaxNoRepeatNgram) {
        throw Error(fmt::format("no-repeat-ngram must be between 1 and {}, or 0 to allow any, got {}",
                                SearchOptions::kMaxNoRepeatNgram, options.no_repeat_ngram));
    }
    if (options.min_length < 0 || options.min_length > SearchOptions::kMaxMinLength) {
        throw Error(fmt::format("the minimum length must be between 0 and {}, got {}", SearchOptions::kMaxMinLength,
                                options.min_length));
    }
    if (options.iterations < 1 || options.iterations > SearchOptions::kMaxIterations) {
        throw Error(fmt::format("the iterations must be between 1 and {}, got {}", SearchOptions::kMaxIterations,
                                options.iterations));
    }
    if (options.length_candidates < 1 || options.length_candidates > SearchOptions::kMaxLengthCandidates) {
        throw Error(fmt::format("the lengths must be between 1 and {}, got {}", SearchOptions::kMaxLengthCandidates,
                                options.length_candidates));
    }
    for (const double penalty : {options.repetition_penalty, options.source_repetition_penalty}) {
        if (!(penalty > 0.0 && penalty <= SearchOptions::kMaxRepetitionPenalty)) {
            throw Error(fmt::format("a repetition penalty must be above 0 and at most {}, got {}",
                                    SearchOptions::kMaxRepetitionPenalty, penalty));
        }
    }
    if (options.alternatives < 0 || options.alternatives > SearchOptions::kMaxAlternatives) {
        throw Error(fmt::format("the alternatives must be between 0 and {}, got {}", SearchOptions::kMaxAlternatives,
                                options.alternatives));
    }
    if (options.sampling) {
        check_sampling(*options.sampling);
        if (options.beam != 1) {
            throw Error(fmt::format("sampling needs a beam of 1, got {}", options.beam));
        }
    }
}

bool share_batch(const SearchOptions& one, const SearchOptions& other) {
    return one.beam == other.beam && one.iterations == other.iterations &&
           one.length_candidates == other.length_candidates;
}

std::int64_t output_limit(const SearchOptions& options, std::int64_t source_length) {
    std::int64_t limit = source_length + options.max_extra;
    if (options.max_length > 0) {
        limit = std::min(limit, options.max_length);
    }
    if (options.max_factor > 0.0 && source_length > 0) {
        limit = std::min(limit, static_cast<std::int64_t>(options.max_factor * static_cast<double>(source_length)));
    }
    return std::max<std::int64_t>(limit, 1);
}

double length_penalty(std::int64_t length, double alpha, LengthPenaltyForm form) {
    const auto tokens = static_cast<double>(length);
    return std::pow(form == LengthPenaltyForm::Gnmt ? (5.0 + tokens) / 6.0 : tokens, alpha);
}

double length_penalty(std::int64_t length, const SearchOptions& options) {
    return length_penalty(length, options.length_penalty, options.length_penalty_form);
}

}  // namespace headscope
