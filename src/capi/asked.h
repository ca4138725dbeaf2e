// Work that the engine does for a request of the C library: one or more tickets, with what becomes of their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capi/failures.h"
#include "capi/results.h"
#include "engine/engine.h"

namespace headscope {

// What an hs_event lends.
struct Happening {
    int kind = HS_INPUT_DONE;
    std::size_t input = 0;
    std::size_t kept_bytes = 0, kept_tokens = 0;
    std::string text = {};
    std::vector<std::int32_t> tokens = {};
    std::vector<double> log_probabilities = {};
};

// For some inputs in a row. One thread at a time, but for cancel().
class Asked {
public:
    Asked() = default;
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    virtual ~Asked() = default;

    // `changed` is called on an engine's thread whenever next() may have news or ended() changes.
    virtual void watch(std::function<void()> changed) = 0;
    virtual bool ended() = 0;
    // The next event, if there is one; after the last one, of an input that is done, none.
    virtual std::optional<Happening> next() = 0;
    // Adds the inputs' results, once it has ended; throws why there are none.
    virtual void take(std::vector<InputResult>& results) = 0;
    virtual void cancel() = 0;
    virtual void settle() = 0;  // no callback of the caller runs any more
};

// The work of a request, which ends with it: also of one that could not be asked for as a whole.
class AllAsked {
public:
    AllAsked() = default;
    AllAsked(AllAsked&&) = default;
    AllAsked& operator=(AllAsked&&) = delete;
    ~AllAsked() { finish(); }

    void push_back(std::unique_ptr<Asked> asked) { asked_.push_back(std::move(asked)); }
    void cancel() const;
    void finish() noexcept;  // cancels and settles
    auto begin() const { return asked_.begin(); }
    auto end() const { return asked_.end(); }

private:
    std::vector<std::unique_ptr<Asked>> asked_;
};

// Whether a failure is of the input alone, so that others may succeed.
bool is_of_input(const std::exception_ptr& failure);

// A ticket for the inputs from `first` on.
template <class Request>
class AskedTicket : public Asked {
public:
    using Add = std::function<void(typename Request::Result result, std::vector<InputResult>& results)>;

    // `calls_back`: whether the request has callbacks of the caller.
    AskedTicket(Ticket<Request> ticket, std::size_t first, std::vector<std::string> inputs, Add add,
                bool calls_back = false)
        : ticket_(std::move(ticket)),
          first_(first),
          inputs_(std::move(inputs)),
          add_(std::move(add)),
          calls_back_(calls_back) {}

    void watch(std::function<void()> changed) override { ticket_.watch(std::move(changed)); }
    bool ended() override { return ticket_.wait_for({}); }
    std::optional<Happening> next() override { return ended() ? next_done() : std::nullopt; }
    void take(std::vector<InputResult>& results) override {
        try {
            add_(ticket_.get(), results);
        } catch (...) {
            if (inputs_.size() > 1 || !is_of_input(std::current_exception())) {
                throw;
            }
            results.push_back(problem_of(inputs_.front(), what_of(std::current_exception()),
                                         status_of(std::current_exception(), HS_INVALID)));
        }
    }
    void cancel() override { ticket_.cancel(); }
    void settle() override {
        if (calls_back_) {
            ticket_.settle();
        }
    }

protected:
    Ticket<Request>& ticket() { return ticket_; }
    std::size_t first() const { return first_; }
    // The next input is done, if one is left.
    std::optional<Happening> next_done() {
        return told_ < inputs_.size() ? std::optional(Happening{.input = first_ + told_++}) : std::nullopt;
    }
    std::size_t told() const { return told_; }

private:
    Ticket<Request> ticket_;
    const std::size_t first_;
    const std::vector<std::string> inputs_;
    const Add add_;
    const bool calls_back_;
    std::size_t told_ = 0;  // inputs
};

// A line whose text arrives as it is written.
class AskedLine final : public AskedTicket<TextRequest> {
public:
    using AskedTicket::AskedTicket;
    std::optional<Happening> next() override;
};

// Lines that are done one after the other.
class AskedLines final : public AskedTicket<LinesRequest> {
public:
    using AddLine = std::function<void(std::size_t line, TextResult result, std::vector<InputResult>& results)>;
    AskedLines(Ticket<LinesRequest> ticket, std::size_t first, std::vector<std::string> inputs, AddLine add);

    std::optional<Happening> next() override;
    void take(std::vector<InputResult>& results) override;

private:
    void collect();

    const AddLine add_line_;
    std::vector<TextResult> done_;
};

}  // namespace headscope
