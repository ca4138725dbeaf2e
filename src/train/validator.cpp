#include "train/validator.h"

#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "eval/bleu.h"
#include "infer/decoding_choices.h"
#include "io/atomic_file.h"
#include "train/step_options.h"

namespace headscope {

Validator::Validator(Learner& learner, const TrainingOptions& t, TrainingData& data, const std::string& model_directory)
    : learner_(learner),
      examples_(std::exchange(data.valid, {})),
      batcher_(examples_, micro_budget(t), 0, data.frame),
      text_(std::exchange(data.valid_text, {})) {
    if (bleu_pairs() == 0) {
        return;
    }
    ModelDirectory model{.path = {},
                         .config = learner.model_config(),
                         .source_tokenizer = data.source_tokenizer,
                         .target_tokenizer = data.target_tokenizer};
    read_decoding(model_directory, model);
    const DecodingChoices choices =
        model.decoding ? decoding_choices_of(model) : DecodingChoices{.split_longer_than = t.max_length};
    translator_.emplace(
        learner.backend(), std::move(model),
        std::shared_ptr<const Parameters>(std::shared_ptr<void>(), &learner.parameters()));  // not owned
    options_ = {.search = choices.over({}),
                .compute = learner.options().arithmetic.compute,
                .split_longer_than = choices.split_longer_than};
    if (translator_->model().config.generation == Generation::LeftToRight) {
        options_.search.beam = 1;
    }
    options_.search.languages = data.languages;
}

Validation Validator::measure() const {
    Validation found{.loss = learner_.validate(batcher_)};
    const auto of_the_mean = [&](const auto& measure_weights) {
        learner_.mean()->swap();
        const double result = measure_weights();
        learner_.mean()->swap();
        return result;
    };
    if (learner_.mean() != nullptr) {
        found.mean_nll = of_the_mean([&] { return nll(); });
    }
    if (bleu_pairs() > 0 && std::isfinite(found.best_nll())) {
        const auto measure_bleu = [&] { return bleu(); };
        found.bleu = found.mean_is_better() ? of_the_mean(measure_bleu) : measure_bleu();
    }
    return found;
}

double Validator::bleu() const {
    // In as many parts as shards, so that each sentence has the same others beside it on any number of ranks.
    Communicator& ranks = learner_.ranks();
    const int shards = learner_.options().shards;
    const ShardRange mine = shards_of(ranks.rank(), ranks.size(), shards);
    const auto cut = [&](int shard) { return text_.source.size() * static_cast<std::size_t>(shard) / shards; };
    nlohmann::json found = nlohmann::json::array();
    for (int shard = mine.first; shard < mine.end; ++shard) {
        ranks.announce(fmt::format("translating validation text, part {} of {}", shard + 1, shards),
                       Communicator::Takes::Long);
        const std::vector<std::string> part(text_.source.begin() + static_cast<std::ptrdiff_t>(cut(shard)),
                                            text_.source.begin() + static_cast<std::ptrdiff_t>(cut(shard + 1)));
        for (TextResult& sentence : translator_->translate(numbered(part), options_)) {
            found.push_back(std::move(sentence.text));
        }
    }
    std::vector<std::string> translations;
    for (const std::string& of_rank :
         ranks.gather(found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {
        for (const nlohmann::json& text : nlohmann::json::parse(of_rank)) {
            translations.push_back(text);
        }
    }
    return corpus_bleu(translations, text_.target).score;
}

nlohmann::json default_decoding(std::int64_t max_length, const Languages& languages) {
    nlohmann::json choices{{"split_longer_than", max_length}};
    if (!languages.source.empty()) {
        choices["source_language"] = languages.source;
    }
    if (!languages.target.empty()) {
        choices["target_language"] = languages.target;
    }
    return choices;
}

void write_decoding(const std::string& model_directory, const nlohmann::json& choices) {
    const std::filesystem::path file = std::filesystem::path(model_directory) / kDecodingFile;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file))) {
        atomic_write_file(file.string(), choices.dump(2) + "\n");
    }
}

void write_decoding_choices(const std::string& model_directory, std::int64_t max_length, const Languages& languages) {
    write_decoding(model_directory, default_decoding(max_length, languages));
}

}  // namespace headscope
