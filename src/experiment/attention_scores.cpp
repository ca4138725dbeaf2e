#include "experiment/attention_scores.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "autograd/functions.h"
#include "backend/ops/elementwise.h"
#include "figures/curve.h"
#include "io/atomic_file.h"
#include "paint/svg.h"

namespace headscope {
namespace {

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
    heads.scoring.scaled = score != "dot_product";
    if (score == "additive") {
        // As a model begins: Glorot and Bengio's variance.
        const Tensor gain = unit_noise(backend, {kHeads, d_k}, 3);
        backend.run(AddScaled{.a = gain, .out = gain, .alpha = std::sqrt(2.0F / static_cast<float>(kHeads + d_k))});
        heads.scoring.gain = Var(gain, true);
    }
    return heads;
}

void plot(const std::string& file, const std::vector<ScoreMeasures>& measures, const char* title, const char* label,
          bool logarithmic, double (*value)(const ScoreMeasures&)) {
    std::vector<Series> all;
    for (const ScoreKind& kind : score_kinds()) {
        Series series{.name = kind.title, .points = {}};
        for (const ScoreMeasures& one : measures) {
            if (one.kind == &kind) {
                series.points.push_back({static_cast<double>(one.d_k), value(one)});
            }
        }
        if (!series.points.empty()) {
            all.push_back(std::move(series));
        }
    }
    atomic_write_file(
        file,
        to_svg(draw_curves(
            all,
            {.title = title, .x_label = "d_k", .y_label = label, .logarithmic = logarithmic, .logarithmic_x = true})));
}

double milliseconds(const ScoreMeasures& one) {
    return 1e3 * (one.pass.forward_seconds + one.pass.backward_seconds);
}

std::string learnt_text(const ScoreMeasures& one) {
    return !one.learnt         ? "-"
           : one.learnt->steps ? fmt::format("{}", *one.learnt->steps)
                               : fmt::format("{:.0f} %", 100.0 * one.learnt->accuracy);
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

TextTable table_of(const std::vector<ScoreMeasures>& measures) {
    TextTable table{.head = {"score", "d_k", "deviation", "softmax gradient", "ms", "MB", "steps to recall"},
                    .rows = {}};
    for (const ScoreMeasures& one : measures) {
        table.rows.push_back({one.kind->title, fmt::format("{}", one.d_k), fmt::format("{:.2f}", one.deviation),
                              fmt::format("{:.3f}", one.gradient), fmt::format("{:.3g}", milliseconds(one)),
                              fmt::format("{:.1f}", static_cast<double>(one.pass.bytes) / 1e6), learnt_text(one)});
    }
    return table;
}

void write_scores(const std::string& folder, const std::string& device, const std::vector<ScoreMeasures>& measures) {
    std::filesystem::create_directories(folder);
    const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    nlohmann::json results = nlohmann::json::array();
    for (const ScoreMeasures& one : measures) {
        nlohmann::json json = {{"score", one.kind->name},
                               {"d_k", one.d_k},
                               {"score_deviation", one.deviation},
                               {"softmax_gradient", one.gradient},
                               {"forward_seconds", one.pass.forward_seconds},
                               {"backward_seconds", one.pass.backward_seconds},
                               {"bytes", one.pass.bytes}};
        if (one.learnt) {
            json["recall_steps"] = one.learnt->steps ? nlohmann::json(*one.learnt->steps) : nlohmann::json();
            json["recall_accuracy"] = one.learnt->accuracy;
            json["parameters"] = one.learnt->parameters;
        }
        results.push_back(std::move(json));
    }
    const nlohmann::json json = {{"experiment", "attention-scores"}, {"device", device}, {"results", results}};
    atomic_write_file(file("table.json"), json.dump(2) + "\n");
    atomic_write_file(file("table.md"), table_of(measures).markdown());
    plot(file("gradient.svg"), measures, "Gradient of the softmax", "sum of w (1 - w)", false,
         [](const ScoreMeasures& one) { return one.gradient; });
    plot(file("time.svg"), measures, "Attention, forward and backward", "milliseconds", true, milliseconds);
}

}  // namespace headscope
