#include "experiment/stack_gradient.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "experiment/layer_probe.h"
#include "experiment/pass_cost.h"
#include "experiment/studies.h"
#include "model/feed_forward.h"
#include "model/mixer.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

constexpr const char* kResidualsFooter =
    "For stacks of N layers, each of self-attention and a feed-forward part with layer norms, before any training:\n"
    "the norm of the gradient that arrives at the first layer, divided by that at the last output, and by how much\n"
    "positions differ in both. Means over the seeds. table.json, table.md and difference.svg in the output folder\n"
    "have the same. docs/experiments.md says what they show.\n\n"
    "Example:\n"
    "  headscope experiment residuals --output out/residuals --depths 2,4,8 --seeds 1";

constexpr std::int64_t kHeadWidth = 16;
constexpr double kLeastDifference = 1e-12;  // less is rounding

ModelConfig stack_config(const StackKind& kind, int layers, const StackSizes& sizes) {
    ModelConfig config = encoder_alone(layers, sizes.width, sizes.width / kHeadWidth, 4 * sizes.width, sizes.length);
    config.norm.placement = kind.placement;
    check_model_config(config, kind.name);
    return config;
}

double norm_of(const std::vector<float>& values) {
    double squares = 0.0;
    for (const float value : values) {
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    return std::sqrt(squares);
}

// values [length, width].
double difference_of(const std::vector<float>& values, const StackSizes& sizes) {
    double of_mean = 0.0;
    const auto width = static_cast<std::size_t>(sizes.width);
    for (std::size_t column = 0; column < width; ++column) {
        double sum = 0.0;
        for (std::size_t at = column; at < values.size(); at += width) {
            sum += static_cast<double>(values[at]);
        }
        of_mean += sum * sum / static_cast<double>(sizes.length);
    }
    return std::max(1.0 - of_mean / std::pow(norm_of(values), 2.0), kLeastDifference);
}

// The layers of an encoder, whose sub-layers are added to what they read, or not.
class StackProbe {
public:
    StackProbe(Backend& backend, const StackKind& kind, int layers, const StackSizes& sizes, std::uint64_t seed)
        : backend_(backend),
          kind_(kind),
          config_(stack_config(kind, layers, sizes)),
          parameters_(backend, config_, true),
          x_(unit_noise(backend, {1, sizes.length, sizes.width}), true) {
        parameters_.initialise(seed);
        const Scope stack = Scope(declared_, &parameters_).in("encoder").for_each(&MultiplyAdds::source_token);
        for (int i = 0; i < layers; ++i) {
            const Scope attention = stack.layer(i).in(mixer_part(config_.mixer.encoder));
            const Scope feed_forward = stack.layer(i).in("feed_forward");
            layers_.push_back({make_mixer(config_, attention, {AttentionKind::EncoderSelf, i}, sites_),
                               LayerNorm(config_, attention.in("norm")), FeedForward(config_, feed_forward, sites_),
                               LayerNorm(config_, feed_forward.in("norm"))});
        }
    }

    StackGradient measure(const StackSizes& sizes) const {
        constexpr std::uint64_t kGradients = 1000;  // a stream that no input has
        Tape tape;
        Context ctx{.backend = backend_, .tape = &tape};
        Var x = copy_of(ctx, x_);
        for (const Layer& layer : layers_) {
            x = add(ctx, layer.mixer_norm, x, [&](const Var& read) { return (*layer.mixer)(ctx, read, {}); });
            x = add(ctx, layer.outer_norm, x, [&](const Var& read) { return layer.feed_forward(ctx, read); });
        }
        StackGradient found;
        found.difference = difference_of(to_host<float>(backend_, x.value()), sizes);
        const Tensor gradient = unit_noise(backend_, x.shape(), kGradients);
        const double given = norm_of(to_host<float>(backend_, gradient));
        x.add_gradient(backend_, gradient);
        tape.backward(backend_);
        const std::vector<float> arrived = to_host<float>(backend_, x_.gradient());
        found.gradient = norm_of(arrived) / given;
        found.gradient_difference = difference_of(arrived, sizes);
        return found;
    }

private:
    struct Layer {
        std::unique_ptr<Mixer> mixer;
        LayerNorm mixer_norm;
        FeedForward feed_forward;
        LayerNorm outer_norm;
    };

    template <class Sublayer>
    Var add(Context& ctx, const LayerNorm& norm, const Var& x, const Sublayer& sublayer) const {
        if (kind_.placement == NormPlacement::Post) {
            return norm(ctx, sublayer(x), kind_.residual ? x : Var(), {}, {}).y;
        }
        const Normed normed = norm(ctx, x, Var(), {}, {});
        const Var output = sublayer(normed.y);
        return kind_.residual ? add_spending(ctx, output, normed.sum) : output;
    }

    Backend& backend_;
    const StackKind& kind_;
    ModelConfig config_;
    Parameters parameters_;
    ModelDescription declared_;
    DropoutSites sites_;
    std::vector<Layer> layers_;
    Var x_;
};

std::string power_text(double value) {
    return value >= 0.01 && value < 100.0 ? fmt::format("{:.2f}", value) : fmt::format("{:.0e}", value);
}

// Rows are kinds, columns numbers of layers.
TextTable table_by_depth(const std::vector<StackGradient>& measured, const char* heading,
                         double StackGradient::*value) {
    TextTable table{.head = {heading}, .rows = {}};
    for (const StackKind& kind : stack_kinds()) {
        std::vector<std::string> row = {kind.title};
        for (const StackGradient& one : measured) {
            if (one.kind == &kind) {
                row.push_back(power_text(one.*value));
                if (table.rows.empty()) {
                    table.head.push_back(fmt::format("N = {}", one.layers));
                }
            }
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

StudyReport measure_residuals(const nlohmann::json& values, const Bench& bench) {
    const StackSizes sizes{.length = values.at("length"), .width = values.at("d-model"), .seeds = values.at("seeds")};
    if (sizes.width % kHeadWidth != 0) {
        throw UsageError(fmt::format("--d-model must be a multiple of {}, for heads of {}, found {}", kHeadWidth,
                                     kHeadWidth, sizes.width));
    }
    std::vector<StackGradient> measured;
    for (const StackKind& kind : stack_kinds()) {
        for (const int layers : values.at("depths")) {
            if (bench.stop_requested()) {
                throw Error("stopped by a signal; nothing was written");
            }
            measured.push_back(measure_stack(bench.backend, kind, layers, sizes));
            bench.say(fmt::format("{}, {} layers: a gradient of {:.2g}", kind.name, layers, measured.back().gradient));
        }
    }
    return report_of(measured, bench.device());
}

}  // namespace

const std::vector<StackKind>& stack_kinds() {
    static const std::vector<StackKind> kinds = {
        {"post-norm", "Post-norm", NormPlacement::Post, true},
        {"post-norm-off", "Post-norm, no residual connections", NormPlacement::Post, false},
        {"pre-norm", "Pre-norm", NormPlacement::Pre, true},
        {"pre-norm-off", "Pre-norm, no residual connections", NormPlacement::Pre, false},
    };
    return kinds;
}

StackGradient measure_stack(Backend& backend, const StackKind& kind, int layers, const StackSizes& sizes) {
    StackGradient logs;
    for (int seed = 1; seed <= sizes.seeds; ++seed) {
        const StackGradient one =
            StackProbe(backend, kind, layers, sizes, static_cast<std::uint64_t>(seed)).measure(sizes);
        logs.gradient += std::log(one.gradient);
        logs.difference += std::log(one.difference);
        logs.gradient_difference += std::log(one.gradient_difference);
    }
    return {.kind = &kind,
            .layers = layers,
            .gradient = std::exp(logs.gradient / sizes.seeds),
            .difference = std::exp(logs.difference / sizes.seeds),
            .gradient_difference = std::exp(logs.gradient_difference / sizes.seeds)};
}

StudyReport report_of(const std::vector<StackGradient>& measured, const std::string& device) {
    const std::vector<Column<StackGradient>> columns = {
        {"", "stack", [](const StackGradient& one) { return one.kind->name; }},
        {"", "layers", [](const StackGradient& one) { return one.layers; }},
        {"", "gradient", [](const StackGradient& one) { return one.gradient; }},
        {"", "difference", [](const StackGradient& one) { return one.difference; }},
        {"", "gradient_difference", [](const StackGradient& one) { return one.gradient_difference; }}};
    StudyReport report{
        .json = {{"experiment", "residuals"}, {"device", device}, {"results", json_of(columns, measured)}},
        .rows = "results",
        .tables = {table_by_depth(measured, "gradient at the input", &StackGradient::gradient),
                   table_by_depth(measured, "difference of positions: output", &StackGradient::difference),
                   table_by_depth(measured, "of the gradient", &StackGradient::gradient_difference)}};
    std::vector<Series> curves;
    for (const StackKind& kind : stack_kinds()) {
        Series& series = curves.emplace_back(Series{.name = kind.title, .points = {}});
        for (const StackGradient& one : measured) {
            if (one.kind == &kind) {
                series.points.push_back({static_cast<double>(one.layers), one.difference});
            }
        }
    }
    report.add_curves("difference", std::move(curves),
                      {.title = "How far positions differ at the end of a stack",
                       .x_label = "layers N",
                       .y_label = "share of the squares",
                       .logarithmic = true});
    return report;
}

Study residuals() {
    return {
        .name = "residuals",
        .summary = "Gradients of deep stacks with and without residual connections: 3.1",
        .footer = kResidualsFooter,
        .options =
            {{"Models", "depths", "N,..", "Layers of the stacks (default: 1,2,4,8,16,32)", {1, 2, 4, 8, 16, 32}, 1024},
             {"Models", "length", "N", "Positions of the sequence", 16, 65'536, 2},
             {"Models", "d-model", "N", "Columns, a multiple of 16", 64, 4096, 16},
             {"Measurement", "seeds", "N", "Random weights to measure", 3, 1000}},
        .measure = measure_residuals};
}

}  // namespace headscope
