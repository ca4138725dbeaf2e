// Translates a stream of lines, window by window, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/text_translator.h"
#include "infer/line_source.h"

namespace headscope {

// The number of lines per window. Larger windows are faster, because lines of similar length share batches, but a line
// may have to wait for its whole window. So a window has about as many lines as can be translated in kSeconds,
// estimated from the previous window. The first window is small, and each is at most kGrowth times the previous one.
class WindowSize {
public:
    static constexpr std::size_t kFirst = 64;
    static constexpr std::size_t kSmallest = 16;
    static constexpr std::size_t kLargest = 2048;
    static constexpr std::size_t kGrowth = 8;
    static constexpr double kSeconds = 5.0;

    std::size_t lines() const { return lines_; }
    // Reports the time that a window took.
    void measured(std::size_t lines, double seconds);

private:
    std::size_t lines_ = kFirst;
};

struct StreamTotals {
    std::int64_t lines = 0;     // results: the input's lines times samples
    std::int64_t problems = 0;  // lines that were not translated
    std::int64_t unknown = 0;   // lines with characters that are not in the vocabulary
    std::int64_t cut = 0;       // translations cut at the maximum length
    std::int64_t source_tokens = 0;
    std::int64_t target_tokens = 0;
    double seconds = 0.0;  // spent translating, not waiting for input
};

// A line of the input and its translation.
struct StreamedLine {
    std::int64_t number = 0;            // from 1
    std::optional<std::string> source;  // std::nullopt if the line was too long to keep
    TextResult sentence;                // with an empty text if it was not translated
};

struct StreamSinks {
    // The next results, in order.
    std::function<void(const std::vector<StreamedLine>& next)> translated;
    // "line 7: ...": why a line was not translated, or how it was changed; at the end the number of such lines.
    std::function<void(const std::string& message)> warning;
};

// The prefix of a line's translation; lines count from 1.
using PrefixOf = std::function<std::string(std::int64_t line)>;

// Results are passed on after each batch, in order. A line that cannot be translated causes a warning and an empty
// result; the others continue. `samples`: results of each line, with random numbers of their own.
StreamTotals translate_stream(const TextTranslator& translator, LineSource& input, const StreamSinks& sinks,
                              const DecodingOptions& options, const PrefixOf& prefix_of = {}, int samples = 1);

}  // namespace headscope
