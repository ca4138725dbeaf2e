// A model of every family and of every way to mix tokens: what the panels and the window have to show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/train/digits_run.h"
#include "tests/viewer/language_model.h"
#include "tests/viewer/multilingual_model.h"
#include "tests/viewer/parser_model.h"
#include "viewer/session/state.h"

namespace headscope::viewer {

struct ShownModel {
    std::string name;
    std::string path;
    std::string text;
    bool attends = true;
};

inline ViewState state_of(const ShownModel& model, PanelId panel = PanelId::Figure) {
    return {.text = model.text, .target_language = model.name == "multilingual" ? "deu" : "", .panel = panel};
}

// A training of two checkpoints whose encoder and decoder mix tokens like this.
inline std::string write_training(const TemporaryFolder& folder, const std::string& name, const std::string& mixer,
                                  bool cross_attention) {
    const TemporaryFolder data;
    nlohmann::json settings = write_digits(data);
    settings["model"]["encoder_mixer"] = settings["model"]["decoder_mixer"] = mixer;
    settings["model"]["cross_attention"] = cross_attention;
    settings["training"]["steps"] = 4;
    settings["training"]["validate_every"] = settings["training"]["checkpoint_every"] = 2;
    DigitsRun run(data, settings, "out");
    run.start().train();
    std::filesystem::copy(data.file("out"), folder.file(name), std::filesystem::copy_options::recursive);
    return folder.file(name);
}

inline std::vector<ShownModel> write_families(const TemporaryFolder& folder) {
    constexpr auto kPair = Architecture::EncoderDecoder;
    constexpr auto kCausal = Architecture::CausalLm;
    constexpr auto kMasked = Architecture::MaskedLm;
    std::vector<ShownModel> models;
    const auto add = [&](const std::string& name, Architecture family, bool attends,
                         const std::function<void(ModelConfig&)>& change) {
        const std::string text = family == kMasked ? "the small [MASK] sleeps on the mat" : "the small dog sees";
        models.push_back({name, write_language_model(folder, name, family, 3, change), text, attends});
    };
    const auto mixers = [](MixerKind encoder, MixerKind decoder, bool crosses) {
        return [=](ModelConfig& config) {
            config.mixer.encoder = config.encoder_layers > 0 ? encoder : MixerKind::SelfAttention;
            config.mixer.decoder = config.decoder_layers > 0 ? decoder : MixerKind::SelfAttention;
            config.attention.cross = crosses;
            const bool restricted = encoder == MixerKind::Restricted || decoder == MixerKind::Restricted;
            config.mixer.window = restricted ? 3 : 0;
        };
    };
    const auto lstm = MixerKind::Lstm;
    const auto attention = MixerKind::SelfAttention;
    add("translation", kPair, true, {});
    add("causal", kCausal, true, {});
    add("masked", kMasked, true, {});
    add("causal-lstm", kCausal, false, mixers(attention, lstm, true));
    add("causal-gru", kCausal, false, mixers(attention, MixerKind::Gru, true));
    add("causal-convolution", kCausal, false, mixers(attention, MixerKind::Convolution, true));
    add("masked-convolution", kMasked, false, mixers(MixerKind::Convolution, attention, true));
    add("lstm-cross", kPair, true, mixers(lstm, lstm, true));
    add("lstm-no-attention", kPair, false, mixers(lstm, lstm, false));
    add("attention-convolution", kPair, true, mixers(attention, MixerKind::Convolution, true));
    add("convolution-attention", kPair, true, mixers(MixerKind::Convolution, attention, true));
    add("restricted", kPair, true, mixers(MixerKind::Restricted, MixerKind::Restricted, true));
    add("experts", kPair, true, [](ModelConfig& config) { config.feed_forward.experts.count = 4; });
    add("adaptive", kCausal, true, [](ModelConfig& config) {
        config.output.adaptive.cutoffs = {20};
        config.output.adaptive.factor = 2;
    });
    add("mask-predict", kPair, true, [](ModelConfig& config) { config.generation = Generation::MaskPredict; });
    models.push_back({"multilingual", write_multilingual_model(folder), "the small dog", true});
    models.push_back({"talker", write_chat_model(folder, "talker"), "the small dog", true});
    models.push_back({"parser", write_parser(folder), kParsed, true});
    models.push_back({"captioner", write_captioner(folder, "captioner"), some_picture(), true});
    models.push_back({"classifier", picture_classifier(), some_picture(), true});
    return models;
}

}  // namespace headscope::viewer
