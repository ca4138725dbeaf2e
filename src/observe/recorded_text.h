// A tokenized text: ids for the model, pieces to display.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"
#include "observe/attention_record.h"
#include "text/tokenizer.h"

namespace headscope {

struct RecordedText {
    std::vector<std::int32_t> ids;    // without begin and end
    std::vector<std::string> pieces;  // one for each id
    bool ended = true;                // false for an output that was truncated
};

RecordedText encode_text(const Tokenizer& tokenizer, std::string_view text);
// From a decoder's output, which ends with eos if that was reached.
RecordedText text_of_output(const Tokenizer& tokenizer, const ModelConfig& config, std::vector<std::int32_t> ids);

// The SentencePiece piece, "<EOS>", "<BOS>" or "<pad>".
std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token);

// Encoder input, decoder input and decoder output, as ids and as tokens.
std::vector<std::int32_t> source_ids(const ModelConfig& config, const RecordedText& source);
std::vector<std::int32_t> target_in_ids(const ModelConfig& config, const RecordedText& target);
std::vector<RecordedToken> source_tokens(const ModelConfig& config, const RecordedText& source, std::int64_t pads);
std::vector<RecordedToken> target_in_tokens(const ModelConfig& config, const RecordedText& target);
std::vector<RecordedToken> target_out_tokens(const ModelConfig& config, const RecordedText& target);

}  // namespace headscope
