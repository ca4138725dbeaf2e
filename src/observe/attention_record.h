// What one sentence's attention looked like: tokens and weights on the host, with no model or device in sight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/context.h"

namespace headscope {

enum class TokenKind : std::uint8_t { Piece, Unknown, Begin, End, Pad };

struct RecordedToken {
    std::string text;  // a piece as SentencePiece spells it ("\u2581making" begins a word), or "<EOS>"
    TokenKind kind = TokenKind::Piece;
    bool operator==(const RecordedToken&) const = default;
};

// The weights of one attention of the model.
struct SiteWeights {
    AttentionSite site;
    std::int64_t heads = 0;
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::vector<float> values;  // [heads, queries, keys]

    float at(std::int64_t head, std::int64_t query, std::int64_t key) const {
        return values[static_cast<std::size_t>((head * queries + query) * keys + key)];
    }
};

struct AttentionRecord {
    std::vector<RecordedToken> source;      // what the encoder read, with its end and pads
    std::vector<RecordedToken> target_in;   // what the decoder read: begin, y1 .. yn
    std::vector<RecordedToken> target_out;  // what it wrote at the same positions: y1 .. yn, end
    std::vector<SiteWeights> sites;
    int encoder_layers = 0;  // of the model, whatever was recorded
    int decoder_layers = 0;
    // What was computed from weights ("attention rollout"); empty: the weights as the model had them.
    std::string derived = {};
    // What was changed in the model ("head 3 of encoder layer 5 off"), for people; empty: the model as it is.
    std::string edited = {};
};

// "encoder", "decoder", "cross"; Error names these three for anything else.
AttentionKind parse_attention_kind(const std::string& name);
const char* name_of(AttentionKind kind);

// Error when a model has no such layer of this kind, counted from 1.
void check_layer(AttentionKind kind, int layer, int layers);
// `layer` counts from 1. Error when it does not exist or was not recorded.
const SiteWeights& find_site(const AttentionRecord& record, AttentionKind kind, int layer);

// The rows of a figure: what queries and keys of this kind of attention are called. Self-attention has the same tokens
// twice; cross-attention asks for the word that is being written and looks at the source.
const std::vector<RecordedToken>& query_tokens(const AttentionRecord& record, AttentionKind kind);
const std::vector<RecordedToken>& key_tokens(const AttentionRecord& record, AttentionKind kind);

}  // namespace headscope
