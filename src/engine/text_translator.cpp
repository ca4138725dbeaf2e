#include "engine/text_translator.h"

#include <iterator>
#include <optional>

namespace headscope {

void TextTranslator::translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                        const ResultSink& sink) const {
    Ticket<LinesRequest> ticket = engine_.submit(model_, LinesRequest{lines, options});
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
