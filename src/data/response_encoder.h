// Turns prompts with responses into ids, and knows which of them are those of the responses: the same for training and
// for scoring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/frame.h"
#include "data/response_reader.h"
#include "text/chat_encoder.h"
#include "text/tokenizer.h"

namespace headscope {

inline constexpr const char* kNoTemplate = "none";

class ResponseEncoder {
public:
    // `chat`: the name of a template, or kNoTemplate for a prompt that the response just follows.
    ResponseEncoder(std::shared_ptr<const Tokenizer> tokenizer, Frame frame, const std::string& chat);

    // A text for each response, from its start to its end, with labels on the response and its end alone, whatever
    // their ids are. Ranked responses are documents with ranks (Example::ranks). Prompt and response are encoded apart,
    // so that no piece belongs to both. Error that names the place if the template cannot hold the messages.
    Example encode(const Responses& responses, const std::string& place) const;
    // The ids of a prompt alone, to which a response is to be written.
    std::vector<std::int32_t> encode_prompt(const Responses& responses, const std::string& place) const;
    // The ids that end a response.
    std::vector<std::int32_t> ends() const;

private:
    ChatIds ids_of(const Responses& responses, std::size_t text) const;
    void add_plain_prompt(const Responses& responses, ChatIds& ids) const;

    std::shared_ptr<const Tokenizer> tokenizer_;
    Frame frame_;
    std::optional<ChatEncoder> chat_;
};

// A prompt with a response to it, which has the labels.
Example response_example(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& response);

}  // namespace headscope
