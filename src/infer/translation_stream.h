// A stream of lines through a translator, window by window, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infer/line_source.h"
#include "infer/line_translator.h"

namespace headscope {

// How many lines are taken at a time. Lines of similar length are translated together, so more is faster; but a line
// may have to wait for all of its window. So a window holds about as many as can be translated in kSeconds, going by
// the one before; the first is small, and none is more than kGrowth times the one before.
class WindowSize {
public:
    static constexpr std::size_t kFirst = 64;
    static constexpr std::size_t kSmallest = 16;
    static constexpr std::size_t kLargest = 2048;
    static constexpr std::size_t kGrowth = 8;
    static constexpr double kSeconds = 5.0;

    std::size_t lines() const { return lines_; }
    // So many lines took so long.
    void measured(std::size_t lines, double seconds);

private:
    std::size_t lines_ = kFirst;
};

struct StreamTotals {
    std::int64_t lines = 0;
    std::int64_t problems = 0;  // lines that were not translated
    std::int64_t unknown = 0;   // lines with characters that the vocabulary has no piece for
    std::int64_t cut = 0;       // translations that were cut at the longest output
    std::int64_t source_tokens = 0;
    std::int64_t target_tokens = 0;
    double seconds = 0.0;  // spent translating, not waiting for input
};

// A line of the input and what became of it.
struct StreamedLine {
    std::int64_t number = 0;            // from 1
    std::optional<std::string> source;  // none where the line was too long to keep
    TranslatedSentence sentence;        // with an empty text where it was not translated
};

struct StreamSinks {
    // The next results, in order.
    std::function<void(const std::vector<StreamedLine>& next)> translated;
    // "line 7: ...": why a line was not translated, or what was done to it; at the end, to how many in all.
    std::function<void(const std::string& message)> complaint;
};

// What the translation of a line begins with; lines count from 1.
using PrefixOf = std::function<std::string(std::int64_t line)>;

// Results are handed out after each batch, as soon as all before them are there. A line that cannot be translated is
// complained about and gives an empty result; the others go on.
StreamTotals translate_stream(const LineTranslator& translator, LineSource& input, const StreamSinks& sinks,
                              const TranslationOptions& options, const PrefixOf& prefix_of = {});

}  // namespace headscope
