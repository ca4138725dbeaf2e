// Small figures with weights given one by one, and what of a drawing is looked at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "observe/figure.h"
#include "paper_record.h"
#include "support/check.h"

namespace headscope::test {

template <class Shape>
std::vector<std::pair<Primitive, Shape>> all_of(const Drawing& drawing, Role role) {
    std::vector<std::pair<Primitive, Shape>> found;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role == role) {
            found.emplace_back(primitive, std::get<Shape>(primitive.shape));
        }
    }
    return found;
}

inline FigureOptions figure3() {
    FigureOptions options;
    options.layer = 5;
    options.words = {"making"};
    options.rows.show_pads = true;
    return options;
}

// Two queries, three keys, two heads, weights given one by one.
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

inline FigureOptions cross() {
    FigureOptions options;
    options.kind = AttentionKind::Cross;
    return options;
}

inline std::string message_of(const AttentionRecord& record, const FigureOptions& options) {
    try {
        draw_figure(record, options);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace headscope::test
