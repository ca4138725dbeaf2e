#include "engine/text_translator.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace headscope {

namespace {

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

void TextTranslator::translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                        const ResultSink& sink) const {
    Ticket<LinesRequest> ticket =
        engine_.submit(model_, LinesRequest{lines, shared_out(options, lines, engine_.devices().size())});
    try {
        while (std::optional<LinesRequest::Event> event = ticket.next()) {
            sink(std::move(event->next), event->finished);
        }
        ticket.get();
    } catch (...) {
        ticket.cancel();
        ticket.settle();
        throw;
    }
}

std::vector<TextResult> TextTranslator::translate(const std::vector<SourceLine>& lines,
                                                  const DecodingOptions& options) const {
    std::vector<TextResult> results;
    translate_in_order(lines, options, [&](std::vector<TextResult> next, std::size_t) {
        results.insert(results.end(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
    });
    return results;
}

}  // namespace headscope
