// Events about an output while the search for it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infer/continuation.h"
#include "infer/hypotheses.h"
#include "infer/session.h"

namespace headscope {

// The bytes of `text` without an end that may be the beginning of a stop text.
std::size_t length_before_stop(std::string_view text, const std::vector<std::string>& stops);

// How many bytes of whole characters both begin with.
std::size_t common_bytes(std::string_view a, std::string_view b);

// The events of one part of a line. For an output that only grows the work is linear in its length.
class TextReport {
public:
    // The tokenizer must outlive this.
    TextReport(const Tokenizer& tokenizer, LinePart& part);

    // The changes since the last call, if there are any. `same`: how many tokens are surely those of the last call.
    std::optional<TextEvent> next(const SentenceBeam::Written& written, std::size_t same);
    // The last change, to the part's result.
    std::optional<TextEvent> last(const Hypothesis& result);

    // Counts tokens and bytes that were looked at, for tests.
    std::int64_t work() const { return work_; }

private:
    std::optional<TextEvent> event(const SentenceBeam::Written& written, std::size_t same, std::string_view text,
                                   std::size_t kept);

    LinePart& part_;
    GrowingContinuation growing_;
    std::vector<std::int32_t> tokens_;  // told
    std::string text_;                  // told
    std::int64_t work_ = 0;
};

}  // namespace headscope
