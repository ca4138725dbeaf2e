#include "train/train_config.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "data/batch.h"
#include "io/config_reader.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr std::int64_t kMany = 1'000'000'000;

std::vector<std::string> resolve(std::vector<std::string> paths, const std::string& base) {
    for (std::string& path : paths) {
        path = (std::filesystem::path(base) / path).lexically_normal().string();
    }
    return paths;
}

CorpusFiles parse_corpus(const nlohmann::json& json, const std::string& file, const std::string& key,
                         const std::string& base) {
    ConfigReader reader(json, file, key);
    CorpusFiles corpus;
    corpus.source = resolve(reader.strings("source"), base);
    corpus.target = resolve(reader.strings("target"), base);
    corpus.tsv = resolve(reader.strings("tsv"), base);
    reader.finish();
    if (corpus.source.size() != corpus.target.size()) {
        reader.fail("target", fmt::format("must name as many files as \"source\" ({}), found {}", corpus.source.size(),
                                          corpus.target.size()));
    }
    if (corpus.tsv.empty() == corpus.source.empty()) {
        throw Error(fmt::format("{}: \"{}\" must have either \"tsv\" or \"source\" and \"target\"", file, key));
    }
    return corpus;
}

TokenizerOptions parse_tokenizer(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "tokenizer");
    TokenizerOptions options;
    options.unigram = reader.choice("type", 0, {"bpe", "unigram"}) == 1;
    options.vocabulary = reader.integer("vocabulary", options.vocabulary, 8, 1'000'000);
    options.shared = reader.boolean("shared", options.shared);
    reader.finish();
    return options;
}

void parse_steps(ConfigReader& reader, TrainingOptions& options) {
    options.steps = reader.integer("steps", 0, 0, kMany);
    options.epochs = reader.number("epochs", 0.0, 0.0, 1e6);
    options.minutes = reader.number("minutes", 0.0, 0.0, 1e6);
    options.source_tokens = reader.integer("source_tokens", options.source_tokens, 1, kMany);
    options.length_multiple = reader.integer("length_multiple", options.length_multiple, 1, 64);
    options.target_tokens = reader.integer("target_tokens", options.target_tokens, 1, kMany);
    options.micro_batch_tokens = reader.integer("micro_batch_tokens", 0, 0, kMany);
    options.split_when_out_of_memory = reader.boolean("split_when_out_of_memory", options.split_when_out_of_memory);
    options.max_length = reader.integer("max_length", options.max_length, 2, 100'000);
    options.report_every = reader.integer("report_every", options.report_every, 1, 100'000);
    options.watch_gradients = reader.boolean("watch_gradients", options.watch_gradients);
    options.validate_every = reader.integer("validate_every", options.validate_every, 0, kMany);
    options.checkpoint_every = reader.integer("checkpoint_every", options.checkpoint_every, 0, kMany);
    options.checkpoint_minutes = reader.number("checkpoint_minutes", options.checkpoint_minutes, 0.0, 1e6);
    options.keep_last = reader.integer("keep_last", options.keep_last, 1, 1000);
    options.average_last = reader.integer("average_last", options.average_last, 1, 1000);
}

void parse_precision(ConfigReader& reader, TrainingOptions& options) {
    options.compute = reader.choice("compute", 0, {"f32", "bf16"}) == 0 ? Compute::F32 : Compute::BF16;
    if (reader.has("precision")) {
        if (reader.has("compute")) {
            reader.fail("compute", "says less than \"precision\", which is there too: leave it out");
        }
        const int chosen = reader.choice("precision", 0, {kPrecisionNames.begin(), kPrecisionNames.end()});
        options.precision = static_cast<Precision>(chosen);
    }
    constexpr double kMost = 16777216.0;  // 2^24, far past what F16 can hold
    options.loss_scale_least = reader.number("loss_scale_least", options.loss_scale_least, 1e-6, kMost);
    options.loss_scale_most = reader.number("loss_scale_most", options.loss_scale_most, 1e-6, kMost);
    options.loss_scale = reader.number("loss_scale", options.loss_scale, 1e-6, kMost);
    options.loss_scale_interval =
        reader.integer("loss_scale_interval", options.loss_scale_interval, 0, static_cast<std::int64_t>(kMost));
}

void parse_optimisation(ConfigReader& reader, TrainingOptions& options) {
    options.learning_rate_scale = reader.number("learning_rate_scale", options.learning_rate_scale, 0.0, 1e6);
    options.warmup_steps = reader.integer("warmup_steps", options.warmup_steps, 1, kMany);
    options.cooldown_steps = reader.integer("cooldown_steps", 0, 0, kMany);
    options.beta1 = reader.number("adam_beta1", options.beta1, 0.0, 0.999999);
    options.beta2 = reader.number("adam_beta2", options.beta2, 0.0, 0.999999);
    options.epsilon = reader.number("adam_epsilon", options.epsilon, 1e-20, 1.0);
    options.clip_norm = reader.number("clip_norm", 0.0, 0.0, 1e9);
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

ModelConfig TrainConfig::model_config(std::int64_t source_vocabulary, std::int64_t target_vocabulary) const {
    nlohmann::json json = to_json(ModelConfig{});
    json.update(model);
    json["source_vocabulary"] = source_vocabulary;
    json["target_vocabulary"] = target_vocabulary;
    ModelConfig parsed = parse_model_config(json, file);
    // Where the file does not say otherwise: d_k = d_v = d_model / h, as in the paper's 3.2.2.
    if (parsed.heads > 0 && parsed.d_model % parsed.heads != 0 && !(model.contains("d_k") && model.contains("d_v"))) {
        throw Error(
            fmt::format("{}: \"model.d_model\" ({}) is no multiple of \"model.heads\" ({}): change one, or give "
                        "\"d_k\" and \"d_v\"",
                        file, parsed.d_model, parsed.heads));
    }
    if (parsed.heads > 0 && !model.contains("d_k")) {
        parsed.d_k = parsed.d_model / parsed.heads;
    }
    if (parsed.heads > 0 && !model.contains("d_v")) {
        parsed.d_v = parsed.d_model / parsed.heads;
    }
    check_model_config(parsed, file);
    return parsed;
}

Schedule TrainConfig::schedule(const ModelConfig& of) const {
    return {of.d_model, training.warmup_steps, training.learning_rate_scale, training.cooldown_steps, training.steps};
}

nlohmann::json TrainConfig::identity() const {
    const TrainingOptions& t = training;
    nlohmann::json json = {
        {"model", model},
        {"tokenizer.type", tokenizer.unigram ? "unigram" : "bpe"},
        {"tokenizer.vocabulary", tokenizer.vocabulary},
        {"tokenizer.shared", tokenizer.shared},
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
        json["training.steps"] = t.steps;  // decides when the rate begins to fall
    }
    return json;
}

TrainConfig parse_train_config(const nlohmann::json& json, const std::string& file, const std::string& data_directory) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    const std::string& base = data_directory.empty() ? folder : data_directory;
    ConfigReader reader(json, file, "");
    TrainConfig config;
    config.file = file;
    config.model = reader.child("model");
    for (const char* key : {"source_vocabulary", "target_vocabulary"}) {
        if (config.model.is_object() && config.model.contains(key)) {
            reader.fail(std::string("model.") + key, "comes from the tokenizer: leave it out");
        }
    }
    if (!config.model.is_object()) {
        reader.fail("model", "must be an object {...}, found " + config.model.dump());
    }
    ConfigReader data(reader.child("data"), file, "data");
    config.train = parse_corpus(data.child("train"), file, "data.train", base);
    if (data.has("valid")) {
        config.valid = parse_corpus(data.child("valid"), file, "data.valid", base);
    }
    data.finish();
    config.tokenizer = parse_tokenizer(reader.child("tokenizer"), file);
    ConfigReader training(reader.child("training"), file, "training");
    parse_steps(training, config.training);
    parse_optimisation(training, config.training);
    training.finish();
    reader.finish();
    // Complain about an impossible model now, not after the tokenizer's training.
    static_cast<void>(config.model_config(config.tokenizer.vocabulary, config.tokenizer.vocabulary));
    return config;
}

TrainConfig read_train_config(const std::string& file, const std::string& data_directory) {
    if (std::filesystem::is_directory(file)) {
        throw Error(
            fmt::format("'{}' is a directory, expected a training configuration, such as those in "
                        "assets/configs",
                        file));
    }
    errno = 0;
    std::ifstream stream(file);
    if (!stream) {
        throw Error(fmt::format("cannot read the training configuration '{}': {}", file,
                                std::generic_category().message(errno)));
    }
    return parse_train_config(parse_json(stream, file), file, data_directory);
}

namespace {

// A pair that is short enough for the configuration has to fit a step, its parts and the model.
void check_lengths(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const std::int64_t padded = padded_length(t.max_length, t.length_multiple);
    const auto check = [&](const char* key, std::int64_t tokens) {
        if (tokens < padded) {
            throw Error(
                fmt::format("{}: \"{}\" ({}) has no room for one sentence of \"training.max_length\" ({}, "
                            "padded to {}): raise the one or lower the other",
                            config.file, key, tokens, t.max_length, padded));
        }
    };
    check("training.source_tokens", t.source_tokens);
    check("training.target_tokens", t.target_tokens);
    if (t.micro_batch_tokens > 0) {
        check("training.micro_batch_tokens", t.micro_batch_tokens);
    }
    const std::int64_t pieces = config.tokenizer.vocabulary;
    const std::int64_t longest = config.model_config(pieces, pieces).max_length;
    if (t.max_length > longest) {
        throw Error(
            fmt::format("{}: \"training.max_length\" ({}) is more than \"model.max_length\" ({}): raise the "
                        "one or lower the other",
                        config.file, t.max_length, longest));
    }
}

}  // namespace

Arithmetic arithmetic_of(const TrainConfig& config, const Backend& backend) {
    const TrainingOptions& t = config.training;
    if (t.precision) {
        return arithmetic_for(
            backend, *t.precision,
            fmt::format("{}: \"training.precision\" (--precision) {}", config.file, name_of(*t.precision)));
    }
    const Support support = backend.products(t.compute);
    if (support.level != SupportLevel::Native) {
        throw Error(
            fmt::format("{}: \"training.compute\": {} has no fast {} products ({}): say \"f32\", or choose another "
                        "--device",
                        config.file, backend.device().id, name_of(t.compute), support.reason));
    }
    return {.compute = t.compute};
}

void check_train_config(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    check_lengths(config);
    if (t.steps == 0 && t.epochs == 0.0 && t.minutes == 0.0) {
        throw Error(config.file + ": \"training\" must limit \"steps\", \"epochs\" or \"minutes\"");
    }
    if (t.cooldown_steps > 0 && t.steps < t.cooldown_steps) {
        throw Error(
            fmt::format("{}: \"training.cooldown_steps\" ({}) needs \"training.steps\" of at least that, found "
                        "{}",
                        config.file, t.cooldown_steps, t.steps));
    }
    if (!(t.loss_scale_least <= t.loss_scale && t.loss_scale <= t.loss_scale_most)) {
        throw Error(
            fmt::format("{}: \"training.loss_scale\" ({}) must lie between \"training.loss_scale_least\" ({}) and "
                        "\"training.loss_scale_most\" ({})",
                        config.file, t.loss_scale, t.loss_scale_least, t.loss_scale_most));
    }
    if (t.checkpoint_every == 0 && t.checkpoint_minutes == 0.0) {
        throw Error(config.file + ": \"training.checkpoint_every\" and \"training.checkpoint_minutes\" are both 0");
    }
    if (t.average_last > t.keep_last) {
        throw Error(fmt::format("{}: \"training.average_last\" ({}) is more than \"training.keep_last\" ({})",
                                config.file, t.average_last, t.keep_last));
    }
    if (config.tokenizer.shared) {
        return;
    }
    if (config.model.value("tying", "all") == "all") {
        throw Error(config.file + ": \"model.tying\" \"all\" needs \"tokenizer.shared\" true");
    }
}

}  // namespace headscope
