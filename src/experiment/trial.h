// One training of an experiment: a run folder, its model, and what was measured of it on development data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "train/run.h"

namespace headscope {

// How development data is translated (paper 6.1).
struct Decoding {
    int beam = 4;
    double length_penalty = 0.6;

    bool operator==(const Decoding&) const = default;
};

struct Trial {
    std::string name;       // of its folder: "A1-s1"
    nlohmann::json config;  // a training configuration; data files by absolute names
    std::vector<Decoding> decodings = {{}};
};

// The score of development sentences whose sources have `least` words or more, up to the next entry's: BLEU, or F1 of a
// model that writes trees.
struct ScoreOfLength {
    std::int64_t least = 0;
    std::int64_t sentences = 0;
    double score = 0.0;
};

struct TrialResult {
    std::int64_t parameters = 0;
    std::int64_t steps = 0;
    double minutes = 0.0;            // of training, over all starts
    double perplexity = 0.0;         // per piece of the development references, end included
    double accuracy = 0.0;           // how often their next piece is the likeliest one
    double calibration_error = 0.0;  // ForcedStatistics::expected_calibration_error()
    double logit_gap = 0.0;          // ForcedStatistics::logit_gap(); 0 in older results
    std::vector<double> bleu = {};   // of each decoding: 0 to 100, cased, 13a tokens; of trees, their symbols'
    std::vector<double> f1 = {};     // of each decoding: 0 to 100 (score_found_trees); empty unless it writes trees
    // Tokens a second: of training, source and target, the median over reports; and of the first decoding, target only.
    // 0 in older results, like the next.
    double training_speed = 0.0, decoding_speed = 0.0;
    std::vector<ScoreOfLength> by_length = {};  // of the first decoding
    std::size_t unscored = 0;         // development pairs that the three values above leave out: ForcedReferences
    std::size_t untranslated = 0;     // development sentences that count as empty
    nlohmann::json config = nullptr;  // of the trial
};

// "1 pair of the development data not in PPL, 1 count as empty in BLEU"; "" if all were measured.
std::string left_out_text(const char* data, std::size_t unscored, std::size_t untranslated);

nlohmann::json to_json(const TrialResult& result, const std::vector<Decoding>& decodings);
// The result that `folder` has, if any. Error if it is of another trial, with the differences.
std::optional<TrialResult> read_result(const std::string& folder, const Trial& trial);

// The models of a trial's folder: of the weights that "training.average_last" asks for, and, if these are a mean, of
// the last step's.
inline constexpr const char* kTrialModel = "model";
inline constexpr const char* kLastModel = "last";

// Trains in `folder` with a copy of the tokenizers in `tokenizers`, from the newest checkpoint there, measures
// the model, and writes result.json. std::nullopt: stopped.
std::optional<TrialResult> run_trial(Backend& backend, const Trial& trial, const std::string& folder,
                                     const std::string& tokenizers, const RunHooks& hooks);

// Only a trial without a result continues from them.
void remove_checkpoints(const std::string& folder);

}  // namespace headscope
