#include "train/training_options.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr std::int64_t kMany = 1'000'000'000;

void parse_length(ConfigReader& reader, TrainingOptions& options) {
    options.steps = reader.integer("steps", 0, 0, kMany);
    options.epochs = reader.number("epochs", 0.0, 0.0, 1e6);
    options.tokens = reader.integer("tokens", 0, 0, 1'000'000'000'000);
    options.minutes = reader.number("minutes", 0.0, 0.0, 1e6);
    options.patience = reader.integer("patience", 0, 0, 100'000);
    options.warmup_steps = reader.integer("warmup_steps", options.warmup_steps, 1, kMany);
    options.cooldown_steps = reader.integer("cooldown_steps", 0, 0, kMany);
    options.cooldown = reader.number("cooldown", 0.0, 0.0, 1.0);
}

void parse_guard(ConfigReader& reader, GuardOptions& guard) {
    guard.returns = reader.integer("divergence_returns", guard.returns, 0, 1000);
    guard.rate_factor = reader.number("divergence_rate_factor", guard.rate_factor, 1e-3, 1.0);
    guard.margin = reader.number("divergence_nll", guard.margin, 0.0, 1e6);
    guard.steps = reader.integer("divergence_steps", guard.steps, 1, kMany);
}

void parse_budgets(ConfigReader& reader, const nlohmann::json& json, TrainingOptions& options) {
    const auto says_auto = [&](const char* key) { return reader.has(key) && json.at(key) == "auto"; };
    options.find_batch = says_auto("source_tokens");
    if (options.find_batch) {
        static_cast<void>(reader.text("source_tokens"));
        if (says_auto("target_tokens")) {
            static_cast<void>(reader.text("target_tokens"));
        } else if (reader.has("target_tokens")) {
            reader.fail("target_tokens", "is found automatically, since \"source_tokens\" is \"auto\": leave it out");
        }
        return;
    }
    options.source_tokens = reader.integer("source_tokens", options.source_tokens, 1, kMany);
    options.target_tokens = reader.integer("target_tokens", options.target_tokens, 1, kMany);
}

void parse_steps(ConfigReader& reader, TrainingOptions& options) {
    options.length_multiple = reader.integer("length_multiple", options.length_multiple, 1, 64);
    options.micro_batch_tokens = reader.integer("micro_batch_tokens", 0, 0, kMany);
    options.split_when_out_of_memory = reader.boolean("split_when_out_of_memory", options.split_when_out_of_memory);
    options.max_length = reader.integer("max_length", options.max_length, 2, 100'000);
    options.report_every = reader.integer("report_every", options.report_every, 1, 100'000);
    options.watch_gradients = reader.boolean("watch_gradients", options.watch_gradients);
    options.validate_every = reader.integer("validate_every", options.validate_every, 0, kMany);
    options.validate_bleu = reader.integer("validate_bleu", 0, 0, kMany);
    options.checkpoint_every = reader.integer("checkpoint_every", options.checkpoint_every, 0, kMany);
    options.checkpoint_minutes = reader.number("checkpoint_minutes", options.checkpoint_minutes, 0.0, 1e6);
    options.tensorboard = reader.boolean("tensorboard", options.tensorboard);
    options.keep_last = reader.integer("keep_last", options.keep_last, 1, 1000);
    options.average_last = reader.integer("average_last", options.average_last, 1, 1000);
}

void parse_precision(ConfigReader& reader, TrainingOptions& options) {
    options.compute = reader.choice("compute", 0, {"f32", "bf16"}) == 0 ? Compute::F32 : Compute::BF16;
    if (reader.has("precision")) {
        if (reader.has("compute")) {
            reader.fail("compute", "has no effect beside \"precision\": leave it out");
        }
        const int chosen =
            reader.choice("precision", 0, {kPrecisionNames.begin(), kPrecisionNames.begin() + kTrainingPrecisions});
        options.precision = static_cast<Precision>(chosen);
    }
    constexpr double kMost = 16777216.0;  // 2^24, far beyond F16
    options.loss_scale_least = reader.number("loss_scale_least", options.loss_scale_least, 1e-6, kMost);
    options.loss_scale_most = reader.number("loss_scale_most", options.loss_scale_most, 1e-6, kMost);
    options.loss_scale = reader.number("loss_scale", options.loss_scale, 1e-6, kMost);
    options.loss_scale_interval =
        reader.integer("loss_scale_interval", options.loss_scale_interval, 0, static_cast<std::int64_t>(kMost));
}

void parse_optimisation(ConfigReader& reader, TrainingOptions& options) {
    options.learning_rate_scale = reader.number("learning_rate_scale", options.learning_rate_scale, 0.0, 1e6);
    options.beta1 = reader.number("adam_beta1", options.beta1, 0.0, 0.999999);
    options.beta2 = reader.number("adam_beta2", options.beta2, 0.0, 0.999999);
    options.epsilon = reader.number("adam_epsilon", options.epsilon, 1e-20, 1.0);
    options.clip_norm = reader.number("clip_norm", 0.0, 0.0, 1e9);
    options.ema_decay = reader.number("ema_decay", 0.0, 0.0, 0.999999);
    options.label_smoothing = reader.number("label_smoothing", options.label_smoothing, 0.0, 0.99);
    options.smoothing = reader.choice("smoothing_over", 0, {"all_classes", "other_classes"}) == 0
                            ? Smoothing::AllClasses
                            : Smoothing::OtherClasses;
    options.residual_dropout = reader.number("residual_dropout", options.residual_dropout, 0.0, 0.99);
    options.embedding_dropout = reader.number("embedding_dropout", options.embedding_dropout, 0.0, 0.99);
    options.attention_dropout = reader.number("attention_dropout", 0.0, 0.0, 0.99);
    options.activation_dropout = reader.number("activation_dropout", 0.0, 0.0, 0.99);
    options.seed = reader.integer("seed", options.seed, 0, INT32_MAX);
    parse_precision(reader, options);
    options.save = reader.choice("save", 0, {"f32", "f16"}) == 0 ? DType::F32 : DType::F16;
}

}  // namespace

TrainingOptions parse_training_options(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "training");
    TrainingOptions options;
    parse_length(reader, options);
    parse_guard(reader, options.guard);
    parse_budgets(reader, json, options);
    parse_steps(reader, options);
    parse_optimisation(reader, options);
    reader.finish();
    return options;
}

nlohmann::json identity_of(const TrainingOptions& t) {
    nlohmann::json json = {
        {"training.source_tokens", t.source_tokens},
        {"training.length_multiple", t.length_multiple},
        {"training.target_tokens", t.target_tokens},
        {"training.micro_batch_tokens", t.micro_batch_tokens},
        {"training.max_length", t.max_length},
        {"training.learning_rate_scale", t.learning_rate_scale},
        {"training.warmup_steps", t.warmup_steps},
        {"training.cooldown_steps", t.cooldown_steps},
        {"training.adam_beta1", t.beta1},
        {"training.adam_beta2", t.beta2},
        {"training.adam_epsilon", t.epsilon},
        {"training.clip_norm", t.clip_norm},
        {"training.label_smoothing", t.label_smoothing},
        {"training.smoothing_over", t.smoothing == Smoothing::AllClasses ? "all_classes" : "other_classes"},
        {"training.residual_dropout", t.residual_dropout},
        {"training.embedding_dropout", t.embedding_dropout},
        {"training.attention_dropout", t.attention_dropout},
        {"training.activation_dropout", t.activation_dropout},
        {"training.seed", t.seed},
        {"training.compute", name_of(t.compute)},
    };
    if (t.precision == Precision::F16) {
        json["training.loss_scale_interval"] = t.loss_scale_interval;
        json["training.loss_scale_least"] = t.loss_scale_least;
        json["training.loss_scale_most"] = t.loss_scale_most;
    }
    if (t.cooldown_steps > 0) {
        json["training.steps"] = t.steps;  // decides when the learning rate begins to fall
    }
    if (t.cooldown > 0.0) {
        json["training.cooldown"] = t.cooldown;
        json["training.limits"] = {t.steps, t.epochs, t.tokens, t.minutes};
    }
    const GuardOptions usual;
    const auto unless_usual = [&](const char* key, const auto& value, const auto& fallback) {
        if (value != fallback) {
            json[key] = value;
        }
    };
    unless_usual("training.divergence_returns", t.guard.returns, usual.returns);
    unless_usual("training.divergence_rate_factor", t.guard.rate_factor, usual.rate_factor);
    unless_usual("training.divergence_nll", t.guard.margin, usual.margin);
    unless_usual("training.divergence_steps", t.guard.steps, usual.steps);
    if (t.ema_decay > 0.0) {
        json["training.ema_decay"] = t.ema_decay;
    }
    return json;
}

void check_training_options(const TrainingOptions& t, const std::string& file) {
    if (!t.limits().any()) {
        throw Error(file + ": \"training\" must limit \"steps\", \"epochs\", \"tokens\" or \"minutes\"");
    }
    if (t.find_batch && t.micro_batch_tokens > 0) {
        throw Error(
            fmt::format("{}: \"training.micro_batch_tokens\" ({}) has no use with steps as large as memory holds "
                        "(\"source_tokens\": \"auto\", --batch auto): leave one out",
                        file, t.micro_batch_tokens));
    }
    if (t.cooldown_steps > 0 && t.cooldown > 0.0) {
        throw Error(
            fmt::format("{}: \"training.cooldown_steps\" ({}) and \"training.cooldown\" ({}) exclude each other: "
                        "leave one out",
                        file, t.cooldown_steps, t.cooldown));
    }
    if (t.cooldown_steps > 0 && t.steps < t.cooldown_steps) {
        throw Error(
            fmt::format("{}: \"training.cooldown_steps\" ({}) needs \"training.steps\" of at least that, got {}", file,
                        t.cooldown_steps, t.steps));
    }
    if (!(t.loss_scale_least <= t.loss_scale && t.loss_scale <= t.loss_scale_most)) {
        throw Error(
            fmt::format("{}: \"training.loss_scale\" ({}) must lie between \"training.loss_scale_least\" ({}) and "
                        "\"training.loss_scale_most\" ({})",
                        file, t.loss_scale, t.loss_scale_least, t.loss_scale_most));
    }
    if (t.checkpoint_every == 0 && t.checkpoint_minutes == 0.0) {
        throw Error(file + ": \"training.checkpoint_every\" and \"training.checkpoint_minutes\" are both 0");
    }
    if (t.average_last > t.keep_last) {
        throw Error(fmt::format("{}: \"training.average_last\" ({}) is more than \"training.keep_last\" ({})", file,
                                t.average_last, t.keep_last));
    }
    if (t.patience > 0 && t.validate_every == 0) {
        throw Error(
            fmt::format("{}: \"training.patience\" ({}) counts validations, and \"training.validate_every\" is 0", file,
                        t.patience));
    }
    if (t.validate_bleu > 0 && t.validate_every == 0) {
        throw Error(
            fmt::format("{}: \"training.validate_bleu\" ({}) is measured at validations, and "
                        "\"training.validate_every\" is 0",
                        file, t.validate_bleu));
    }
}

}  // namespace headscope
