// The section "risk" of a configuration: learning from the scores of translations that the model samples.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// Of a translation and its reference, from 0 to 100.
enum class SentenceScore : std::uint8_t { Bleu, Chrf };

struct RiskOptions {
    std::int64_t samples = 5;  // translations of each source; at least 2, since each is compared with the others
    SentenceScore score = SentenceScore::Bleu;
    // Weight of the references' negative log-likelihood beside scores from 0 to 1 (Wu et al., 2016, equation 9).
    double likelihood = 0.017;

    // What a step computes for each pair.
    std::int64_t texts() const { return samples + (likelihood > 0.0 ? 1 : 0); }
};

// Errors name the file and the key, also for unknown keys.
RiskOptions parse_risk_options(const nlohmann::json& json, const std::string& file);
// All of them, as "risk.<key>": they decide the weights after a given step.
nlohmann::json identity_of(const RiskOptions& options);

}  // namespace headscope
