#include "cli/score/scored_responses.h"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/opened_engine.h"
#include "cli/response_template.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/evaluation_report.h"
#include "data/response_encoder.h"
#include "data/response_reader.h"
#include "eval/ranking_evaluation.h"
#include "infer/response_scores.h"
#include "io/input_files.h"
#include "model/frame_of_config.h"
#include "options/progress.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct ScoredResponses {
    Responses responses;
    std::size_t line = 0;
    Example example = {};
    std::vector<double> scores = {};
};

// Reads a file some lines at a time, and scores them as their model was trained.
class Scorer {
public:
    Scorer(const CommonOptions& common, const ResponsesFile& file, ResponseForm form, std::int64_t batch_tokens)
        : models_(common.find_models()),
          opened_(common, models_),
          frame_(frame_of(opened_.directory().config)),
          encoder_(opened_.directory().target_tokenizer, frame_, response_template(opened_.directory(), file.chat)),
          reader_(file.path, form),
          batch_tokens_(batch_tokens) {
        if (models_.size() > 1) {
            throw UsageError("responses are scored by one model: give one --model");
        }
        if (!traits(opened_.directory().config.architecture).continues_text) {
            throw UsageError(fmt::format("{} is a {}: responses need a causal language model", models_.front(),
                                         name_of(opened_.directory().config.architecture)));
        }
    }

    // Empty at the end.
    std::vector<ScoredResponses> next() {
        constexpr std::size_t kAtATime = 256;
        std::vector<ScoredResponses> some;
        for (Responses responses; some.size() < kAtATime && reader_.next(responses);) {
            Example example = encoder_.encode(responses, reader_.place());
            const std::int64_t longest = opened_.directory().config.max_length;
            if (longest_text(example) > longest) {
                throw Error(fmt::format("{}: a response with its prompt has {} tokens, but the model reads {}",
                                        reader_.place(), longest_text(example), longest));
            }
            some.push_back({std::move(responses), reader_.lines().number(), std::move(example)});
        }
        score(some);
        return some;
    }

    const std::vector<std::string>& models() const { return models_; }
    const OpenedEngine& opened() const { return opened_; }
    const std::string& name() const { return reader_.lines().name(); }
    bool rewards() const { return opened_.directory().config.output.head == OutputHead::Scalar; }

private:
    void score(std::vector<ScoredResponses>& some) {
        std::vector<Example> examples;
        for (const ScoredResponses& one : some) {
            examples.push_back(one.example);
        }
        std::vector<std::vector<double>> scores;
        opened_.run([&](const Place& place) {
            Context ctx{.backend = place.backend, .compute = place.compute};
            scores = score_responses(ctx, place.model.network(), examples, frame_, batch_tokens_);
        });
        for (std::size_t i = 0; i < some.size(); ++i) {
            some[i].scores = std::move(scores[i]);
            for (const double score : some[i].scores) {
                if (!std::isfinite(score)) {
                    throw Error(fmt::format("{} line {}: the score of a response is {}: the model is broken", name(),
                                            some[i].line, score));
                }
            }
        }
    }

    std::vector<std::string> models_;
    OpenedEngine opened_;
    Frame frame_;
    ResponseEncoder encoder_;
    ResponseReader reader_;
    std::int64_t batch_tokens_;
};

void refuse_inputs(const CommonOptions& common, const std::string& file, const std::string& picture) {
    InputFiles inputs(common.open.settings);
    inputs.add({file});
    inputs.add(common.find_models());
    inputs.refuse("-");
    inputs.refuse(picture);
}

std::string ranking_table(const RankingEvaluation& evaluation) {
    const ForcedStatistics& of = evaluation.choices;
    std::string text = fmt::format("{} prompts, {} pairs: {:.1f} % in the order of people\n", evaluation.prompts,
                                   of.tokens(), 100.0 * evaluation.accuracy());
    for (const auto& [distance, pairs] : evaluation.by_distance) {
        text +=
            fmt::format("ranks {:>2} apart  {:>6} pairs  {:5.1f} %\n", distance, pairs.pairs, 100.0 * pairs.accuracy());
    }
    return text + fmt::format(
                      "loss {:.4f}; calibration error {:.2f} % (ECE, {} bins): the better one is chosen with "
                      "probability {:.1f} % on average\n",
                      of.nll(), 100.0 * of.expected_calibration_error(), kCalibrationBins, 100.0 * of.confidence());
}

}  // namespace

void print_response_scores(const CommonOptions& common, const ResponsesFile& file, std::int64_t batch_tokens) {
    refuse_inputs(common, file.path, "");
    Scorer scorer(common, file, ResponseForm::Any, batch_tokens);
    const char* key = scorer.rewards() ? "rewards" : "log_probabilities";
    bool any = false;
    for (auto some = scorer.next(); !some.empty(); some = scorer.next()) {
        any = true;
        std::string text;
        for (const ScoredResponses& one : some) {
            text += common.json ? json_row(nlohmann::ordered_json{{"line", one.line}, {key, one.scores}})
                                : fmt::format("{:.4f}\n", fmt::join(one.scores, "\t"));
        }
        write_output(text);
    }
    if (!any) {
        throw Error(scorer.name() + " has no response to score");
    }
}

void evaluate_ranked(const CommonOptions& common, const ResponsesFile& file, std::int64_t batch_tokens,
                     const std::string& calibration, const ResultOrigin& origin) {
    refuse_inputs(common, file.path, calibration);
    Scorer scorer(common, file, ResponseForm::Ranked, batch_tokens);
    RankingEvaluation evaluation;
    ProgressMeter progress("prompt");
    for (auto some = scorer.next(); !some.empty(); some = scorer.next()) {
        for (const ScoredResponses& one : some) {
            evaluation.add(one.scores, one.responses.ranks);
        }
        progress.done(evaluation.prompts);
    }
    progress.clear();
    if (evaluation.choices.tokens() == 0) {
        throw Error(scorer.name() + " has no two responses of which one is better");
    }
    if (!calibration.empty()) {
        write_calibration(evaluation.choices, scorer.models(), calibration);
    }
    write_output(common.json
                     ? ranking_evaluation_json(evaluation, origin,
                                               {scorer.models(), scorer.opened().first().info, common.precision})
                     : ranking_table(evaluation));
}

}  // namespace headscope
