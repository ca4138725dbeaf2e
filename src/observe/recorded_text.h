// A tokenized text: ids for the model, pieces to display. The text of a language model is a target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/frame_of_config.h"
#include "model/model_directory.h"
#include "observe/attention_record.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace headscope {

// Tokens that are not of a text.
struct GivenTokens {
    std::vector<std::int32_t> ids;
    std::vector<std::string> pieces;  // one for each id
};

struct RecordedText {
    std::vector<std::int32_t> ids;               // without begin and end; a masked language model's may be masks
    std::vector<std::string> pieces;             // one for each id; none of a picture
    bool word_pieces = false;                    // whether every piece without ## begins a word
    bool ended = true;                           // false for an output that was truncated, and for a prompt
    GivenTokens before = {};                     // Frame::source_begin or target_begin
    GivenTokens after = {};                      // Frame::source_end; of a target empty
    std::string begin = "<BOS>", end = "<EOS>";  // their names, if the text has them
};

// Without what stands around it.
RecordedText encode_text(const Tokenizer& tokenizer, std::string_view text);
// A sentence to translate, and a translation. Error for a language that is missing or unknown.
RecordedText encode_source(const ModelDirectory& model, const Languages& languages, std::string_view text);
RecordedText encode_target(const ModelDirectory& model, const Frame& frame, std::string_view text);
// The prompt of a causal language model, or the text of a masked one, in which each "[MASK]" is one masked token. Error
// if it is too long for the model.
RecordedText encode_language_text(const ModelDirectory& model, std::string_view text);
// The same for a message of the user in the model's chat template, after what was said before, up to the beginning of
// the reply.
RecordedText encode_message(const ModelDirectory& model, std::string_view text, std::vector<ChatMessage> earlier = {});
// The ids of a reply to it, without its end.
std::vector<std::int32_t> encode_reply(const ModelDirectory& model, std::string_view text, std::string_view reply,
                                       std::vector<ChatMessage> earlier = {});
// From a decoder's output, which begins with `given` tokens that are not of the text and ends with eos if that was
// reached.
RecordedText text_of_output(const Tokenizer& tokenizer, const ModelConfig& config, std::span<const std::int32_t> ids,
                            std::size_t given = 0);
// A prompt and what a causal language model writes or reads after it. Error if both are too long for the model.
RecordedText with_continuation(const Tokenizer& tokenizer, const ModelConfig& config, const RecordedText& prompt,
                               const std::vector<std::int32_t>& ids);

// The piece, of bytes in SentencePiece's notation ("\u2581making", "\u21b5" for a line break); for a special token
// "<EOS>", "<BOS>", "<pad>", "[MASK]" or its own name in square brackets ("[CLS]").
std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token);

// The first token of a text that is predicted: 1 if a causal language model's texts start with a given piece, else 0.
std::ptrdiff_t first_predicted(const ModelConfig& config);

// Encoder input, decoder input and decoder output, as ids and as tokens. The tokens of a picture are its patches.
std::vector<std::int32_t> source_ids(const RecordedText& source);
std::vector<std::int32_t> target_in_ids(const ModelConfig& config, const RecordedText& target);
std::vector<RecordedToken> source_tokens(const ModelConfig& config, const RecordedText& source, std::int64_t pads);
std::vector<RecordedToken> target_in_tokens(const ModelConfig& config, const RecordedText& target);
std::vector<RecordedToken> target_out_tokens(const ModelConfig& config, const RecordedText& target);

}  // namespace headscope
