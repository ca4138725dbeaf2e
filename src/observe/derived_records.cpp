#include "observe/derived_records.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr AttentionKind kKinds[] = {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross};

void check_same_tokens(const std::vector<RecordedToken>& first, const std::vector<RecordedToken>& second,
                       const std::string& row) {
    if (first == second) {
        return;
    }
    const auto [one, other] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
    const auto text = [](auto at, const std::vector<RecordedToken>& tokens) {
        return at == tokens.end() ? std::string("no token") : "\"" + at->text + "\"";
    };
    throw Error(fmt::format(
        "a difference needs the same tokens on both sides, but token {} of the {} is {} in one and {} in the other: "
        "use the same texts and models with the same vocabulary",
        one - first.begin() + 1, row, text(one, first), text(other, second)));
}

}  // namespace

AttentionRecord mean_of_heads(const AttentionRecord& record) {
    AttentionRecord result = record;
    result.derived = "mean of heads";
    for (SiteWeights& weights : result.sites) {
        const auto size = static_cast<std::size_t>(weights.queries * weights.keys);
        std::vector<float> means(size);
        for (std::size_t i = 0; i < size; ++i) {
            double sum = 0.0;
            for (std::size_t at = i; at < weights.values.size(); at += size) {
                sum += static_cast<double>(weights.values[at]);
            }
            means[i] = static_cast<float>(sum / static_cast<double>(weights.heads));
        }
        weights.values = std::move(means);
        weights.heads = 1;
    }
    return result;
}

AttentionRecord mean_of_layers(const AttentionRecord& record) {
    AttentionRecord result = record;
    result.sites.clear();
    result.encoder_layers = std::min(1, record.encoder_layers);
    result.decoder_layers = std::min(1, record.decoder_layers);
    result.derived = "mean of layers";
    for (const AttentionKind kind : kKinds) {
        std::vector<const SiteWeights*> layers;
        for (const SiteWeights& weights : record.sites) {
            if (weights.site.kind == kind) {
                layers.push_back(&weights);
            }
        }
        if (layers.empty()) {
            continue;
        }
        SiteWeights mean = *layers.front();
        mean.site.layer = 0;
        for (std::size_t i = 0; i < mean.values.size(); ++i) {
            double sum = 0.0;
            for (const SiteWeights* layer : layers) {
                HEADSCOPE_CHECK(layer->values.size() == mean.values.size(), "layers of one kind have one shape");
                sum += static_cast<double>(layer->values[i]);
            }
            mean.values[i] = static_cast<float>(sum / static_cast<double>(layers.size()));
        }
        result.sites.push_back(std::move(mean));
    }
    return result;
}

AttentionRecord difference(const AttentionRecord& first, const AttentionRecord& second) {
    const bool translates = traits(first.family).reads_source;
    check_same_tokens(first.source, second.source, translates ? "source" : "text");
    check_same_tokens(first.target_in, second.target_in, translates ? "decoder's input" : "text");
    check_same_tokens(first.target_out, second.target_out, translates ? "translation" : "continuation");
    const auto shape = [](const AttentionRecord& record) {
        std::vector<std::string> sites;
        for (const SiteWeights& weights : record.sites) {
            sites.push_back(fmt::format("{} layer {}: {} heads", name_of(weights.site.kind), weights.site.layer + 1,
                                        weights.heads));
        }
        return sites;
    };
    const std::vector<std::string> one = shape(first);
    const std::vector<std::string> other = shape(second);
    const auto [here, there] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    if (here != one.end() || there != other.end()) {
        throw Error(fmt::format("a difference needs the same layers and heads on both sides: one has {}, the other {}",
                                here == one.end() ? "no more" : *here, there == other.end() ? "no more" : *there));
    }
    AttentionRecord result = first;
    result.derived = "difference";
    if (first.edited != second.edited) {
        const auto edits_of = [](const AttentionRecord& record) {
            return record.edited.empty() ? "nothing" : record.edited;
        };
        result.edited = fmt::format("{}; in what is subtracted: {}", edits_of(first), edits_of(second));
    }
    for (std::size_t site = 0; site < result.sites.size(); ++site) {
        std::vector<float>& values = result.sites[site].values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] -= second.sites[site].values[i];
        }
    }
    return result;
}

}  // namespace headscope
