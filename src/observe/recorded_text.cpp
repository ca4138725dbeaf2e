#include "observe/recorded_text.h"

#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

// Appends the first `count` pieces as tokens.
void append(std::vector<RecordedToken>& tokens, const ModelConfig& config, const RecordedText& text,
            std::size_t count) {
    HEADSCOPE_CHECK(text.ids.size() == text.pieces.size(), "each id of a recorded text has one piece");
    for (std::size_t i = 0; i < count; ++i) {
        tokens.push_back({text.pieces[i], text.ids[i] == config.unk_id ? TokenKind::Unknown : TokenKind::Piece});
    }
}

// The number of target pieces that the decoder reads: all of its output except the last token, which is the end of
// sentence if it was reached.
std::size_t decoder_input_size(const RecordedText& target) {
    return target.ended || target.ids.empty() ? target.ids.size() : target.ids.size() - 1;
}

}  // namespace

RecordedText encode_text(const Tokenizer& tokenizer, std::string_view text) {
    return {tokenizer.encode(text), tokenizer.encode_pieces(text), true};
}

RecordedText text_of_output(const Tokenizer& tokenizer, const ModelConfig& config, std::vector<std::int32_t> ids) {
    RecordedText text;
    text.ended = !ids.empty() && ids.back() == config.eos_id;
    if (text.ended) {
        ids.pop_back();
    }
    for (const std::int32_t id : ids) {
        text.pieces.push_back(tokenizer.piece(id));
    }
    text.ids = std::move(ids);
    return text;
}

std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token) {
    if (token == config.eos_id) {
        return "<EOS>";
    }
    if (token == config.pad_id) {
        return "<pad>";
    }
    return token == config.bos_id ? "<BOS>" : tokenizer.piece(token);
}

std::vector<std::int32_t> source_ids(const ModelConfig& config, const RecordedText& source) {
    std::vector<std::int32_t> ids = source.ids;
    ids.push_back(config.eos_id);
    return ids;
}

std::vector<std::int32_t> target_in_ids(const ModelConfig& config, const RecordedText& target) {
    std::vector<std::int32_t> ids{config.bos_id};
    ids.insert(ids.end(), target.ids.begin(),
               target.ids.begin() + static_cast<std::ptrdiff_t>(decoder_input_size(target)));
    return ids;
}

std::vector<RecordedToken> source_tokens(const ModelConfig& config, const RecordedText& source, std::int64_t pads) {
    std::vector<RecordedToken> tokens;
    append(tokens, config, source, source.ids.size());
    tokens.push_back({"<EOS>", TokenKind::End});
    tokens.insert(tokens.end(), static_cast<std::size_t>(pads), {"<pad>", TokenKind::Pad});
    return tokens;
}

std::vector<RecordedToken> target_in_tokens(const ModelConfig& config, const RecordedText& target) {
    std::vector<RecordedToken> tokens{{"<BOS>", TokenKind::Begin}};
    append(tokens, config, target, decoder_input_size(target));
    return tokens;
}

std::vector<RecordedToken> target_out_tokens(const ModelConfig& config, const RecordedText& target) {
    std::vector<RecordedToken> tokens;
    append(tokens, config, target, target.ids.size());
    if (target.ended) {
        tokens.push_back({"<EOS>", TokenKind::End});
    }
    return tokens;
}

}  // namespace headscope
