// A record with the tokens of the paper's Figures 3 and 4 and made-up sharp and diffuse heads, to test layouts without
// a model.
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "observe/attention_record.h"

namespace headscope::test {

inline const char* const kFigure3 =
    "It is in this spirit that a majority of American governments have passed new laws since 2009 making the "
    "registration or voting process more difficult .";
inline const char* const kFigure4 =
    "The Law will never be perfect , but its application should be just - this is what we are missing , in my "
    "opinion .";

// One piece per word, then the end and the pads.
inline std::vector<RecordedToken> tokens_of(const std::string& sentence, int pads) {
    std::vector<RecordedToken> tokens;
    std::istringstream words(sentence);
    for (std::string word; words >> word;) {
        tokens.push_back({"\u2581" + word, TokenKind::Piece});
    }
    tokens.push_back({"<EOS>", TokenKind::End});
    for (int i = 0; i < pads; ++i) {
        tokens.push_back({"<pad>", TokenKind::Pad});
    }
    return tokens;
}

// Each row is a softmax: head h prefers keys at its own distance, more sharply for a smaller h. Pads get exactly 0.
inline SiteWeights made_up_weights(const AttentionSite& site, std::int64_t heads,
                                   const std::vector<RecordedToken>& queries, const std::vector<RecordedToken>& keys) {
    SiteWeights weights{
        site, heads, static_cast<std::int64_t>(queries.size()), static_cast<std::int64_t>(keys.size()), {}};
    for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t q = 0; q < weights.queries; ++q) {
            std::vector<double> row;
            double sum = 0.0;
            for (std::int64_t k = 0; k < weights.keys; ++k) {
                const double distance = static_cast<double>(k - q) - static_cast<double>(h) * 2.0 + 5.0;
                const double ripple = std::sin(static_cast<double>(3 * k + 7 * h));
                const bool pad = keys[static_cast<std::size_t>(k)].kind == TokenKind::Pad;
                row.push_back(
                    pad ? 0.0 : std::exp((ripple - 0.3 * distance * distance) / (1.0 + 0.4 * static_cast<double>(h))));
                sum += row.back();
            }
            for (const double value : row) {
                weights.values.push_back(static_cast<float>(value / sum));
            }
        }
    }
    return weights;
}

inline AttentionRecord paper_record(const std::string& sentence = kFigure3, int pads = 6) {
    AttentionRecord record;
    record.source = tokens_of(sentence, pads);
    record.encoder_layers = 6;
    record.decoder_layers = 6;
    record.sites.push_back(made_up_weights({AttentionKind::EncoderSelf, 4}, 8, record.source, record.source));
    return record;
}

}  // namespace headscope::test
