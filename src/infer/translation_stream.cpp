#include "infer/translation_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace headscope {

namespace {

// A small first window shows a result soon; large ones hold enough sentences of every length to batch well.
constexpr std::size_t kFirstWindow = 32;
constexpr std::size_t kLargestWindow = 2048;

std::vector<TranslatedSentence> translate_window(const Translator& translator, std::vector<InputLine>& window,
                                                 const TranslationOptions& options) {
    std::vector<std::string> lines;
    for (InputLine& line : window) {
        // What is far too long is not even tokenised.
        lines.push_back(line.excess == 0 ? std::move(line.text) : std::string());
    }
    std::vector<TranslatedSentence> sentences = translator.translate(lines, options);
    for (std::size_t i = 0; i < window.size(); ++i) {
        if (window[i].excess > 0) {
            sentences[i].problem = fmt::format("{} bytes, and a line has at most {}: split it into sentences",
                                               LineSource::kLongestLine + window[i].excess, LineSource::kLongestLine);
        }
    }
    return sentences;
}

}  // namespace

StreamTotals translate_stream(const Translator& translator, LineSource& input, const StreamSinks& sinks,
                              const TranslationOptions& options) {
    using Clock = std::chrono::steady_clock;
    StreamTotals totals;
    std::size_t size = kFirstWindow;
    for (std::vector<InputLine> window = input.next_window(size); !window.empty(); window = input.next_window(size)) {
        const Clock::time_point start = Clock::now();
        const std::vector<TranslatedSentence> sentences = translate_window(translator, window, options);
        totals.seconds += std::chrono::duration<double>(Clock::now() - start).count();
        for (const TranslatedSentence& sentence : sentences) {
            ++totals.lines;
            totals.source_tokens += static_cast<std::int64_t>(sentence.source_ids.size());
            totals.target_tokens += static_cast<std::int64_t>(sentence.target_ids.size());
            if (!sentence.problem.empty()) {
                ++totals.problems;
                sinks.complaint(fmt::format("line {}: {}", totals.lines, sentence.problem));
            }
        }
        sinks.translated(sentences);
        size = std::min(2 * size, kLargestWindow);
    }
    return totals;
}

}  // namespace headscope
