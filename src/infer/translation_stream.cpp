#include "infer/translation_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace headscope {

namespace {

std::string problem_of(const InputLine& line) {
    return line.excess == 0 ? ""
                            : fmt::format("{} bytes, and a line has at most {}: split it into sentences",
                                          LineSource::kLongestLine + line.excess, LineSource::kLongestLine);
}

// What is far too long is not even tokenised.
std::vector<std::string> texts_of(std::vector<InputLine>& window) {
    std::vector<std::string> lines;
    lines.reserve(window.size());
    for (InputLine& line : window) {
        lines.push_back(line.excess == 0 ? std::move(line.text) : std::string());
    }
    return lines;
}

void count(StreamTotals& totals, const TranslatedSentence& sentence) {
    ++totals.lines;
    totals.problems += sentence.problem.empty() ? 0 : 1;
    totals.cut += sentence.end == EndReason::Limit ? 1 : 0;
    totals.source_tokens += static_cast<std::int64_t>(sentence.source_ids.size());
    totals.target_tokens += static_cast<std::int64_t>(sentence.target_ids.size());
}

// Runs while somebody translates, not while results are written.
class Stopwatch {
public:
    void start() { start_ = Clock::now(); }
    void stop() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    double seconds() const { return seconds_; }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_;
    double seconds_ = 0.0;
};

}  // namespace

void WindowSize::measured(std::size_t lines, double seconds) {
    const double fitting = kSeconds * static_cast<double>(lines) / std::max(seconds, 1e-9);
    const std::size_t most = std::min(2 * lines_, kLargest);
    lines_ = fitting >= static_cast<double>(most) ? most : std::max(static_cast<std::size_t>(fitting), kSmallest);
}

StreamTotals translate_stream(const Translator& translator, LineSource& input, const StreamSinks& sinks,
                              const TranslationOptions& options) {
    StreamTotals totals;
    WindowSize size;
    for (std::vector<InputLine> window = input.next_window(size.lines()); !window.empty();
         window = input.next_window(size.lines())) {
        Stopwatch watch;
        std::size_t line = 0;
        watch.start();
        translator.translate_in_order(
            texts_of(window), options, [&](std::vector<TranslatedSentence> next, std::size_t) {
                watch.stop();
                for (TranslatedSentence& sentence : next) {
                    if (const std::string problem = problem_of(window[line++]); !problem.empty()) {
                        sentence.problem = problem;
                    }
                    count(totals, sentence);
                    if (!sentence.problem.empty()) {
                        sinks.complaint(fmt::format("line {}: {}", totals.lines, sentence.problem));
                    }
                }
                if (!next.empty()) {
                    sinks.translated(next);
                }
                watch.start();
            });
        watch.stop();
        totals.seconds += watch.seconds();
        size.measured(window.size(), watch.seconds());
    }
    return totals;
}

}  // namespace headscope
