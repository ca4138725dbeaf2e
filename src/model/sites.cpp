#include "model/sites.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/mixer.h"
#include "support/check.h"
#include "support/edit_distance.h"

namespace headscope {

namespace {

void add_attention(std::vector<std::string>& sites, const std::string& part) {
    for (const char* name : {".q", ".k", ".v", ".weights", ".z"}) {
        sites.push_back(part + name);
    }
}

void add_layer(std::vector<std::string>& sites, const ModelConfig& config, AttentionKind self, bool cross,
               const std::string& layer) {
    const std::string mixer = layer + "." + mixer_part(mixer_of(config, self));
    sites.push_back(layer + ".residual_in");
    if (attends(config, self)) {
        add_attention(sites, mixer);
    }
    sites.push_back(mixer + ".out");
    if (config.norm.parallel == ParallelLayers::None) {
        sites.push_back(layer + ".residual_mid");
    }
    if (cross) {
        add_attention(sites, layer + ".cross_attention");
        sites.insert(sites.end(), {layer + ".cross_attention.out", layer + ".residual_cross"});
    }
    if (config.feed_forward.experts.count == 0) {
        sites.push_back(layer + ".feed_forward.hidden");
    }
    sites.insert(sites.end(), {layer + ".feed_forward.out", layer + ".residual_out"});
}

void add_stack(std::vector<std::string>& sites, const ModelConfig& model, AttentionKind self, int layers) {
    const ModelConfig config = of_stack(model, self);
    const bool decodes = self == AttentionKind::DecoderSelf;
    const std::string stack = decodes ? "decoder" : "encoder";
    sites.insert(sites.end(), {stack + ".embedding.tokens", stack + ".embedding"});
    // Without cross-attention the encoder ends with the mixer of its last layer, whose states it hands over.
    const bool ends_early = !decodes && has_decoder(model) && !model.attention.cross;
    for (int i = 0; i < layers; ++i) {
        const std::string layer = stack + "." + std::to_string(i);
        if (ends_early && i + 1 == layers) {
            sites.push_back(layer + ".residual_in");
            return;
        }
        add_layer(sites, config, self, decodes && has_encoder(model) && model.attention.cross, layer);
    }
    sites.push_back(stack + ".norm");
}

// Whether the pattern stands for the name.
bool matches(std::string_view pattern, std::string_view name) {
    while (!pattern.empty() && pattern.front() != '*') {
        if (name.empty() || name.front() != pattern.front()) {
            return false;
        }
        pattern.remove_prefix(1);
        name.remove_prefix(1);
    }
    if (pattern.empty()) {
        return name.empty();
    }
    pattern.remove_prefix(1);
    for (;; name.remove_prefix(1)) {
        if (matches(pattern, name)) {
            return true;
        }
        if (name.empty() || name.front() == '.') {
            return false;
        }
    }
}

}  // namespace

std::vector<std::string> sites_of(const ModelConfig& config) {
    std::vector<std::string> sites;
    if (has_encoder(config)) {
        add_stack(sites, config, AttentionKind::EncoderSelf, config.encoder_layers);
    }
    if (has_decoder(config)) {
        add_stack(sites, config, AttentionKind::DecoderSelf, config.decoder_layers);
    }
    sites.push_back("logits");
    return sites;
}

std::vector<std::string> matching_sites(const ModelConfig& config, const std::string& pattern) {
    const std::vector<std::string> all = sites_of(config);
    std::vector<std::string> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const std::string& name) { return matches(pattern, name); });
    if (found.empty()) {
        const std::string close = nearest(pattern, all);
        throw Error("this model has no site \"" + pattern + "\": " +
                    (close.empty() ? "expected a name such as \"" + all[2] + "\" or \"" + all.back() +
                                         "\", in which * stands for anything between two dots"
                                   : "did you mean \"" + close + "\"?"));
    }
    return found;
}

}  // namespace headscope
