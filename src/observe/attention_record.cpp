#include "observe/attention_record.h"

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"

namespace headscope {

std::string ends_of(const AttentionRecord& record) {
    const bool named = traits(record.family).fills_masks && !record.source.empty();
    return named ? record.source.front().text + " and " + record.source.back().text : "<BOS> and <EOS>";
}

AttentionRecord empty_record(const ModelConfig& config) {
    AttentionRecord record;
    record.family = config.architecture;
    record.encoder_layers = config.encoder_layers;
    record.decoder_layers = config.decoder_layers;
    return record;
}

AttentionKind parse_attention_kind(const std::string& name) {
    for (const AttentionKind kind : {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross}) {
        if (name == name_of(kind)) {
            return kind;
        }
    }
    throw Error("unknown kind of attention '" + name + "'; must be encoder, decoder or cross");
}

const char* name_of(AttentionKind kind) {
    switch (kind) {
        case AttentionKind::EncoderSelf: return "encoder";
        case AttentionKind::DecoderSelf: return "decoder";
        case AttentionKind::Cross: return "cross";
    }
    return "unknown";
}

void check_layer(AttentionKind kind, int layer, int layers) {
    if (layers == 0) {
        throw Error(fmt::format("the model has no {} attention", name_of(kind)));
    }
    if (layer < 1 || layer > layers) {
        throw Error(
            fmt::format("layer of {} attention must be between 1 and {}, got {}", name_of(kind), layers, layer));
    }
}

const SiteWeights& find_site(const AttentionRecord& record, AttentionKind kind, int layer) {
    const bool crosses = kind != AttentionKind::Cross || traits(record.family).reads_source;
    const int layers = kind == AttentionKind::EncoderSelf ? record.encoder_layers : record.decoder_layers;
    check_layer(kind, layer, crosses ? layers : 0);
    for (const SiteWeights& weights : record.sites) {
        if (weights.site == AttentionSite{kind, layer - 1}) {
            return weights;
        }
    }
    throw Error(fmt::format("layer {} of {} attention was not recorded", layer, name_of(kind)));
}

const std::vector<RecordedToken>& query_tokens(const AttentionRecord& record, AttentionKind kind) {
    switch (kind) {
        case AttentionKind::EncoderSelf: return record.source;
        case AttentionKind::DecoderSelf: return record.target_in;
        case AttentionKind::Cross: return record.target_out;
    }
    return record.source;
}

const std::vector<RecordedToken>& key_tokens(const AttentionRecord& record, AttentionKind kind) {
    return kind == AttentionKind::DecoderSelf ? record.target_in : record.source;
}

}  // namespace headscope
