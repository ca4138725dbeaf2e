#include "answers/confidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/line_words.h"

namespace headscope {

std::optional<double> confidence_of(const TextResult& line, std::size_t rank) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const TextResult& sentence : sentences_of(line)) {
        const Translation& output = sentence.n_best[rank];
        const std::span<const double> all = output.token_log_probabilities;
        const std::span<const double> chosen = all.subspan(std::min(output.given, all.size()));
        sum += std::accumulate(chosen.begin(), chosen.end(), 0.0);
        count += chosen.size();
    }
    return count == 0 ? std::nullopt : std::optional(std::exp(sum / static_cast<double>(count)));
}

nlohmann::ordered_json to_json(const WordProbability& word) {
    return {{"word", word.word}, {"probability", word.probability}};
}

std::string words_column(const std::vector<WordProbability>& words) {
    std::string column = " |||";
    for (const WordProbability& word : words) {
        column += fmt::format(" {:.4f}", word.probability);
    }
    return column;
}

std::vector<WordProbability> word_probabilities(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                                                std::span<const double> log_probabilities) {
    std::vector<std::int32_t> written;
    std::vector<double> of_written;
    for (std::size_t i = 0; i < std::min(ids.size(), log_probabilities.size()); ++i) {
        if (ids[i] != tokenizer.eos_id()) {
            written.push_back(ids[i]);
            of_written.push_back(log_probabilities[i]);
        }
    }
    const JoinedText joined = tokenizer.join(written);
    const std::vector<ByteSpan> spans = kept_words(tokenizer, joined.text);
    const std::vector<std::int64_t> words = words_of_pieces(spans, joined.spans);
    std::vector<double> sums(spans.size(), 0.0);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] >= 0) {
            sums[static_cast<std::size_t>(words[i])] += of_written[i];
        }
    }
    std::vector<WordProbability> result;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        result.push_back({joined.text.substr(spans[i].begin, spans[i].end - spans[i].begin), std::exp(sums[i])});
    }
    return result;
}

std::vector<WordProbability> word_probabilities(const Tokenizer& tokenizer, const TextResult& line, std::size_t rank) {
    std::vector<WordProbability> words;
    for (const TextResult& sentence : sentences_of(line)) {
        const Translation& output = sentence.n_best[rank];
        const auto more = word_probabilities(tokenizer, output.ids, output.token_log_probabilities);
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

}  // namespace headscope
