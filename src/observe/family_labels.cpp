#include "observe/family_labels.h"

#include <fmt/format.h>

#include "observe/attention_record.h"
#include "support/check.h"

namespace headscope {

const KindTraits& traits(Architecture family, AttentionKind kind) {
    for (const KindTraits& each : traits(family).kinds) {
        if (each.kind == kind) {
            return each;
        }
    }
    throw Error(fmt::format("the model has no {} attention", name_of(kind)));
}

std::string layer_label(Architecture family, const AttentionSite& site) {
    const bool several = traits(family).kinds.size() > 1;
    return fmt::format("{}{}layer {}", several ? name_of(site.kind) : "", several ? " " : "", site.layer + 1);
}

int layers_of(const ModelConfig& config, AttentionKind kind) {
    const int layers = kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    return attends(config, kind) ? layers : 0;
}

std::vector<AttentionKind> kinds_of(const ModelConfig& config) {
    std::vector<AttentionKind> kinds;
    for (const KindTraits& each : traits(config.architecture).kinds) {
        if (layers_of(config, each.kind) > 0) {
            kinds.push_back(each.kind);
        }
    }
    return kinds;
}

AttentionKind usual_kind(const ModelConfig& config) {
    const std::vector<AttentionKind> kinds = kinds_of(config);
    return kinds.empty() ? traits(config.architecture).kinds.front().kind : kinds.front();
}

int heads_of(const ModelConfig& config, AttentionKind kind) {
    return static_cast<int>(of_stack(config, kind).attention.heads);
}

int heads_in_group(const ModelConfig& config, AttentionKind kind) {
    const AttentionConfig& attention = of_stack(config, kind).attention;
    return static_cast<int>(attention.heads / attention.groups());
}

}  // namespace headscope
