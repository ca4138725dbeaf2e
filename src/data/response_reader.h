// Reads prompts with responses from JSON Lines of any size, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/task.h"
#include "text/chat_template.h"
#include "text/lines.h"

namespace headscope {

// A prompt with its responses.
struct Responses {
    std::vector<ChatMessage> prompt;
    bool plain = false;  // the prompt was one string
    std::vector<std::string> texts;
    std::vector<std::int32_t> ranks;  // of each text, 1 the best; equal ones are as good as each other
    // None of several is better than another, so that nothing can be learned of them.
    bool tied() const { return ranks.size() > 1 && ranks.front() == ranks.back(); }
    // Of a whole conversation without `texts`: all that the assistant says is a response.
    bool whole = false;
};

// What the lines of a file hold. Any other key is an error, and so is an empty text.
enum class ResponseForm : std::uint8_t {
    Written,  // {"prompt": P, "response": "text"} or {"messages": [..]}
    Ranked,   // {"prompt": P, "ranked": [best, .., worst]} or {"prompt": P, "chosen": "text", "rejected": "text"}
    Any,
    Prompt,  // {"prompt": P}
    Offered  // either this, or what Ranked has
};
// What the data of a task hold.
ResponseForm form_of(Task task);
// P is a text or a list of messages {"role": .., "content": ..} that ends with one of the user. Several responses of
// "ranked" that are as good as each other are a list: ["best", ["good", "as good"], "worst"].

class ResponseReader {
public:
    ResponseReader(const std::string& path, ResponseForm form) : lines_(path), form_(form) {}

    // False at the end. Errors name file and line.
    bool next(Responses& responses);
    const LineReader& lines() const { return lines_; }
    std::string place() const;  // "'my.jsonl' line 3"

private:
    LineReader lines_;
    ResponseForm form_;
    std::string line_;
};

// The text of a prompt, which identifies it.
std::string prompt_key(const Responses& responses);
// {"prompt": P, "ranked": ..}, as a line without its end. `groups`: the texts' indexes, best first.
std::string ranked_line(const Responses& responses, const std::vector<std::vector<std::size_t>>& groups);

// What one line says; `place` is for messages.
Responses parse_responses(const std::string& line, const std::string& place, ResponseForm form);

}  // namespace headscope
