// Small figures with explicit weights.
#pragma once

#include <string>
#include <vector>

#include "figures/figure.h"
#include "layout_checks.h"
#include "support/check.h"
#include "tests/observe/paper_record.h"

namespace headscope::test {

inline AttentionSelection figure3() {
    AttentionSelection options;
    options.layer = 5;
    options.words = {"making"};
    options.rows.show_pads = true;
    return options;
}

// Two queries, three keys, two heads, explicit weights.
inline AttentionRecord small_record(std::vector<float> weights) {
    AttentionRecord record;
    record.encoder_layers = 1;
    record.decoder_layers = 1;
    record.source = {{"\u2581a", TokenKind::Piece}, {"\u2581b", TokenKind::Piece}, {"<EOS>", TokenKind::End}};
    record.target_in = {{"<BOS>", TokenKind::Begin}, {"\u2581x", TokenKind::Piece}};
    record.target_out = {{"\u2581x", TokenKind::Piece}, {"<EOS>", TokenKind::End}};
    record.sites.push_back({{AttentionKind::Cross, 0}, 2, 2, 3, std::move(weights)});
    return record;
}

inline AttentionSelection cross() {
    AttentionSelection options;
    options.kind = AttentionKind::Cross;
    return options;
}

inline Drawing draw_figure(const AttentionRecord& record, const AttentionSelection& selection,
                           const FigureOptions& options = {}) {
    return headscope::draw_figure(select_attention(record, selection), options);
}

inline std::string message_of(const AttentionRecord& record, const AttentionSelection& selection) {
    try {
        select_attention(record, selection);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace headscope::test
