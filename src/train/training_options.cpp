#include "train/training_options.h"

#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_fields.h"
#include "parallel/shards.h"
#include "support/check.h"

namespace headscope {
namespace {

using Options = TrainingOptions;
constexpr std::int64_t kMany = 1'000'000'000;
constexpr std::int64_t kLongest = 65535;   // dropout counts positions in 16 bits
constexpr double kMostScale = 16777216.0;  // 2^24, far beyond F16

// "auto" is read by parse_auto().
ConfigField<Options> budget_field(const char* key, std::int64_t Options::*member) {
    ConfigField<Options> field = integer_field(key, member, 1, kMany);
    field.read = [read = field.read](ConfigReader& reader, Options& options) {
        if (!options.find_batch) {
            read(reader, options);
        }
    };
    return field;
}

// Part of every run's identity.
const ConfigFields<Options>& deciding_fields() {
    static const ConfigFields<Options> table = {
        budget_field("source_tokens", &Options::source_tokens),
        budget_field("target_tokens", &Options::target_tokens),
        integer_field("length_multiple", &Options::length_multiple, 1, 64),
        integer_field("micro_batch_tokens", &Options::micro_batch_tokens, 0, kMany),
        integer_field("max_length", &Options::max_length, 2, kLongest),
        number_field("learning_rate_scale", &Options::learning_rate_scale, 0.0, 1e6),
        integer_field("warmup_steps", &Options::warmup_steps, 1, kMany),
        integer_field("cooldown_steps", &Options::cooldown_steps, 0, kMany),
        number_field("adam_beta1", &Options::beta1, 0.0, 0.999999),
        number_field("adam_beta2", &Options::beta2, 0.0, 0.999999),
        number_field("adam_epsilon", &Options::epsilon, 1e-20, 1.0),
        number_field("clip_norm", &Options::clip_norm, 0.0, 1e9),
        number_field("label_smoothing", &Options::label_smoothing, 0.0, 0.99),
        choice_field("smoothing_over", &Options::smoothing,
                     {{"all_classes", Smoothing::AllClasses}, {"other_classes", Smoothing::OtherClasses}}),
        number_field("residual_dropout", &Options::residual_dropout, 0.0, 0.99),
        number_field("embedding_dropout", &Options::embedding_dropout, 0.0, 0.99),
        number_field("attention_dropout", &Options::attention_dropout, 0.0, 0.99),
        number_field("activation_dropout", &Options::activation_dropout, 0.0, 0.99),
        integer_field("seed", &Options::seed, 0, INT32_MAX),
    };
    return table;
}

// Part of it unless they have their defaults, since earlier versions lacked them.
const ConfigFields<Options>& later_fields() {
    static const ConfigFields<Options> table = {
        number_field("weight_decay", &Options::weight_decay, 0.0, 1e3),
        integer_field("shards", &Options::shards, 1, kMostShards),
        number_field("expert_balance", &Options::expert_balance, 0.0, 1e3),
        number_field("beta", &Options::beta, 1e-6, 1e3),
        choice_field("label_smoothing_towards", &Options::smoothing_towards,
                     {{"uniform", SmoothingTowards::Uniform}, {"unigram", SmoothingTowards::Unigram}}),
    };
    return table;
}

// Part of it only in F16.
const ConfigFields<Options>& scaling_fields() {
    static const ConfigFields<Options> table = {
        number_field("loss_scale_least", &Options::loss_scale_least, 1e-6, kMostScale),
        number_field("loss_scale_most", &Options::loss_scale_most, 1e-6, kMostScale),
        integer_field("loss_scale_interval", &Options::loss_scale_interval, 0, static_cast<std::int64_t>(kMostScale)),
    };
    return table;
}

const ConfigFields<GuardOptions>& guard_fields() {
    static const ConfigFields<GuardOptions> table = {
        integer_field("divergence_returns", &GuardOptions::returns, 0, 1000),
        number_field("divergence_rate_factor", &GuardOptions::rate_factor, 1e-3, 1.0),
        number_field("divergence_nll", &GuardOptions::margin, 0.0, 1e6),
        integer_field("divergence_steps", &GuardOptions::steps, 1, kMany),
    };
    return table;
}

const ConfigFields<Options>& other_fields() {
    static const ConfigFields<Options> table = {
        integer_field("steps", &Options::steps, 0, kMany),
        number_field("epochs", &Options::epochs, 0.0, 1e6),
        integer_field("tokens", &Options::tokens, 0, 1'000'000'000'000),
        number_field("minutes", &Options::minutes, 0.0, 1e6),
        integer_field("patience", &Options::patience, 0, 100'000),
        number_field("cooldown", &Options::cooldown, 0.0, 1.0),
        number_field("ema_decay", &Options::ema_decay, 0.0, 0.999999),
        choice_field("compute", &Options::compute, {{"f32", Compute::F32}, {"bf16", Compute::BF16}}),
        number_field("loss_scale", &Options::loss_scale, 1e-6, kMostScale),
        boolean_field("split_when_out_of_memory", &Options::split_when_out_of_memory),
        integer_field("report_every", &Options::report_every, 1, 100'000),
        boolean_field("watch_gradients", &Options::watch_gradients),
        integer_field("validate_every", &Options::validate_every, 0, kMany),
        integer_field("validate_bleu", &Options::validate_bleu, 0, kMany),
        integer_field("checkpoint_every", &Options::checkpoint_every, 0, kMany),
        number_field("checkpoint_minutes", &Options::checkpoint_minutes, 0.0, 1e6),
        integer_field("keep_last", &Options::keep_last, 1, 1000),
        boolean_field("keep_powers_of_two", &Options::keep_powers_of_two),
        integer_field("average_last", &Options::average_last, 1, 1000),
        boolean_field("average_always", &Options::average_always),
        choice_field("save", &Options::save, {{"f32", DType::F32}, {"f16", DType::F16}}),
        boolean_field("tensorboard", &Options::tensorboard),
    };
    return table;
}

void parse_auto(ConfigReader& reader, const nlohmann::json& json, Options& options) {
    const auto says_auto = [&](const char* key) { return reader.has(key) && json.at(key) == "auto"; };
    options.find_batch = says_auto("source_tokens");
    if (options.find_batch && reader.has("target_tokens") && !says_auto("target_tokens")) {
        reader.fail("target_tokens", "is found automatically, since \"source_tokens\" is \"auto\": leave it out");
    }
}

void parse_precision(ConfigReader& reader, Options& options) {
    if (reader.has("precision")) {
        if (reader.has("compute")) {
            reader.fail("compute", "has no effect beside \"precision\": leave it out");
        }
        const int chosen =
            reader.choice("precision", 0, {kPrecisionNames.begin(), kPrecisionNames.begin() + kTrainingPrecisions});
        options.precision = static_cast<Precision>(chosen);
    }
}

}  // namespace

TrainingOptions parse_training_options(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "training");
    TrainingOptions options;
    parse_auto(reader, json, options);
    read_fields(deciding_fields(), reader, options);
    read_fields(later_fields(), reader, options);
    read_fields(scaling_fields(), reader, options);
    read_fields(guard_fields(), reader, options.guard);
    read_fields(other_fields(), reader, options);
    parse_precision(reader, options);
    reader.finish();
    return options;
}

nlohmann::json identity_of(const TrainingOptions& t) {
    nlohmann::json json = {{"training.compute", name_of(t.compute)}};
    const auto add = [&](const nlohmann::json& values, const nlohmann::json& usual = {}) {
        for (const auto& [key, value] : values.items()) {
            if (!usual.contains(key) || usual[key] != value) {
                json["training." + key] = value;
            }
        }
    };
    add(write_fields(deciding_fields(), t));
    add(write_fields(later_fields(), t), write_fields(later_fields(), Options{}));
    add(write_fields(guard_fields(), t.guard), write_fields(guard_fields(), GuardOptions{}));
    if (t.precision == Precision::F16) {
        add(write_fields(scaling_fields(), t));
    }
    if (t.cooldown_steps > 0) {
        json["training.steps"] = t.steps;  // decides when the learning rate begins to fall
    }
    if (t.cooldown > 0.0) {
        json["training.cooldown"] = t.cooldown;
        json["training.limits"] = {t.steps, t.epochs, t.tokens, t.minutes};
    }
    if (t.ema_decay > 0.0) {
        json["training.ema_decay"] = t.ema_decay;
    }
    return json;
}

void check_training_options(const TrainingOptions& t, const std::string& file) {
    if (!t.limits().any()) {
        throw Error(file + ": \"training\" must limit \"steps\", \"epochs\", \"tokens\" or \"minutes\"");
    }
    if (!std::has_single_bit(static_cast<std::uint64_t>(t.shards))) {
        throw Error(
            fmt::format("{}: \"training.shards\" ({}) must be a power of two, since gradients are added in "
                        "a balanced tree",
                        file, t.shards));
    }
    if (t.find_batch && t.micro_batch_tokens > 0) {
        throw Error(
            fmt::format("{}: \"training.micro_batch_tokens\" ({}) has no use with steps as large as memory holds "
                        "(\"source_tokens\": \"auto\", --batch auto): leave one out",
                        file, t.micro_batch_tokens));
    }
    if (t.smoothing_towards == SmoothingTowards::Unigram && t.smoothing == Smoothing::OtherClasses) {
        throw Error(file +
                    ": \"training.label_smoothing_towards\" is \"unigram\", the frequencies of all classes: "
                    "\"training.smoothing_over\" must be \"all_classes\"");
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
    if (t.average_always && t.ema_decay > 0.0) {
        throw Error(fmt::format(
            "{}: with \"training.average_always\" the mean of \"training.ema_decay\" ({}) could never become "
            "the model: leave one out",
            file, t.ema_decay));
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
