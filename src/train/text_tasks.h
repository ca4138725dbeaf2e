// Generated tasks with a known answer for language models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

// A line of text, and a question about it that has one answer.
struct TextTaskLine {
    std::string text;
    std::string prompt, answer;  // brackets: what comes before the answer; cloze: the text with <mask> in its place
};

// For causal models: balanced brackets of three kinds, "( [ ] { } )". The answer closes one that is not the last one
// opened, so that the model has to count.
std::vector<TextTaskLine> make_brackets_task(std::int64_t lines, std::uint64_t seed);

// For masked models: "the dogs near the cat bark loudly". The answer is the verb: its stem belongs to the first noun,
// and it agrees with that in number, not with the noun beside it.
std::vector<TextTaskLine> make_cloze_task(std::int64_t lines, std::uint64_t seed);

}  // namespace headscope
