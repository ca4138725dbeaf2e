#include "experiment/attention_scores.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "autograd/functions.h"
#include "backend/ops/elementwise.h"
#include "experiment/studies.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kScoresFooter =
    "For scaled and unscaled products and additive scores: the deviation of the scores and the gradient of the\n"
    "softmax, the mean over queries of the sum of w (1 - w), for random queries and keys; time and memory of 8 heads\n"
    "of attention, forward and backward; and the steps until a small language model recalls the first of 64 symbols,\n"
    "or the accuracy where it never did. table.json, table.md, gradient.svg and time.svg in the output folder have\n"
    "the same. docs/experiments.md says what they show.\n\n"
    "Example:\n"
    "  headscope experiment attention-scores --output out/scores --d-k 4,16 --length 64 --repeat 1 --steps 20";

constexpr std::int64_t kHeads = 8;

double deviation_of(const std::vector<float>& values) {
    double sum = 0.0;
    double squares = 0.0;
    for (const float value : values) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto count = static_cast<double>(values.size());
    return std::sqrt(std::max(squares / count - sum / count * sum / count, 0.0));
}

// Queries, keys and values [1, heads, length, d_k], and how they are scored.
struct Heads {
    Var q, k, v;
    Scoring scoring;
};

Heads random_heads(Backend& backend, const ScoreKind& kind, std::int64_t d_k, std::int64_t length) {
    const auto unit = [&](std::uint64_t stream) {
        return Var(unit_noise(backend, {1, kHeads, length, d_k}, stream), true);
    };
    Heads heads{.q = unit(0), .k = unit(1), .v = unit(2), .scoring = {}};
    const std::string score = kind.model.value("attention.score", "scaled_dot_product");
    heads.scoring.scale = score == "dot_product" ? 1.0F : 0.0F;
    if (score == "additive") {
        // As a model begins: Glorot and Bengio's variance.
        const Tensor gain = unit_noise(backend, {kHeads, d_k}, 3);
        backend.run(AddScaled{.a = gain, .out = gain, .alpha = std::sqrt(2.0F / static_cast<float>(kHeads + d_k))});
        heads.scoring.gain = Var(gain, true);
    }
    return heads;
}

double milliseconds(const ScoreMeasures& one) {
    return 1e3 * (one.pass.forward_seconds + one.pass.backward_seconds);
}

std::vector<Column<ScoreMeasures>> score_columns() {
    using One = ScoreMeasures;
    const auto of_learnt = [](nlohmann::json (*value)(const LongRangeResult&)) {
        return [value](const One& one) { return one.learnt ? value(*one.learnt) : kLeftOut; };
    };
    return {
        {"score", "", [](const One& one) { return one.kind->title; }},
        {"d_k", "d_k", [](const One& one) { return one.d_k; }},
        {"deviation", "score_deviation", [](const One& one) { return one.deviation; }},
        {"softmax gradient", "softmax_gradient", [](const One& one) { return one.gradient; }, 3},
        {"ms", "", [](const One& one) { return fmt::format("{:.3g}", milliseconds(one)); }},
        {"MB", "bytes", [](const One& one) { return one.pass.bytes; }, 1, 1e6},
        {"steps to recall", "",
         of_learnt([](const LongRangeResult& learnt) -> nlohmann::json { return steps_text(learnt); })},
        {"", "score", [](const One& one) { return one.kind->name; }},
        {"", "forward_seconds", [](const One& one) { return one.pass.forward_seconds; }},
        {"", "backward_seconds", [](const One& one) { return one.pass.backward_seconds; }},
        {"", "recall_steps", of_learnt([](const LongRangeResult& learnt) -> nlohmann::json {
             return learnt.steps ? nlohmann::json(*learnt.steps) : nlohmann::json();
         })},
        {"", "recall_accuracy",
         of_learnt([](const LongRangeResult& learnt) -> nlohmann::json { return learnt.accuracy; })},
        {"", "parameters",
         of_learnt([](const LongRangeResult& learnt) -> nlohmann::json { return learnt.parameters; })},
    };
}

StudyReport measure_all_scores(const nlohmann::json& values, const Bench& bench) {
    constexpr std::int64_t kDistance = 64;
    const LongRangeSettings recall{.steps = values.at("steps")};
    std::vector<ScoreMeasures> all;
    for (const ScoreKind& kind : score_kinds()) {
        for (const std::int64_t d_k : values.at("d-k")) {
            ScoreMeasures one = measure_scores(bench.backend, kind, d_k, values.at("length"), values.at("repeat"));
            const LayerKind model = recalling_model(kind, d_k);
            const std::string impossible = why_impossible(recall, LongRangeTask::Recall, model, kDistance);
            if (impossible.empty()) {
                one.learnt = learn_long_range(bench.backend, recall, LongRangeTask::Recall, model, kDistance,
                                              bench.stop_requested);
            } else {
                bench.say(fmt::format("{}, d_k = {}: no model: {}", kind.name, d_k, impossible));
            }
            if (bench.stop_requested()) {
                throw Error("stopped by a signal; nothing was written");
            }
            bench.say(fmt::format("{}, d_k = {}: scores deviate by {:.2f}", kind.name, d_k, one.deviation));
            all.push_back(std::move(one));
        }
    }
    return report_of(all, bench.device());
}

}  // namespace

const std::vector<ScoreKind>& score_kinds() {
    static const std::vector<ScoreKind> kinds = {
        {"scaled", "q k / sqrt(d_k)", nlohmann::json::object()},
        {"unscaled", "q k", {{"attention.score", "dot_product"}}},
        {"additive", "v tanh(q + k)", {{"attention.score", "additive"}}},
    };
    return kinds;
}

ScoreMeasures measure_scores(Backend& backend, const ScoreKind& kind, std::int64_t d_k, std::int64_t length,
                             int repeat) {
    const Heads heads = random_heads(backend, kind, d_k, length);
    ScoreMeasures found{.kind = &kind, .d_k = d_k};
    Context ctx{.backend = backend};
    const Var scores = attention_scores(ctx, heads.q, heads.k, heads.scoring);
    found.deviation = deviation_of(to_host<float>(backend, scores.value()));
    for (const float weight : to_host<float>(backend, masked_softmax(ctx, scores, {}).value())) {
        found.gradient += static_cast<double>(weight) * (1.0 - static_cast<double>(weight));
    }
    found.gradient /= static_cast<double>(kHeads * length);
    found.pass = measure_passes(
        backend, repeat,
        [&](Tape& tape) {
            Context recording{.backend = backend, .tape = &tape};
            return attend(recording, {}, heads.q, heads.k, heads.v, {}, {}, heads.scoring);
        },
        [&] {
            for (const Var& var : {heads.q, heads.k, heads.v, heads.scoring.gain}) {
                if (var.defined()) {
                    var.forget_gradient();
                }
            }
        });
    return found;
}

LayerKind recalling_model(const ScoreKind& kind, std::int64_t d_k) {
    LayerKind made{};
    made.name = kind.name;
    made.title = kind.title;
    made.decoder = kind.model;
    made.decoder["attention.heads"] = 1;
    made.decoder["attention.d_k"] = d_k;
    made.decoder["attention.d_v"] = LongRangeSettings{}.d_model;
    return made;
}

StudyReport report_of(const std::vector<ScoreMeasures>& measures, const std::string& device) {
    StudyReport report{.json = {{"experiment", "attention-scores"},
                                {"device", device},
                                {"results", json_of(score_columns(), measures)}},
                       .rows = "results",
                       .tables = {table_of(score_columns(), measures)}};
    const auto plot = [&](const char* name, CurveOptions options, double (*value)(const ScoreMeasures&)) {
        std::vector<Series> all;
        for (const ScoreKind& kind : score_kinds()) {
            Series& series = all.emplace_back(Series{.name = kind.title, .points = {}});
            for (const ScoreMeasures& one : measures) {
                if (one.kind == &kind) {
                    series.points.push_back({static_cast<double>(one.d_k), value(one)});
                }
            }
        }
        options.x_label = "d_k";
        options.logarithmic_x = true;
        report.add_curves(name, std::move(all), std::move(options));
    };
    plot("gradient", {.title = "Gradient of the softmax", .y_label = "sum of w (1 - w)"},
         [](const ScoreMeasures& one) { return one.gradient; });
    plot("time", {.title = "Attention, forward and backward", .y_label = "milliseconds", .logarithmic = true},
         milliseconds);
    return report;
}

Study attention_scores() {
    return {
        .name = "attention-scores",
        .summary = "Scaled, unscaled and additive scores of attention: section 3.2.1",
        .footer = kScoresFooter,
        .options =
            {{"Models", "d-k", "N,..", "Columns of queries and keys (default: 4,16,64,256)", {4, 16, 64, 256}, 4096},
             {"Measurement", "length", "N", "Positions of the text whose attention is timed", 256, 65'536},
             {"Measurement", "repeat", "N", "Runs of each; the median is reported", 5, 1000},
             {"Measurement", "steps", "N", "At most, for each model", 400, 1'000'000}},
        .measure = measure_all_scores};
}

}  // namespace headscope
