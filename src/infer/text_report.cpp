#include "infer/text_report.h"

#include <algorithm>
#include <utility>

#include "infer/prepared_line.h"

namespace headscope {

std::size_t common_bytes(std::string_view a, std::string_view b) {
    const auto [end, other] = std::ranges::mismatch(a, b);
    auto size = static_cast<std::size_t>(end - a.begin());
    const auto inside = [&](std::string_view text) {
        return size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U;
    };
    while (size > 0 && (inside(a) || inside(b))) {
        --size;
    }
    return size;
}

std::size_t length_before_stop(std::string_view text, const std::vector<std::string>& stops) {
    std::size_t length = text.size();
    for (std::string_view begin : stops) {
        while (!text.ends_with(begin)) {
            begin.remove_suffix(1);
        }
        length = std::min(length, text.size() - begin.size());
    }
    return length;
}

TextReport::TextReport(const Tokenizer& tokenizer, LinePart& part)
    : part_(part), growing_(tokenizer, part.task.prompt) {}

// After the event, the reader has `text`, of which it already had the first `kept` bytes.
std::optional<TextEvent> TextReport::event(const SentenceBeam::Written& written, std::size_t same,
                                           std::string_view text, std::size_t kept) {
    const std::size_t given = std::min(part_.task.given, written.tokens.size());
    const std::span<const std::int32_t> tokens = written.tokens.subspan(given);
    TextEvent event;
    event.part = &part_;
    event.kept_bytes = kept;
    event.text = text.substr(kept);
    event.kept_tokens = std::min({same, tokens.size(), tokens_.size()});
    work_ += std::ssize(event.text) + std::ssize(tokens) - static_cast<std::int64_t>(event.kept_tokens);
    const std::size_t common = std::min(tokens.size(), tokens_.size());
    while (event.kept_tokens < common && tokens[event.kept_tokens] == tokens_[event.kept_tokens]) {
        ++event.kept_tokens;
    }
    for (std::size_t i = event.kept_tokens; i < tokens.size(); ++i) {
        event.tokens.push_back({tokens[i], written.log_probabilities[given + i], {}});
        if (!written.alternatives.empty()) {
            event.tokens.back().alternatives = *written.alternatives[given + i];
        }
    }
    const bool changes =
        !event.text.empty() || !event.tokens.empty() || kept < text_.size() || event.kept_tokens < tokens_.size();
    text_.resize(kept);
    text_ += event.text;
    tokens_.resize(event.kept_tokens);
    tokens_.insert(tokens_.end(), tokens.begin() + static_cast<std::ptrdiff_t>(event.kept_tokens), tokens.end());
    return changes ? std::optional(std::move(event)) : std::nullopt;
}

std::optional<TextEvent> TextReport::next(const SentenceBeam::Written& written, std::size_t same) {
    const std::size_t given = std::min(part_.task.given, written.tokens.size());
    same -= std::min(same, part_.task.given);
    const bool grows = same >= tokens_.size();
    const std::int64_t decoded = growing_.decoded();
    const std::string_view settled = growing_.settled(written.tokens.subspan(given), same);
    work_ += growing_.decoded() - decoded;
    const std::string_view text = settled.substr(0, length_before_stop(settled, part_.search->stop));
    if (!grows) {
        work_ += std::ssize(text);
    }
    return event(written, same, text, grows ? text_.size() : common_bytes(text_, text));
}

std::optional<TextEvent> TextReport::last(const Hypothesis& result) {
    work_ += std::ssize(result.text);
    return event({result.tokens, result.token_log_probabilities, result.alternatives}, 0, result.text,
                 common_bytes(text_, result.text));
}

}  // namespace headscope
