#include "cli/score/scored_responses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/response_template.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/evaluation_report.h"
#include "data/response_encoder.h"
#include "data/response_reader.h"
#include "engine/in_order.h"
#include "eval/ranking_evaluation.h"
#include "infer/response_scores.h"
#include "io/input_files.h"
#include "model/frame_of_config.h"
#include "options/progress.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

// Some lines, scored at a time.
struct ReadResponses {
    std::vector<Responses> responses = {};
    std::vector<std::size_t> lines = {};
    std::vector<Example> examples = {};
    std::int64_t tokens = 0;
};
using ResponseScores = std::vector<std::vector<double>>;  // of each line

// Reads a file, and scores its lines as their model was trained.
class Scorer {
public:
    Scorer(const CommonOptions& common, const ResponsesFile& file, ResponseForm form, std::int64_t batch_tokens)
        : models_(common.find_models()),
          opened_(common, models_, log_of_command),
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

    // Calls `take` with some lines at a time, in order.
    void score_all(const std::function<void(const ReadResponses& some, const ResponseScores& scores)>& take) {
        const auto request_of = [&](const ReadResponses& some) {
            return RunRequest<ResponseScores>{.run = [&](const Place& place) { return score(place, some); },
                                              .tokens = some.tokens};
        };
        ask_in_order(
            opened_.engine, opened_.model, [&] { return next(); }, request_of,
            [&](const ReadResponses& some, const ResponseScores& scores) {
                require_finite(some, scores);
                take(some, scores);
            });
    }

    const std::vector<std::string>& models() const { return models_; }
    const OpenedEngine& opened() const { return opened_; }
    const std::string& name() const { return reader_.lines().name(); }
    bool rewards() const { return opened_.directory().config.output.head == OutputHead::Scalar; }

private:
    std::optional<ReadResponses> next() {
        ReadResponses some;
        PartSize size(batch_tokens_);
        for (Responses responses; !size.full() && reader_.next(responses);) {
            Example example = encoder_.encode(responses, reader_.place());
            const std::int64_t longest = opened_.directory().config.max_length;
            if (longest_text(example) > longest) {
                throw Error(fmt::format("{}: a response with its prompt has {} tokens, but the model reads {}",
                                        reader_.place(), longest_text(example), longest));
            }
            size.add(longest_text(example) * std::max<std::int64_t>(std::ssize(responses.texts), 1));
            some.responses.push_back(std::move(responses));
            some.lines.push_back(reader_.lines().number());
            some.examples.push_back(std::move(example));
        }
        some.tokens = size.tokens();
        return some.lines.empty() ? std::nullopt : std::optional(std::move(some));
    }

    ResponseScores score(const Place& place, const ReadResponses& some) const {
        Context ctx{.backend = place.backend, .compute = place.compute};
        return score_responses(ctx, place.model.network(), some.examples, frame_, batch_tokens_);
    }

    void require_finite(const ReadResponses& some, const ResponseScores& scores) const {
        for (std::size_t i = 0; i < scores.size(); ++i) {
            for (const double score : scores[i]) {
                if (!std::isfinite(score)) {
                    throw Error(fmt::format("{} line {}: the score of a response is {}: the model is broken", name(),
                                            some.lines[i], score));
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
    scorer.score_all([&](const ReadResponses& some, const ResponseScores& scores) {
        any = true;
        std::string text;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            text += common.json ? json_row(nlohmann::ordered_json{{"line", some.lines[i]}, {key, scores[i]}})
                                : fmt::format("{:.4f}\n", fmt::join(scores[i], "\t"));
        }
        write_output(text);
    });
    scorer.opened().tell_idle();
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
    scorer.score_all([&](const ReadResponses& some, const ResponseScores& scores) {
        for (std::size_t i = 0; i < scores.size(); ++i) {
            evaluation.add(scores[i], some.responses[i].ranks);
        }
        progress.done(evaluation.prompts);
    });
    progress.clear();
    scorer.opened().tell_idle();
    if (evaluation.choices.tokens() == 0) {
        throw Error(scorer.name() + " has no two responses of which one is better");
    }
    if (!calibration.empty()) {
        write_calibration(evaluation.choices, scorer.models(), calibration);
    }
    write_output(common.json
                     ? ranking_evaluation_json(evaluation, origin,
                                               {scorer.models(), scorer.opened().engine.devices(), common.precision})
                     : ranking_table(evaluation));
}

}  // namespace headscope
