#include "capi/asked.h"

#include <chrono>
#include <iterator>

namespace headscope {

bool is_of_input(const std::exception_ptr& failure) {
    switch (status_of(failure)) {
        case HS_INVALID:
        case HS_NOT_FOUND:
        case HS_UNSUPPORTED:
        case HS_MEMORY:
        case HS_FAILED: return true;
        default: return false;
    }
}

void AllAsked::cancel() const {
    for (const std::unique_ptr<Asked>& each : asked_) {
        each->cancel();
    }
}

void AllAsked::finish() noexcept {
    guarded(nullptr, [&] {  // HS_FORKED in a child, where nothing runs
        cancel();
        for (const std::unique_ptr<Asked>& each : asked_) {
            each->settle();
        }
    });
}

std::optional<Happening> AskedLine::next() {
    if (std::optional<TextRequest::Event> event = ticket().next(std::chrono::seconds(0))) {
        Happening written{.kind = HS_TEXT_WRITTEN,
                          .input = first(),
                          .kept_bytes = event->kept_bytes,
                          .kept_tokens = event->kept_tokens,
                          .text = std::move(event->text)};
        for (const WrittenToken& token : event->tokens) {
            written.tokens.push_back(token.token);
            written.log_probabilities.push_back(token.log_probability);
        }
        return written;
    }
    return ended() ? next_done() : std::nullopt;
}

AskedLines::AskedLines(Ticket<LinesRequest> ticket, std::size_t first, std::vector<std::string> inputs, AddLine add)
    : AskedTicket(std::move(ticket), first, std::move(inputs), {}), add_line_(std::move(add)) {}

void AskedLines::collect() {
    if (std::optional<LinesRequest::Event> event = ticket().next(std::chrono::seconds(0))) {
        done_.insert(done_.end(), std::make_move_iterator(event->next.begin()),
                     std::make_move_iterator(event->next.end()));
    }
}

std::optional<Happening> AskedLines::next() {
    collect();
    return told() < done_.size() || ended() ? next_done() : std::nullopt;
}

void AskedLines::take(std::vector<InputResult>& results) {
    collect();
    ticket().get();
    for (std::size_t line = 0; line < done_.size(); ++line) {
        add_line_(line, std::move(done_[line]), results);
    }
}

}  // namespace headscope
