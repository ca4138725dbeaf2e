#include "engine/translation_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "infer/split_news.h"

namespace headscope {

namespace {

std::string problem_of(const InputLine& line) {
    return line.excess == 0 ? ""
                            : fmt::format("{} bytes, but a line may have at most {}: split it into sentences",
                                          LineSource::kLongestLine + line.excess, LineSource::kLongestLine);
}

// Lines that are far too long are not tokenized.
std::vector<SourceLine> sources_of(const std::vector<InputLine>& window, std::int64_t before, const PrefixOf& prefix_of,
                                   int samples) {
    std::vector<SourceLine> lines;
    lines.reserve(window.size() * static_cast<std::size_t>(samples));
    for (const InputLine& line : window) {
        const std::int64_t number = (before + static_cast<std::int64_t>(lines.size())) / samples + 1;
        const SourceLine source{.text = line.excess == 0 ? line.text : std::string(),
                                .prefix = prefix_of ? prefix_of(number) : std::string()};
        for (int sample = 0; sample < samples; ++sample) {
            lines.push_back(source);
            lines.back().number = static_cast<std::uint32_t>(before + std::ssize(lines));
        }
    }
    return lines;
}

void count(StreamTotals& totals, const TextResult& sentence) {
    ++totals.lines;
    totals.problems += sentence.problem.empty() ? 0 : 1;
    totals.unknown += sentence.unknown ? 1 : 0;
    totals.cut += sentence.end == EndReason::Limit ? 1 : 0;
    totals.source_tokens += static_cast<std::int64_t>(sentence.source_ids.size());
    totals.target_tokens += static_cast<std::int64_t>(sentence.target_ids.size());
}

StreamedLine finished_line(const InputLine& input, SourceLine& source, TextResult sentence, int samples) {
    StreamedLine line{.number = (source.number - 1) / samples + 1, .source = {}, .sentence = std::move(sentence)};
    if (std::string problem = problem_of(input); !problem.empty()) {
        line.sentence.problem = std::move(problem);
    } else {
        line.source = std::move(source.text);
    }
    return line;
}

void report(const StreamedLine& line, SplitNews& split, const StreamSinks& sinks) {
    for (const std::string& message : {line.sentence.problem, split.next(line.sentence.remark)}) {
        if (!message.empty()) {
            sinks.warning(fmt::format("line {}: {}", line.number, message));
        }
    }
}

// Makes batches smaller for few lines, so that every device gets some.
DecodingOptions shared_out(DecodingOptions options, const std::vector<SourceLine>& lines, std::size_t devices) {
    constexpr std::int64_t kBatchesPerDevice = 3;
    constexpr std::int64_t kFewest = 64;
    constexpr std::int64_t kBytes = 4;
    std::int64_t bytes = 0;
    for (const SourceLine& line : lines) {
        bytes += static_cast<std::int64_t>(line.text.size());
    }
    const std::int64_t share = bytes / kBytes / (kBatchesPerDevice * static_cast<std::int64_t>(devices));
    if (devices > 1) {
        options.batch_tokens = std::min(options.batch_tokens, std::max(share, kFewest));
    }
    return options;
}

}  // namespace

void WindowSize::measured(std::size_t lines, double seconds) {
    const double fitting = kSeconds * static_cast<double>(lines) / std::max(seconds, 1e-9);
    const std::size_t most = std::min(kGrowth * lines_, kLargest);
    lines_ = fitting >= static_cast<double>(most) ? most : std::max(static_cast<std::size_t>(fitting), kSmallest);
}

StreamTotals translate_stream(const TextTranslator& translator, LineSource& input, const StreamSinks& sinks,
                              const DecodingOptions& options, const PrefixOf& prefix_of, int samples) {
    StreamTotals totals;
    SplitNews split;
    WindowSize size;
    for (std::vector<InputLine> window = input.next_window(size.lines()); !window.empty();
         window = input.next_window(size.lines())) {
        std::vector<SourceLine> sources = sources_of(window, totals.lines, prefix_of, samples);
        std::size_t line = 0;
        const auto start = std::chrono::steady_clock::now();
        const DecodingOptions shared = shared_out(options, sources, translator.devices());
        translator.translate_in_order(sources, shared, [&](std::vector<TextResult> next, std::size_t) {
            std::vector<StreamedLine> lines;
            for (TextResult& sentence : next) {
                lines.push_back(finished_line(window[line / static_cast<std::size_t>(samples)], sources[line],
                                              std::move(sentence), samples));
                ++line;
                count(totals, lines.back().sentence);
                report(lines.back(), split, sinks);
            }
            if (!lines.empty()) {
                sinks.translated(lines);
            }
        });
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        totals.seconds += seconds;
        size.measured(window.size(), seconds);
    }
    if (const std::string message = split.end(); !message.empty()) {
        sinks.warning(message);
    }
    return totals;
}

}  // namespace headscope
