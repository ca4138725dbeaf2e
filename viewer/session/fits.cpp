#include "viewer/session/fits.h"

#include "model/family.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

std::string no_attention(const Scene& scene) {
    return attentions_of(scene).empty() ? kMixesOtherwise : no_single_pass(scene);
}

std::string no_single_pass(const Scene& scene) {
    const auto& model = scene.main.model;
    return model.has_value() && model->config.generation == Generation::MaskPredict
               ? "This model fills in masks in turns: there is no single pass to look into."
               : "";
}

std::string no_text(const Scene& scene) {
    return reading_of(scene).pictures ? "This model reads pictures, and this is asked of texts."
                                      : no_single_pass(scene);
}

std::string no_words(const Scene& scene) {
    return attentions_of(scene).empty() ? kMixesOtherwise : no_text(scene);
}

std::string no_writing(const Scene& scene) {
    return traits(family_of(scene)).writes_pieces ? no_single_pass(scene)
                                                  : "This model gives pictures classes, and writes no text.";
}

std::string no_lines(const Scene& scene) {
    return shows_patches(scene) ? "Attention over the patches of a picture is drawn on it, without lines."
                                : no_attention(scene);
}

std::string no_causal_mask(const Scene& scene) {
    const std::string why = no_attention(scene);
    if (!why.empty() || !scene.main.model.has_value()) {
        return why;
    }
    const bool causal = shown_kind(scene) == AttentionKind::DecoderSelf;
    const bool products = scene.main.model->config.attention.score != AttentionScore::Additive;
    return !causal     ? "Only a decoder's self-attention has a causal mask."
           : !products ? "The causal mask can be taken off where scores are dot products."
                       : "";
}

std::string no_replies(const Scene& scene) {
    return !scene.main.model.has_value() || traits(family_of(scene)).continues_text
               ? ""
               : "This model does not reply: open a causal language model that was trained to answer.";
}

std::string no_chat(const Scene& scene) {
    const std::string why = no_replies(scene);
    return why.empty() && scene.main.model.has_value() ? scene.main.model->no_chat : why;
}

}  // namespace headscope::viewer
