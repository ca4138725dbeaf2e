// The attention of one sentence or text: tokens and weights on the host, independent of model and device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autograd/context.h"
#include "model/config.h"

namespace headscope {

enum class TokenKind : std::uint8_t { Piece, Unknown, Begin, End, Pad, Mask };

struct RecordedToken {
    std::string text;  // token_text(): "\u2581making" begins a word, "<EOS>", "[MASK]"
    TokenKind kind = TokenKind::Piece;
    bool begins_word = false;  // of WordPiece's, whose text has no mark at a word's begin, but "##" within words
    std::optional<double> probability = {};  // of a token that the model chose, given those before it
    bool operator==(const RecordedToken&) const = default;
};

// The weights of one attention layer.
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

// The most weights that one pass keeps, 2 GB: the device, the transfer and the record each hold them for a moment.
constexpr std::int64_t kMostWeights = std::int64_t{1} << 29;

// A language model reads one text: a causal one in `target_in`, a masked one in `source`.
struct AttentionRecord {
    std::vector<RecordedToken> source;     // encoder input, with its end and pads
    std::vector<RecordedToken> target_in;  // decoder input: begin, y1 .. yn
    // Decoder output at the same positions: y1 .. yn, end. A causal language model's may be one shorter, if what
    // follows its text is unknown; a masked one's is what fills its masks, if known.
    std::vector<RecordedToken> target_out;
    std::vector<SiteWeights> sites;
    int encoder_layers = 0;  // of the model, also those not recorded
    int decoder_layers = 0;
    std::string derived = {};  // what was computed from the weights ("attention rollout"); empty: the raw weights
    std::string edited = {};   // edits of the model, to display ("Encoder layer 5, head 3: off"); empty: none
    Architecture family{};
};

// "<BOS> and <EOS>", or as a masked language model names the ends of its text: "[CLS] and [SEP]".
std::string ends_of(const AttentionRecord& record);

// Without tokens and weights.
AttentionRecord empty_record(const ModelConfig& config);

// "encoder", "decoder" or "cross"; otherwise Error lists these three.
AttentionKind parse_attention_kind(const std::string& name);
const char* name_of(AttentionKind kind);

// Error if layer (from 1) does not exist; `layers` is 0 if the model has no such attention.
void check_layer(AttentionKind kind, int layer, int layers);
// Error if the layer (from 1) does not exist or was not recorded.
const SiteWeights& find_site(const AttentionRecord& record, AttentionKind kind, int layer);

// The query and key tokens of this kind of attention. In self-attention both are the same; in cross-attention the
// queries are the predicted tokens and the keys the source.
const std::vector<RecordedToken>& query_tokens(const AttentionRecord& record, AttentionKind kind);
const std::vector<RecordedToken>& key_tokens(const AttentionRecord& record, AttentionKind kind);

}  // namespace headscope
