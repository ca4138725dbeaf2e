// Work in parts that the devices of an engine share; the results come in the order of the parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/engine.h"

namespace headscope {

// How much a part has. Lines of a part share batches, so it has enough tokens for some. It must not depend on the
// devices: then neither do the results.
class PartSize {
public:
    explicit PartSize(std::int64_t batch_tokens) : most_(kBatches * batch_tokens) {}
    void add(std::int64_t tokens) { tokens_ += tokens; }
    bool full() const { return tokens_ >= most_; }
    std::int64_t tokens() const { return tokens_; }

private:
    static constexpr std::int64_t kBatches = 8;
    std::int64_t most_;
    std::int64_t tokens_ = 0;
};

// `next` gives a part, or std::nullopt at the end. `request_of` makes a request of it, which may refer to the part.
// `take` gets each part with its result. If `next` throws, the parts before are taken first; if a request or `take`
// does, the later ones are cancelled. No request goes on after that.
template <class Next, class RequestOf, class Take>
void ask_in_order(Engine& engine, const ModelHandle& model, const Next& next, const RequestOf& request_of,
                  const Take& take) {
    using Part = typename std::invoke_result_t<const Next&>::value_type;
    using Request = std::invoke_result_t<const RequestOf&, const Part&>;
    constexpr std::size_t kAhead = 8;  // parts for each device, so that fast ones do not wait for a slow one
    const std::size_t most = kAhead * engine.devices().size();
    std::deque<Part> parts;  // an element stays where it is
    std::deque<Ticket<Request>> tickets;
    std::exception_ptr input_failure;
    const auto ask = [&] {
        std::optional<Part> part;
        try {
            part = next();
        } catch (...) {
            input_failure = std::current_exception();
        }
        if (part) {
            parts.push_back(*std::move(part));
            tickets.push_back(engine.submit(model, request_of(std::as_const(parts.back()))));
        }
        return part.has_value();
    };
    try {
        for (bool more = true; more || !tickets.empty();) {
            while (more && tickets.size() < most) {
                more = ask();
            }
            if (!tickets.empty()) {
                take(std::as_const(parts.front()), tickets.front().get());
                parts.pop_front();
                tickets.pop_front();
            }
        }
    } catch (...) {
        for (const Ticket<Request>& ticket : tickets) {
            ticket.cancel();
        }
        for (const Ticket<Request>& ticket : tickets) {
            ticket.settle();
        }
        throw;
    }
    if (input_failure != nullptr) {
        std::rethrow_exception(input_failure);
    }
}

}  // namespace headscope
