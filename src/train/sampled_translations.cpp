#include "train/sampled_translations.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "eval/bleu.h"
#include "eval/chrf.h"
#include "infer/session.h"
#include "support/check.h"
#include "support/random.h"
#include "train/advantages.h"
#include "train/model_in_training.h"
#include "train/step_options.h"

namespace headscope {
namespace {

SampledTranslations::Score score_of(SentenceScore score) {
    switch (score) {
        case SentenceScore::Bleu: return sentence_bleu;
        case SentenceScore::Chrf:
            return [](const std::string& translation, const std::string& reference) {
                return corpus_chrf({translation}, {{reference}}).score;
            };
    }
    check_failed(__FILE__, __LINE__, "score_of", "no such score");
}

// The sample as a translation of the pair's source, whose tokens have this weight. An end that it did not write has
// none.
Example weighed(const Example& pair, const LinePart& sample, double weight) {
    const TextResult& found = sample.sentence;
    const bool ended = found.end == EndReason::EndOfSentence;
    const auto first = found.target_ids.begin() + static_cast<std::ptrdiff_t>(sample.task.given);
    Example example{.source = pair.source,
                    .target = {first, found.target_ids.end() - (ended ? 1 : 0)},
                    .source_begin = pair.source_begin};
    example.weights.assign(example.target.size() + 1, static_cast<float>(weight));
    example.weights.back() = ended ? example.weights.back() : 0.0F;
    return example;
}

}  // namespace

SampledTranslations::SampledTranslations(Learner& learner, const TrainConfig& config, const TrainingData& data,
                                         Score score)
    : config_(config),
      frame_(data.frame),
      target_tokenizer_(data.target_tokenizer),
      compute_(learner.options().arithmetic.compute),
      pairs_(make_batcher(config.training, data, config.texts_of_a_pair())),
      sampler_(model_in_training(learner, data)),
      score_(score ? std::move(score) : score_of(config.risk.score)) {}

// At temperature 1, from all pieces but those that the search never writes: padding, start and unknown.
std::vector<LinePart> SampledTranslations::sample(const std::vector<Example>& pairs) const {
    auto search = std::make_shared<SearchOptions>(default_search(sampler_.model().config.architecture));
    search->beam = 1;
    search->sample = true;
    search->min_length = 0;
    search->seed =
        mix_bits(mix_bits(static_cast<std::uint64_t>(config_.training.seed)) + static_cast<std::uint64_t>(steps_));
    const std::int64_t longest = config_.training.max_length - 1;  // the step adds an end
    std::vector<LinePart> parts;
    std::vector<std::int64_t> lengths;
    for (const Example& pair : pairs) {
        Frame frame = frame_;
        frame.source_begin = pair.source_begin.empty() ? frame.source_begin : pair.source_begin;
        const std::vector<std::int32_t> source = frame.source(pair.source);
        for (std::int64_t i = 0; i < config_.risk.samples; ++i) {
            LinePart part;
            part.task = translation_task(frame, *search, source, longest);
            part.task.line = static_cast<std::uint32_t>(parts.size());
            part.search = search;
            part.sentence.source_ids = source;
            // A row may grow to its limit.
            lengths.push_back(std::max(frame.source_positions(std::ssize(pair.source)), part.task.limit));
            parts.push_back(std::move(part));
        }
    }
    const DecodingOptions decoding{.search = *search, .compute = compute_};
    for (const std::vector<std::size_t>& batch :
         batches_by_length(lengths, micro_budget(config_.training).source_tokens)) {
        std::vector<LinePart*> together;
        std::ranges::transform(batch, std::back_inserter(together), [&](std::size_t i) { return &parts[i]; });
        finish(*sampler_.begin(together, decoding));
    }
    for (const LinePart& part : parts) {
        if (!part.sentence.problem.empty()) {
            throw Error(fmt::format("a translation cannot be sampled: {}", part.sentence.problem));
        }
    }
    return parts;
}

TrainingStep SampledTranslations::next() {
    const std::vector<Example> pairs = pairs_->next().examples;
    const std::vector<LinePart> samples = sample(pairs);
    ++steps_;
    const auto each = static_cast<std::size_t>(config_.risk.samples);
    std::vector<double> scores;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::string reference = target_tokenizer_->decode(pairs[i].target);
        for (std::size_t j = i * each; j < (i + 1) * each; ++j) {
            scores.push_back(score_(samples[j].sentence.text, reference));
        }
    }
    measure(samples, scores);
    const std::vector<double> advantages = leave_one_out(scores, each);
    TrainingStep step{.examples = {}, .divisor = 0.0};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        *step.divisor += static_cast<double>(pairs[i].target.size() + 1);
        for (std::size_t j = i * each; j < (i + 1) * each; ++j) {
            step.examples.push_back(weighed(pairs[i], samples[j], advantages[j] / (100.0 * static_cast<double>(each))));
        }
        if (config_.risk.likelihood > 0.0) {
            step.examples.push_back(pairs[i]);
            step.examples.back().weights.assign(pairs[i].target.size() + 1,
                                                static_cast<float>(config_.risk.likelihood));
        }
    }
    return step;
}

void SampledTranslations::measure(const std::vector<LinePart>& samples, const std::vector<double>& scores) {
    const auto count = static_cast<double>(samples.size());
    double length = 0.0;
    double cut = 0.0;
    double distinct = 0.0;
    const auto each = static_cast<std::size_t>(config_.risk.samples);
    for (std::size_t first = 0; first < samples.size(); first += each) {
        std::set<std::string> texts;
        for (std::size_t i = first; i < first + each; ++i) {
            texts.insert(samples[i].sentence.text);
            length += static_cast<double>(samples[i].sentence.target_ids.size() - samples[i].task.given);
            cut += samples[i].sentence.end == EndReason::Limit ? 1.0 : 0.0;
        }
        distinct += static_cast<double>(texts.size());
    }
    measures_ = {{"reward", std::accumulate(scores.begin(), scores.end(), 0.0) / count},
                 {"length", length / count},
                 {"cut", cut / count},
                 {"distinct", distinct / count}};
}

nlohmann::json SampledTranslations::state() const {
    return {{"pairs", pairs_->state()}, {"sampled", steps_}};
}

void SampledTranslations::set_state(const nlohmann::json& state) {
    try {
        steps_ = state.at("sampled").get<std::int64_t>();
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("the position in the sampled translations is incomplete: {}", error.what()));
    }
    pairs_->set_state(state.value("pairs", nlohmann::json::object()));
}

}  // namespace headscope
