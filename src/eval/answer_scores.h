// How near an answer is to those of people, as the script of SQuAD (Rajpurkar et al., 2016) says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

// In lower case, without ASCII punctuation, articles and blanks that are not one space.
std::string normalised_answer(const std::string& text);

struct AnswerScores {
    std::int64_t answers = 0;
    double exact_sum = 0.0, f1_sum = 0.0;  // of each the best over the wanted answers

    // Error without a wanted answer.
    void add(const std::string& found, const std::vector<std::string>& wanted);
    double exact_match() const { return answers == 0 ? 0.0 : exact_sum / static_cast<double>(answers); }
    double f1() const { return answers == 0 ? 0.0 : f1_sum / static_cast<double>(answers); }
};

}  // namespace headscope
