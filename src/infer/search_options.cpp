#include "infer/search_options.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "infer/decoding_choices.h"
#include "infer/decoding_keys.h"
#include "infer/translation.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

SearchOptions default_search(Architecture family) {
    return traits(family).continues_text ? SearchOptions{.beam = 1, .length_penalty = 0.0, .max_extra = 64}
                                         : SearchOptions{};
}

void check_search_options(const SearchOptions& options) {
    const DecodingOptions all{.search = options};
    DecodingChoices unused;
    for (const DecodingKey& key : decoding_keys()) {
        if (key.type != "integer" && key.type != "number") {
            continue;
        }
        try {
            const nlohmann::json value = key.value(key, all);
            if (!value.is_null()) {
                key.read(key, {value, value.dump(), nullptr}, unused);
            }
        } catch (const Error& problem) {
            throw Error(fmt::format("\"{}\" {}", key.key, problem.what()));
        }
    }
    if (options.n_best > options.beam) {
        throw Error(fmt::format("n-best must be between 1 and the beam, {}, got {}", options.beam, options.n_best));
    }
    if (options.sample && options.beam != 1) {
        throw Error(fmt::format("sampling needs a beam of 1, got {}", options.beam));
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
