// Whether the parts of a training configuration fit each other.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/batch.h"
#include "data/corruption.h"
#include "model/frame_of_config.h"
#include "support/check.h"
#include "train/train_config.h"

namespace headscope {
namespace {

constexpr std::int64_t kShortestBlock = 8;  // of a language model

// A pair of the maximum length must fit in a step, in its parts and in the model.
void check_lengths(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const std::int64_t padded = padded_length(t.max_length, t.length_multiple);
    const auto check = [&](const char* key, std::int64_t tokens) {
        if (tokens < padded) {
            throw Error(
                fmt::format("{}: \"{}\" ({}) has no room for one sentence of \"training.max_length\" ({}, "
                            "padded to {}): raise it or lower \"training.max_length\"",
                            config.file, key, tokens, t.max_length, padded));
        }
    };
    check("training.source_tokens", t.source_tokens);
    check("training.target_tokens", t.target_tokens);
    if (t.micro_batch_tokens > 0) {
        check("training.micro_batch_tokens", t.micro_batch_tokens);
    }
    const std::int64_t longest =
        config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary).max_length;
    if (t.max_length > longest) {
        throw Error(
            fmt::format("{}: \"training.max_length\" ({}) exceeds \"model.max_length\" ({}): lower the "
                        "first or raise the second",
                        config.file, t.max_length, longest));
    }
}

void check_text_task(const TrainConfig& config) {
    const char* name = name_of(config.task);
    if (config.training.validate_bleu > 0) {
        throw Error(
            fmt::format("{}: \"training.validate_bleu\" ({}) translates held-out pairs, but the \"task\" \"{}\" "
                        "has none: leave it out",
                        config.file, config.training.validate_bleu, name));
    }
    if (!config.tokenizer.shared) {
        throw Error(fmt::format("{}: \"tokenizer.shared\" must be true for the \"task\" \"{}\", which has one text",
                                config.file, name));
    }
    if (config.training.max_length < kShortestBlock) {
        throw Error(fmt::format("{}: \"training.max_length\" must be at least {} for the \"task\" \"{}\", got {}",
                                config.file, kShortestBlock, name, config.training.max_length));
    }
}

// A comparison has two classes, one of which is right: the better response.
void check_smoothing_of_comparisons(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) {
        throw Error(fmt::format("{}: {} for the \"task\" \"{}\", which compares two responses", config.file, problem,
                                name_of(config.task)));
    };
    if (t.label_smoothing >= 0.5) {
        fail(fmt::format("\"training.label_smoothing\" must be less than 0.5, got {},", t.label_smoothing));
    }
    if (t.smoothing != TrainingOptions{}.smoothing) {
        fail("\"training.smoothing_over\" must be left out");
    }
    if (t.smoothing_towards != TrainingOptions{}.smoothing_towards) {
        fail("\"training.label_smoothing_towards\" must be left out");
    }
}

void check_rollouts(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) { throw Error(fmt::format("{}: {}", config.file, problem)); };
    if (!config.data.valid.empty()) {
        fail("\"data.valid\" holds prompts, which have no loss to validate: leave it out");
    }
    if (t.label_smoothing != 0.0) {
        fail(fmt::format("\"training.label_smoothing\" must be 0 for rollouts, got {}", t.label_smoothing));
    }
    if (t.precision == Precision::F16) {
        fail(
            "\"training.precision\" (--precision) \"f16\" is not for rollouts, whose weights of tokens have no loss "
            "scale: use \"bf16\" or \"f32\"");
    }
    for (const CorpusFiles& corpus : config.data.train) {
        if (corpus.weight != 1.0) {
            fail(fmt::format("\"weight\" of a corpus must be 1 for rollouts, which take each prompt as often, got {}",
                             corpus.weight));
        }
    }
    if (t.find_batch) {
        fail(
            "\"training.source_tokens\" cannot be \"auto\" for rollouts, a step of which is one of "
            "\"rollouts.minibatches\"");
    }
    if (config.rollouts.max_tokens >= t.max_length) {
        fail(fmt::format("\"rollouts.max_tokens\" ({}) leaves no room for a prompt in \"training.max_length\" ({})",
                         config.rollouts.max_tokens, t.max_length));
    }
}

void check_without_dropout(const TrainConfig& config, const char* why) {
    const TrainingOptions& t = config.training;
    for (const auto& [key, rate] : {std::pair{"residual_dropout", t.residual_dropout},
                                    {"embedding_dropout", t.embedding_dropout},
                                    {"attention_dropout", t.attention_dropout},
                                    {"activation_dropout", t.activation_dropout}}) {
        if (rate > 0.0) {
            throw Error(fmt::format("{}: \"training.{}\" must be 0 for the \"task\" \"{}\", {}, got {}", config.file,
                                    key, name_of(config.task), why, rate));
        }
    }
}

// Samples are weighed by their scores alone, and the loss says nothing about these.
void check_sampling_task(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) {
        throw Error(fmt::format("{}: {} for the \"task\" \"{}\"", config.file, problem, name_of(config.task)));
    };
    check_without_dropout(config, "which samples without it");
    if (t.label_smoothing != 0.0) {
        fail(fmt::format("\"training.label_smoothing\" must be 0, got {},", t.label_smoothing));
    }
    if (t.precision == Precision::F16) {
        fail("\"training.precision\" (--precision) must be \"f32\", \"tf32\" or \"bf16\", whose losses need no scale,");
    }
    if (t.find_batch) {
        fail("\"training.source_tokens\" cannot be \"auto\"");
    }
    if (config.model.value("output.temperature", 1.0) != 1.0) {
        fail("\"model.output.temperature\" must be left out, since samples are drawn at temperature 1,");
    }
    if (t.patience > 0) {
        fail(fmt::format("\"training.patience\" ({}) must be 0, since the loss says nothing about the score,",
                         t.patience));
    }
    if (!config.data.valid.empty() && !t.average_always) {
        fail(
            "\"training.average_always\" must be true, since the model of the lowest loss is not that of the highest "
            "score,");
    }
    if (config.model.value("generation", "") == "mask_predict") {
        fail("\"model.generation\" must not be \"mask_predict\", of which there are no samples,");
    }
    const std::int64_t needed = config.texts_of_a_pair() * padded_length(t.max_length, t.length_multiple);
    if (const std::int64_t least = std::min(t.source_tokens, t.target_tokens); least < needed) {
        fail(fmt::format(
            "\"training.source_tokens\" and \"target_tokens\" ({}) must have room for the {} texts of a pair, "
            "{} tokens,",
            least, config.texts_of_a_pair(), needed));
    }
}

void check_responses_task(const TrainConfig& config) {
    const char* name = name_of(config.task);
    const auto fail = [&](const std::string& problem) { throw Error(fmt::format("{}: {}", config.file, problem)); };
    if (traits(config.task).gives_scores && config.model.value("output.head", "vocabulary") != "scalar") {
        fail(fmt::format("\"model.output.head\" must be \"scalar\" for the \"task\" \"{}\"", name));
    }
    if (traits(config.task).gives_scores && config.model.value("output.scored", "last") != "last") {
        fail(fmt::format(
            "\"model.output.scored\" must be \"last\" for the \"task\" \"{}\", which scores the last piece", name));
    }
    if (!traits(config.task).gives_scores && config.model.value("output.head", "vocabulary") != "vocabulary") {
        fail(fmt::format(
            "\"model.output.head\" must be \"vocabulary\" for the \"task\" \"{}\": go on with a model that is "
            "no reward model",
            name));
    }
    if (traits(config.task).compares) {
        check_smoothing_of_comparisons(config);
    }
    if (traits(config.task).rolls_out) {
        check_rollouts(config);
    }
    if (!traits(config.task).has_reference) {
        return;
    }
    check_without_dropout(config, "whose probabilities are compared with those of a reference model");
    if (!config.model.value("output.adaptive.cutoffs", nlohmann::json::array()).empty()) {
        fail(fmt::format("the \"task\" \"{}\" needs a model with one softmax, without \"output.adaptive\"", name));
    }
}

void check_labels_task(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) { throw Error(fmt::format("{}: {}", config.file, problem)); };
    const std::string head = config.model.value("output.head", "vocabulary");
    if (head != "classes" && head != "labels" && head != "scalar") {
        fail(
            fmt::format("\"model.output.head\" must be \"classes\", for lists of classes \"labels\" or, for numbers, "
                        "\"scalar\" for the \"task\" \"{}\", found \"{}\"",
                        name_of(config.task), head));
    }
    if (t.smoothing_towards != TrainingOptions{}.smoothing_towards) {
        fail("\"training.label_smoothing_towards\" must be left out: classes are no pieces of a vocabulary");
    }
    if (head == "scalar" && t.label_smoothing != 0.0) {
        fail(fmt::format("\"training.label_smoothing\" must be 0 for numbers, got {}", t.label_smoothing));
    }
    if (head == "scalar" && t.precision == Precision::F16) {
        fail(
            "\"training.precision\" (--precision) \"f16\" is not for numbers, whose losses have no scale: use \"bf16\" "
            "or \"f32\"");
    }
    const std::string family = config.model.value("architecture", traits(config.task).family);
    if (family == "causal-lm" && config.model.value("output.scored", "last") == "first") {
        fail(
            "\"model.output.scored\" must be \"last\" or \"mean\" for a \"causal-lm\", whose first piece sees no "
            "other");
    }
}

// What pictures as sources, of which a model has or has not captions, exclude.
void check_pictures(const TrainConfig& config) {
    const std::optional<PatchGrid> pictures =
        patches_of(config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary));
    if (!pictures) {
        return;
    }
    const auto fail = [&](const std::string& problem) { throw Error(fmt::format("{}: {}", config.file, problem)); };
    if (config.training.max_length < pictures->positions()) {
        fail(fmt::format("\"training.max_length\" must be at least {}, the positions of a picture, got {}",
                         pictures->positions(), config.training.max_length));
    }
    if (!traits(config.task).reads_labels && !traits(config.task).reads_pairs) {
        fail(fmt::format("the \"task\" \"{}\" has no pictures: \"model.input.kind\" must be \"text\"",
                         name_of(config.task)));
    }
    if (traits(config.task).reads_pairs && config.tokenizer.shared) {
        fail("\"tokenizer.shared\" must be false: pictures and captions have no pieces in common");
    }
    if (config.data.joined_share > 0.0 || config.data.bpe_dropout > 0.0 || config.data.word_dropout > 0.0) {
        fail(
            "\"data.join\", \"data.bpe_dropout\" and \"data.word_dropout\" must be left out: pictures are not joined, "
            "and have no pieces to drop");
    }
}

}  // namespace

void check_train_config(const TrainConfig& config) {
    check_lengths(config);
    check_pictures(config);
    check_training_options(config.training, config.file);
    if (!traits(config.task).reads_pairs) {
        check_text_task(config);
    }
    if (traits(config.task).reads_replies) {
        check_responses_task(config);
    }
    if (traits(config.task).reads_labels) {
        check_labels_task(config);
    }
    if (traits(config.task).scores_samples) {
        check_sampling_task(config);
    }
    if (config.training.beta != TrainingOptions{}.beta &&
        !(traits(config.task).compares && traits(config.task).has_reference)) {
        throw Error(
            fmt::format("{}: \"training.beta\" ({}) weighs the distance from a reference model in comparisons, which "
                        "the \"task\" \"{}\" does not make: leave it out",
                        config.file, config.training.beta, name_of(config.task)));
    }
    if (config.training.smoothing_towards == SmoothingTowards::Unigram &&
        !config.model.value("output.adaptive.cutoffs", nlohmann::json::array()).empty()) {
        throw Error(config.file +
                    ": \"training.label_smoothing_towards\" must be \"uniform\" with "
                    "\"model.output.adaptive\", each softmax of which is smoothed over its own classes");
    }
    if (config.training.expert_balance != TrainingOptions{}.expert_balance &&
        config.model.value("feed_forward.experts.count", 0) == 0) {
        throw Error(
            fmt::format("{}: \"training.expert_balance\" ({}) balances experts: it needs "
                        "\"model.feed_forward.experts.count\", or leave it out",
                        config.file, config.training.expert_balance));
    }
    if (config.training.validate_bleu > 0 && config.data.valid.empty()) {
        throw Error(
            fmt::format("{}: \"training.validate_bleu\" ({}) needs held-out pairs: name a validation text in "
                        "\"data.valid\", or leave it out",
                        config.file, config.training.validate_bleu));
    }
    if (config.tokenizer.shared) {
        return;
    }
    if (config.model.value("embedding.tying", "all") == "all") {
        throw Error(config.file + ": \"model.embedding.tying\" \"all\" needs \"tokenizer.shared\" true");
    }
}

}  // namespace headscope
