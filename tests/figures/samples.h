// Sample content: made up, asymmetric, reproducible.
#pragma once

#include <cmath>

#include "explore/exploration.h"
#include "figures/figure.h"
#include "tests/observe/paper_record.h"

namespace headscope::test {

// Cross-attention of 2 layers and 3 heads, 4 target by 7 source tokens, besides the paper's sentence.
inline AttentionRecord cross_record() {
    AttentionRecord record;
    record.encoder_layers = record.decoder_layers = 2;
    record.source = tokens_of("The Law will never be perfect", 0);
    record.target_in = {{"<BOS>", TokenKind::Begin},
                        {"\u2581Das", TokenKind::Piece},
                        {"\u2581Gesetz", TokenKind::Piece},
                        {"\u2581„wird“", TokenKind::Piece}};
    record.target_out = {{"\u2581Das", TokenKind::Piece},
                         {"\u2581Gesetz", TokenKind::Piece},
                         {"\u2581„wird“", TokenKind::Piece},
                         {"<EOS>", TokenKind::End}};
    for (int layer = 0; layer < 2; ++layer) {
        record.sites.push_back(made_up_weights({AttentionKind::EncoderSelf, layer}, 3, record.source, record.source));
        record.sites.push_back(made_up_weights({AttentionKind::Cross, layer}, 3, record.target_out, record.source));
    }
    return record;
}

inline SelectedAttention cross_content() {
    AttentionSelection options;
    options.kind = AttentionKind::Cross;
    options.layer = 2;
    return select_attention(cross_record(), options);
}

// A search with `beam` live hypotheses over `steps` steps: each step adds two children to the first, one to the others.
inline std::vector<BeamNode> beam_sample(int beam, int steps) {
    using Fate = BeamNode::Fate;
    const std::vector<std::string> words{"\u2581Das", "\u2581Gesetz",     "\u2581wird", "\u2581nie",  "\u2581perfekt",
                                         "en",        "\u2581vollkommen", ",",          "\u2581doch", "\u2581seine"};
    std::vector<BeamNode> nodes(1);
    std::vector<int> live{0};
    for (int step = 1; step <= steps; ++step) {
        std::vector<int> next;
        for (std::size_t row = 0; row < live.size() && static_cast<int>(next.size()) < beam; ++row) {
            for (int child = 0; child < (step == 1 ? beam : row < 2 ? 2 : 1); ++child) {
                if (static_cast<int>(next.size()) == beam) {
                    break;
                }
                BeamNode node;
                node.parent = live[row];
                node.step = step;
                node.text = words[static_cast<std::size_t>((step * 3 + child * 5 + static_cast<int>(row)) % 10)];
                node.log_probability = -0.4 * step - 0.3 * static_cast<double>(row) - 0.5 * child;
                node.score = node.log_probability / std::pow((5.0 + step) / 6.0, 0.6);
                next.push_back(static_cast<int>(nodes.size()));
                nodes.push_back(node);
            }
        }
        live = next;
    }
    std::vector<bool> continued(nodes.size());
    for (const BeamNode& node : nodes) {
        if (node.parent >= 0) {
            continued[static_cast<std::size_t>(node.parent)] = true;
        }
    }
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        if (!continued[i]) {
            nodes[i].fate = nodes[i].step < steps            ? Fate::Fell
                            : static_cast<int>(i) == live[0] ? Fate::Finished
                            : static_cast<int>(i) % 3 == 0   ? Fate::Cut
                                                             : Fate::Stopped;
            nodes[i].reason = "a reason";
        }
    }
    for (int node = live.empty() ? 0 : live[0]; node >= 0; node = nodes[static_cast<std::size_t>(node)].parent) {
        nodes[static_cast<std::size_t>(node)].best = true;
    }
    return nodes;
}

inline Exploration exploration_sample() {
    Exploration exploration;
    exploration.record = cross_record();
    const std::vector<std::vector<std::string>> others{
        {"\u2581Die", "\u2581Das", "\u2581Der"},
        {"\u2581Gesetz", "\u2581Recht"},
        {"\u2581„wird“", "\u2581ist"},
        {"<EOS>", "\u2581Donaudampfschifffahrtsgesellschaftskapitän", "."}};
    for (std::size_t step = 0; step < 4; ++step) {
        ExploredStep one;
        double left = 1.0;
        for (std::size_t i = 0; i < others[step].size(); ++i) {
            const double share = left * (step == 1 ? 0.97 : 0.55);
            left -= share;
            one.candidates.push_back({static_cast<std::int32_t>(10 * step + i), others[step][i], std::log(share)});
        }
        const std::size_t written = step == 0 ? 1 : 0;
        one.token = one.candidates[written].token;
        one.log_probability = one.candidates[written].log_probability;
        one.rank = static_cast<std::int64_t>(written) + 1;
        exploration.steps.push_back(one);
    }
    return exploration;
}

inline NeuronView neuron_sample(std::int64_t queries, std::int64_t keys, std::int64_t d_k) {
    NeuronView view{.site = {AttentionKind::Cross, 1}, .head = 2, .queries = queries, .keys = keys, .d_k = d_k};
    view.pads = keys > 2 ? 2 : 0;
    view.scale = 1.0F / std::sqrt(static_cast<float>(d_k));
    for (std::int64_t i = 0; i < queries * d_k; ++i) {
        view.q.push_back(2.0F * std::sin(static_cast<float>(i) * 0.7F));
    }
    for (std::int64_t i = 0; i < keys * d_k; ++i) {
        view.k.push_back(1.5F * std::cos(static_cast<float>(i) * 1.3F));
    }
    return view;
}

inline Importance importance_sample() {
    Importance importance;
    for (const auto& [kind, layers] :
         {std::pair(AttentionKind::EncoderSelf, 6), {AttentionKind::DecoderSelf, 3}, {AttentionKind::Cross, 3}}) {
        for (int layer = 0; layer < layers; ++layer) {
            for (int head = 1; head <= 8; ++head) {
                const double loss = std::sin(layer * 3.0 + head * 1.7) * (kind == AttentionKind::Cross ? 2.0 : 0.4);
                importance.heads.push_back({{kind, layer}, head, -9.0 - loss, loss});
            }
        }
    }
    importance.total = static_cast<std::int64_t>(importance.heads.size());
    importance.finished = true;
    return importance;
}

}  // namespace headscope::test
