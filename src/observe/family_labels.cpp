#include "observe/family_labels.h"

#include <fmt/format.h>

#include "observe/attention_record.h"
#include "support/check.h"

namespace headscope {

const FamilyLabels& labels_of(Architecture family) {
    static const FamilyLabels kTranslation{
        "Source",
        "Target",
        "source sentence",
        "translation",
        {{AttentionKind::EncoderSelf, "Encoder", "the source looks at itself", "Input-Input"},
         {AttentionKind::DecoderSelf, "Decoder", "the translation looks at itself", "Output-Output"},
         {AttentionKind::Cross, "Cross", "the translation looks at the source", "Output-Input"}}};
    static const FamilyLabels kCausal{
        "Prompt",
        "Continuation",
        "prompt",
        "continuation",
        {{AttentionKind::DecoderSelf, "Self-attention", "each token looks at those before it", "Self-Attention"}}};
    static const FamilyLabels kMasked{
        "Text",
        "Fills",
        "text",
        "filled-in text",
        {{AttentionKind::EncoderSelf, "Self-attention", "the text looks at itself", "Self-Attention"}}};
    switch (family) {
        case Architecture::EncoderDecoder: return kTranslation;
        case Architecture::CausalLm: return kCausal;
        case Architecture::MaskedLm: return kMasked;
    }
    check_failed(__FILE__, __LINE__, "family", "every family has labels");
}

const KindLabels& labels_of(Architecture family, AttentionKind kind) {
    for (const KindLabels& labels : labels_of(family).kinds) {
        if (labels.kind == kind) {
            return labels;
        }
    }
    throw Error(fmt::format("the model has no {} attention", name_of(kind)));
}

std::string layer_label(Architecture family, const AttentionSite& site) {
    const bool several = labels_of(family).kinds.size() > 1;
    return fmt::format("{}{}layer {}", several ? name_of(site.kind) : "", several ? " " : "", site.layer + 1);
}

int layers_of(const ModelConfig& config, AttentionKind kind) {
    const int layers = kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    return attends(config, kind) ? layers : 0;
}

std::vector<AttentionKind> kinds_of(const ModelConfig& config) {
    std::vector<AttentionKind> kinds;
    for (const KindLabels& labels : labels_of(config.architecture).kinds) {
        if (layers_of(config, labels.kind) > 0) {
            kinds.push_back(labels.kind);
        }
    }
    return kinds;
}

AttentionKind usual_kind(const ModelConfig& config) {
    const std::vector<AttentionKind> kinds = kinds_of(config);
    return kinds.empty() ? labels_of(config.architecture).kinds.front().kind : kinds.front();
}

int heads_of(const ModelConfig& config, AttentionKind kind) {
    return static_cast<int>(of_stack(config, kind).heads);
}

}  // namespace headscope
