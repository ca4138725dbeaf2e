#include "train/default_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/corruption.h"
#include "train/risk_options.h"

namespace headscope {
namespace {

struct Size {
    std::int64_t pairs;  // at most
    int encoder_layers, decoder_layers;
    std::int64_t d_model, d_ff;
    int heads;
    std::int64_t vocabulary, tokens;  // pieces; tokens per side in a step
    double dropout;
    int epochs;
    double peak_rate;  // learning rate at the end of the warm-up
};

// The last one has the sizes of the paper's base model (Table 3) and its batch, but pre-norm like the others.
constexpr std::array kSizes = {
    Size{20'000, 3, 3, 128, 512, 4, 2000, 1000, 0.3, 60, 2e-3},
    Size{100'000, 4, 2, 192, 768, 6, 4000, 2000, 0.2, 40, 1.5e-3},
    Size{500'000, 6, 3, 256, 1024, 8, 8000, 4000, 0.2, 24, 1.2e-3},
    Size{2'000'000, 6, 6, 512, 2048, 8, 16000, 12000, 0.1, 12, 8e-4},
    Size{INT64_MAX, 6, 6, 512, 2048, 8, 32000, 25000, 0.1, 8, 7e-4},
};

constexpr std::int64_t kMaxLength = 128;         // pieces; longer pairs are left out
constexpr std::int64_t kBlock = 256;             // pieces that a language model sees at once
constexpr std::int64_t kLongestResponse = 1024;  // pieces with its prompt
constexpr int kEpochsOfResponses = 3;
constexpr int kEpochsOfSamples = 1;
constexpr std::int64_t kPiecesOfAPair = 20;  // per side, roughly, to estimate the number of steps

// Every character is a piece, and byte-pair encoding finds no more pieces than there are words.
std::int64_t vocabulary_for(std::int64_t characters, std::int64_t words, std::int64_t wished) {
    constexpr std::int64_t kSpecial = 8;
    const std::int64_t least = characters + kSpecial;
    const std::int64_t most = std::max(least, characters + words / 2);
    return std::clamp(std::max(wished, 2 * characters), least, most);
}

// For products as small as the first size's, rounding the operands costs more than it saves.
bool rounds_operands(const Size& size, const Backend& device) {
    return size.d_model > kSizes.front().d_model && device.device().trains_faster_in_bf16;
}

double rounded(double value) {
    return std::round(value * 100.0) / 100.0;
}

const Size& size_for(std::int64_t pairs) {
    return *std::find_if(kSizes.begin(), kSizes.end(), [&](const Size& s) { return pairs <= s.pairs; });
}

// What does not depend on the task. `tokens`: of an epoch, on one side.
nlohmann::json shared_config(const Size& size, std::int64_t tokens, std::int64_t vocabulary, std::int64_t max_length,
                             const Backend& device) {
    const std::int64_t budget = std::max(size.tokens, max_length);
    const std::int64_t epoch = std::max<std::int64_t>(tokens / budget, 1);  // steps
    const std::int64_t warmup = std::clamp<std::int64_t>(epoch * size.epochs / 10, 50, 4000);
    const std::int64_t often = std::clamp<std::int64_t>(epoch / 2, 100, 2000);
    const double scale =
        rounded(size.peak_rate * std::sqrt(static_cast<double>(size.d_model) * static_cast<double>(warmup)));
    return {{"model",
             {{"d_model", size.d_model},
              {"attention", {{"heads", size.heads}}},
              {"feed_forward", {{"d_ff", size.d_ff}}},
              {"norm", {{"placement", "pre"}}}}},
            {"tokenizer", {{"type", "bpe"}, {"vocabulary", vocabulary}, {"shared", true}}},
            {"training",
             {{"epochs", size.epochs},
              {"patience", 10},
              {"cooldown", 0.25},
              {"source_tokens", budget},
              {"target_tokens", budget},
              {"length_multiple", 2},
              {"max_length", max_length},
              {"learning_rate_scale", scale},
              {"warmup_steps", warmup},
              {"ema_decay", 0.999},
              {"label_smoothing", 0.1},
              {"residual_dropout", size.dropout},
              {"embedding_dropout", size.dropout},
              {"compute", rounds_operands(size, device) ? "bf16" : "f32"},
              {"validate_every", often},
              {"checkpoint_every", often},
              {"checkpoint_minutes", 0},
              {"keep_last", 3},
              {"keep_powers_of_two", size.pairs == kSizes.front().pairs},
              {"average_last", 3},
              {"save", "f16"}}}};
}

}  // namespace

nlohmann::json default_config(const TextParts& text, Task task, const Backend& device) {
    const Size& size = size_for(text.train);
    nlohmann::json json =
        shared_config(size, text.train * kPiecesOfAPair, vocabulary_for(text.characters, text.words, size.vocabulary),
                      kMaxLength, device);
    json["model"].update(
        {{"encoder_layers", size.encoder_layers}, {"decoder_layers", size.decoder_layers}, {"max_length", 512}});
    json["data"] = {{"train", {{"source", text.train_source}, {"target", text.train_target}}},
                    {"valid", {{"source", text.valid_source}, {"target", text.valid_target}}}};
    if (traits(task).scores_samples) {  // it goes on with a model, and its loss does not tell which one is best
        json["task"] = name_of(task);
        const std::int64_t tokens = RiskOptions().texts() * json.at("training").at("source_tokens").get<std::int64_t>();
        json["training"].update({{"epochs", kEpochsOfSamples},
                                 {"patience", 0},
                                 {"cooldown", 0.0},
                                 {"source_tokens", tokens},
                                 {"target_tokens", tokens},
                                 {"label_smoothing", 0.0},
                                 {"residual_dropout", 0.0},
                                 {"embedding_dropout", 0.0},
                                 {"ema_decay", 0.0},
                                 {"average_always", true}});
    }
    return json;
}

nlohmann::json default_config(const DocumentParts& text, Task task, const Backend& device) {
    constexpr std::int64_t kBytesOfAPiece = 4;  // roughly
    const std::int64_t pieces = text.train_bytes / kBytesOfAPiece + text.train;
    const bool goes_on = traits(task).reads_replies;  // with a model
    Size size = size_for(pieces / (2 * kPiecesOfAPair));
    if (goes_on) {
        size.epochs = kEpochsOfResponses;
        size.dropout = 0.0;
    }
    const std::int64_t longest = goes_on ? kLongestResponse : kBlock;
    const std::int64_t vocabulary =
        vocabulary_for(text.characters, text.words, size.vocabulary) +
        static_cast<std::int64_t>(control_pieces_of(task, kBlock - 1, traits(task).reads_labels).size());
    nlohmann::json json = shared_config(size, pieces, vocabulary, longest, device);
    json["task"] = name_of(task);
    nlohmann::json& model = json["model"];
    model["max_length"] = longest;
    if (traits(task).has_source) {
        model.update({{"encoder_layers", size.encoder_layers}, {"decoder_layers", size.decoder_layers}});
    } else {  // as many layers in one stack
        model[traits(task).predicts_next ? "decoder_layers" : "encoder_layers"] =
            size.encoder_layers + size.decoder_layers;
    }
    json["training"]["label_smoothing"] = 0.0;
    json["data"] = {{"train", {{"text", text.train_file}}},
                    {"valid", {{"text", text.valid_file}}},
                    {"documents", name_of(text.form)}};
    if (goes_on || traits(task).reads_labels) {
        json["data"].erase("documents");
    }
    if (traits(task).reads_labels) {
        model["output"] = {{"head", text.labels.empty() ? "scalar" : text.lists ? "labels" : "classes"}};
        if (!text.labels.empty()) {
            model["output"]["labels"] = text.labels;
        }
        model["embedding"] = {{"token_types", 2}};
    }
    if (traits(task).rolls_out) {  // its texts have no loss to validate
        json["data"].erase("valid");
        json["training"].update(
            {{"patience", 0}, {"validate_every", 0}, {"average_last", 1}, {"ema_decay", 0.0}, {"divergence_nll", 0.0}});
    }
    return json;
}

std::string describe(const nlohmann::json& config) {
    const nlohmann::json& model = config.at("model");
    const nlohmann::json& training = config.at("training");
    const auto layers_of = [&](const char* stack) { return model.value(fmt::format("{}_layers", stack), 0); };
    const int encoder = layers_of("encoder");
    const int decoder = layers_of("decoder");
    const std::string layers = encoder > 0 && decoder > 0 ? fmt::format("{} encoder and {} decoder", encoder, decoder)
                                                          : std::to_string(encoder + decoder);
    return fmt::format(
        "{} layers of d_model {}, {} pieces, steps of {} tokens, dropout {}, at most {} epochs{}{}", layers,
        model.at("d_model").dump(), config.at("tokenizer").at("vocabulary").dump(), training.at("source_tokens").dump(),
        training.at("residual_dropout").dump(), training.at("epochs").dump(),
        training.at("patience") == 0
            ? ""
            : fmt::format(", fewer if {} validations in a row bring no improvement", training.at("patience").dump()),
        training.at("compute") == "bf16" ? "; products in BF16, which this CPU supports (--precision f32: in F32)"
                                         : "");
}

}  // namespace headscope
