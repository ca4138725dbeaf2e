#include "data/response_encoder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "data/batch.h"
#include "support/check.h"

namespace headscope {
namespace {

void add(ChatIds& text, const std::vector<std::int32_t>& ids, bool replied) {
    text.ids.insert(text.ids.end(), ids.begin(), ids.end());
    text.replied.resize(text.ids.size(), replied);
}

// Adds a document, each position of which is labelled with the next id if that is a response's.
void add_document(const ChatIds& text, Example& example) {
    example.starts.push_back(static_cast<std::int32_t>(example.target.size()));
    example.target.insert(example.target.end(), text.ids.begin(), text.ids.end());
    for (std::size_t i = 1; i <= text.ids.size(); ++i) {
        example.labels.push_back(i < text.ids.size() && text.replied[i] ? text.ids[i] : kNoTarget);
    }
}

}  // namespace

ResponseEncoder::ResponseEncoder(std::shared_ptr<const Tokenizer> tokenizer, Frame frame, const std::string& chat)
    : tokenizer_(std::move(tokenizer)), frame_(std::move(frame)) {
    if (chat != kNoTemplate) {
        chat_.emplace(chat_template(chat), tokenizer_, frame_.start_of_text());
    }
}

void ResponseEncoder::add_plain_prompt(const Responses& responses, ChatIds& ids) const {
    if (!responses.plain) {
        throw Error("messages need a chat template: name one, or give a \"prompt\" and \"response\" that are text");
    }
    add(ids, frame_.start_of_text(), false);
    add(ids, tokenizer_->encode(responses.prompt.front().content), false);
}

// With response `text`; of a whole conversation there is none.
ChatIds ResponseEncoder::ids_of(const Responses& responses, std::size_t text) const {
    if (!chat_) {
        ChatIds ids;
        add_plain_prompt(responses, ids);
        add(ids, tokenizer_->encode(responses.texts[text]), true);
        add(ids, {frame_.eos}, true);
        return ids;
    }
    if (responses.whole) {
        return chat_->encode(responses.prompt, ChatEnd::Closed);
    }
    std::vector<ChatMessage> messages = responses.prompt;
    const std::size_t prompt = chat_->encode(messages, ChatEnd::Reply).ids.size();
    messages.push_back({ChatRole::Assistant, responses.texts[text]});
    ChatIds ids = chat_->encode(messages, ChatEnd::Closed);
    std::fill_n(ids.replied.begin(), prompt, false);  // earlier replies are no response
    return ids;
}

std::vector<std::int32_t> ResponseEncoder::encode_prompt(const Responses& responses, const std::string& place) const {
    try {
        if (chat_) {
            return chat_->encode(responses.prompt, ChatEnd::Reply).ids;
        }
        ChatIds ids;
        add_plain_prompt(responses, ids);
        return ids.ids;
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", place, error.what()));
    }
}

std::vector<std::int32_t> ResponseEncoder::ends() const {
    return chat_ ? chat_->ends() : std::vector<std::int32_t>{frame_.eos};
}

Example response_example(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& response) {
    ChatIds text;
    add(text, prompt, false);
    add(text, response, true);
    Example example;
    add_document(text, example);
    example.starts.clear();
    return example;
}

Example ResponseEncoder::encode(const Responses& responses, const std::string& place) const {
    Example example;
    try {
        for (std::size_t i = 0; i < (responses.whole ? 1 : responses.texts.size()); ++i) {
            add_document(ids_of(responses, i), example);
        }
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", place, error.what()));
    }
    if (example.starts.size() > 1) {
        example.ranks = responses.ranks;
    } else {
        example.starts.clear();
    }
    return example;
}

}  // namespace headscope
