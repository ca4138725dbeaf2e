#include "observe/recorded_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "infer/framed_line.h"
#include "infer/gap_filler.h"
#include "infer/masked_text.h"
#include "model/family.h"
#include "model/model_chat.h"
#include "observe/words.h"
#include "support/check.h"
#include "text/added_token.h"

namespace headscope {

namespace {

// Bytes are shown as text.
std::string shown_piece(const Tokenizer& tokenizer, const std::string& piece) {
    if (tokenizer.type() != TokenizerType::ByteBpe) {
        return piece;
    }
    const std::string text = tokenizer.readable(piece);
    // A line break is a word of its own.
    std::string shown(text.starts_with('\n') ? kWordStart : "");
    for (const char byte : text) {
        if (byte == ' ') {
            shown += kWordStart;
        } else if (byte == '\n') {
            shown += kLineBreak;
        } else if (static_cast<unsigned char>(byte) < 0x20U) {
            shown += fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
        } else {
            shown += byte;
        }
    }
    return shown;
}

// Of WordPiece, and of whole words.
bool marks_continuations(const Tokenizer& tokenizer) {
    return tokenizer.type() == TokenizerType::WordPiece || tokenizer.type() == TokenizerType::Words;
}

std::string special_name(const Tokenizer& tokenizer, std::int32_t id, const char* usual) {
    const std::string& own = tokenizer.piece(id);
    return own.starts_with('[') ? own : usual;
}

GivenTokens given_tokens(const Tokenizer& tokenizer, const ModelConfig& config, std::vector<std::int32_t> ids) {
    GivenTokens given{std::move(ids), {}};
    for (const std::int32_t id : given.ids) {
        given.pieces.push_back(token_text(tokenizer, config, id));
    }
    return given;
}

void append(std::vector<RecordedToken>& tokens, const GivenTokens& given, TokenKind kind) {
    for (const std::string& piece : given.pieces) {
        tokens.push_back({piece, kind});
    }
}

// Appends the first `count` pieces as tokens.
void append(std::vector<RecordedToken>& tokens, const ModelConfig& config, const RecordedText& text,
            std::size_t count) {
    HEADSCOPE_CHECK(text.ids.size() == text.pieces.size(), "each id of a recorded text has one piece");
    for (std::size_t i = 0; i < count; ++i) {
        const bool masked = text.ids[i] == config.frame.mask_id || is_sentinel(text.pieces[i]);
        const TokenKind kind = text.ids[i] == config.frame.unk_id   ? TokenKind::Unknown
                               : masked                             ? TokenKind::Mask
                               : text.ids[i] == config.frame.eos_id ? TokenKind::End
                                                                    : TokenKind::Piece;
        const bool begins = text.word_pieces && !text.pieces[i].starts_with(kContinues);
        tokens.push_back({text.pieces[i], kind, begins && kind != TokenKind::End});
    }
}

// "[class]", then "1,1", "1,2" and so on: row and column of each patch.
std::vector<RecordedToken> patch_tokens(const PatchGrid& grid) {
    std::vector<RecordedToken> tokens;
    if (grid.class_token) {
        tokens.push_back({"[class]", TokenKind::Begin, true});
    }
    for (std::int64_t patch = 0; patch < grid.shape.patches(); ++patch) {
        tokens.push_back({fmt::format("{},{}", patch / grid.shape.side() + 1, patch % grid.shape.side() + 1),
                          TokenKind::Piece, true});
    }
    return tokens;
}

void check_length(const RecordedText& text, const ModelConfig& config) {
    const std::int64_t length = std::ssize(text.ids) + 1 - first_predicted(config);
    if (length > config.max_length) {
        throw Error(
            fmt::format("the text has {} tokens including its beginning, but the model takes at most {}: shorten it",
                        length, config.max_length));
    }
}

// The number of target tokens that the decoder reads, without its start: all of its output except the last token, which
// is the end of sentence if it was reached. A language model also reads the last one, if that fits.
std::size_t decoder_input_size(const ModelConfig& config, const RecordedText& target) {
    if (!traits(config.architecture).reads_source) {
        return std::min(target.ids.size(), static_cast<std::size_t>(config.max_length - 1 + first_predicted(config)));
    }
    const std::size_t all = target.before.ids.size() + target.ids.size();
    return target.ended || all == 0 ? all : all - 1;
}

}  // namespace

RecordedText encode_text(const Tokenizer& tokenizer, std::string_view text) {
    RecordedText encoded{.ids = tokenizer.encode(text),
                         .pieces = tokenizer.encode_pieces(text),
                         .word_pieces = marks_continuations(tokenizer)};
    for (std::string& piece : encoded.pieces) {
        piece = shown_piece(tokenizer, piece);
    }
    return encoded;
}

RecordedText encode_source(const ModelDirectory& model, const Languages& languages, std::string_view text) {
    const FramedLine line = frame_line(model, languages, text);
    const Tokenizer& tokenizer = *model.source_tokenizer;
    if (model.config.input.patches()) {  // whose pieces are pixels, which nothing shows
        RecordedText picture;
        picture.ids = tokenizer.encode(line.text);
        return picture;
    }
    const bool has_gaps = line.text.find(kMaskText) != std::string_view::npos && fills_gaps(model);
    RecordedText source =
        encode_text(tokenizer, has_gaps ? find_gaps(model, line.text, kMaskText).source : std::string(line.text));
    source.before = given_tokens(tokenizer, model.config, line.frame.source_begin);
    source.after = given_tokens(tokenizer, model.config, line.frame.source_end);
    return source;
}

RecordedText encode_target(const ModelDirectory& model, const Frame& frame, std::string_view text) {
    RecordedText target = encode_text(*model.target_tokenizer, text);
    target.before = given_tokens(*model.target_tokenizer, model.config, frame.target_begin);
    return target;
}

RecordedText encode_language_text(const ModelDirectory& model, std::string_view text) {
    const ModelConfig& config = model.config;
    RecordedText encoded;
    if (traits(config.architecture).fills_masks) {
        const std::vector<std::int32_t> ids = encode_masked(model, text, kMaskText).ids;
        const Tokenizer& tokenizer = *model.target_tokenizer;
        encoded.ids.assign(ids.begin() + 1, ids.end() - 1);
        for (const std::int32_t id : encoded.ids) {
            encoded.pieces.push_back(token_text(tokenizer, config, id));
        }
        encoded.word_pieces = marks_continuations(tokenizer);
        encoded.begin = token_text(tokenizer, config, config.frame.bos_id);
        encoded.end = token_text(tokenizer, config, config.frame.eos_id);
    } else {
        encoded = encode_text(*model.target_tokenizer, text);
        check_length(encoded, config);
    }
    encoded.ended = false;
    return encoded;
}

RecordedText encode_message(const ModelDirectory& model, std::string_view text, std::vector<ChatMessage> earlier) {
    const ModelConfig& config = model.config;
    const ChatEncoder encoder = chat_encoder(model);
    RecordedText encoded;
    earlier.push_back({ChatRole::User, std::string(text)});
    encoded.ids = encoder.encode(earlier, ChatEnd::Reply).ids;
    encoded.word_pieces = marks_continuations(*model.target_tokenizer);
    encoded.ended = false;
    if (first_predicted(config) == 0) {  // the model's start is before every recorded text
        if (encoded.ids.front() != config.frame.bos_id) {
            throw Error(
                fmt::format("{}: the chat template {} does not begin with the piece with which the model's "
                            "texts begin: its heads are not recorded",
                            model.path, encoder.chat().name));
        }
        encoded.ids.erase(encoded.ids.begin());
    }
    for (const std::int32_t id : encoded.ids) {
        encoded.pieces.push_back(shown_piece(*model.target_tokenizer, model.target_tokenizer->piece(id)));
    }
    check_length(encoded, config);
    return encoded;
}

std::vector<std::int32_t> encode_reply(const ModelDirectory& model, std::string_view text, std::string_view reply,
                                       std::vector<ChatMessage> earlier) {
    const ChatEncoder encoder = chat_encoder(model);
    earlier.push_back({ChatRole::User, std::string(text)});
    const std::size_t before = encoder.encode(earlier, ChatEnd::Reply).ids.size();
    earlier.push_back({ChatRole::Assistant, std::string(reply)});
    const ChatIds all = encoder.encode(earlier, ChatEnd::Closed);
    std::vector<std::int32_t> ids;
    for (std::size_t i = before; i < all.ids.size() && all.replied[i]; ++i) {
        ids.push_back(all.ids[i]);
    }
    if (!ids.empty() && std::ranges::find(encoder.ends(), ids.back()) != encoder.ends().end()) {
        ids.pop_back();
    }
    return ids;
}

RecordedText text_of_output(const Tokenizer& tokenizer, const ModelConfig& config, std::span<const std::int32_t> ids,
                            std::size_t given) {
    RecordedText text;
    const std::span<const std::int32_t> first = ids.first(std::min(given, ids.size()));
    std::vector<std::int32_t> begin(first.begin(), first.end());
    ids = ids.subspan(begin.size());
    text.ended = !ids.empty() && ids.back() == config.frame.eos_id;
    text.ids.assign(ids.begin(), ids.end() - (text.ended ? 1 : 0));
    for (const std::int32_t id : text.ids) {
        text.pieces.push_back(shown_piece(tokenizer, tokenizer.piece(id)));
    }
    text.word_pieces = marks_continuations(tokenizer);
    text.before = given_tokens(tokenizer, config, std::move(begin));
    return text;
}

RecordedText with_continuation(const Tokenizer& tokenizer, const ModelConfig& config, const RecordedText& prompt,
                               const std::vector<std::int32_t>& ids) {
    RecordedText text = prompt;
    const RecordedText more = text_of_output(tokenizer, config, ids);
    text.ids.insert(text.ids.end(), more.ids.begin(), more.ids.end());
    text.pieces.insert(text.pieces.end(), more.pieces.begin(), more.pieces.end());
    text.ended = more.ended;
    if (static_cast<std::int64_t>(prompt.ids.size() + ids.size()) > config.max_length) {
        throw Error(
            fmt::format("the prompt and its continuation have {} tokens, but the model takes at most {}: shorten "
                        "one of them",
                        prompt.ids.size() + ids.size(), config.max_length));
    }
    return text;
}

std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token) {
    if (token == config.frame.eos_id) {
        return special_name(tokenizer, token, "<EOS>");
    }
    if (token == config.frame.pad_id) {
        return special_name(tokenizer, token, "<pad>");
    }
    if (token == config.frame.mask_id) {
        return kMaskText;
    }
    return token == config.frame.bos_id ? special_name(tokenizer, token, "<BOS>")
                                        : shown_piece(tokenizer, tokenizer.piece(token));
}

std::ptrdiff_t first_predicted(const ModelConfig& config) {
    return traits(config.architecture).continues_text && config.frame.bos_id < 0 ? 1 : 0;
}

std::vector<std::int32_t> source_ids(const RecordedText& source) {
    std::vector<std::int32_t> ids = source.before.ids;
    ids.insert(ids.end(), source.ids.begin(), source.ids.end());
    ids.insert(ids.end(), source.after.ids.begin(), source.after.ids.end());
    return ids;
}

std::vector<std::int32_t> target_in_ids(const ModelConfig& config, const RecordedText& target) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(1 - first_predicted(config)), config.frame.bos_id);
    ids.insert(ids.end(), target.before.ids.begin(), target.before.ids.end());
    const std::size_t start = ids.size() - target.before.ids.size();
    ids.insert(ids.end(), target.ids.begin(), target.ids.end());
    ids.resize(start + decoder_input_size(config, target));
    if (traits(config.architecture).fills_masks) {
        ids.push_back(config.frame.eos_id);
    }
    return ids;
}

std::vector<RecordedToken> source_tokens(const ModelConfig& config, const RecordedText& source, std::int64_t pads) {
    std::vector<RecordedToken> tokens;
    if (config.input.patches()) {
        return patch_tokens(*patches_of(config));
    }
    append(tokens, source.before, TokenKind::Begin);
    append(tokens, config, source, source.ids.size());
    append(tokens, source.after, TokenKind::End);
    tokens.insert(tokens.end(), static_cast<std::size_t>(pads), {"<pad>", TokenKind::Pad});
    return tokens;
}

std::vector<RecordedToken> target_in_tokens(const ModelConfig& config, const RecordedText& target) {
    std::vector<RecordedToken> tokens;
    if (first_predicted(config) == 0) {
        tokens.push_back({target.begin, TokenKind::Begin});
    }
    const std::size_t start = tokens.size();
    append(tokens, target.before, TokenKind::Begin);
    append(tokens, config, target, target.ids.size());
    tokens.resize(start + decoder_input_size(config, target));
    if (traits(config.architecture).fills_masks) {
        tokens.push_back({target.end, TokenKind::End});
    }
    return tokens;
}

std::vector<RecordedToken> target_out_tokens(const ModelConfig& config, const RecordedText& target) {
    std::vector<RecordedToken> tokens;
    append(tokens, target.before, TokenKind::Begin);
    append(tokens, config, target, target.ids.size());
    if (target.ended) {
        tokens.push_back({target.end, TokenKind::End});
    }
    tokens.erase(tokens.begin(), tokens.begin() + std::min(first_predicted(config), std::ssize(tokens)));
    return tokens;
}

}  // namespace headscope
