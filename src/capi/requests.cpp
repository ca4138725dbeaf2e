// hs_submit() and what can be done with a request.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capi/engines.h"
#include "capi/kinds.h"
#include "capi/options.h"
#include "capi/text.h"

namespace headscope {

namespace {

using Clock = std::chrono::steady_clock;

// A time after which to stop waiting; none for -1.
std::optional<Clock::time_point> end_of(std::int64_t timeout_ms) {
    constexpr std::int64_t kYear = std::int64_t{365} * 24 * 60 * 60 * 1000;
    return timeout_ms < 0 ? std::nullopt
                          : std::optional(Clock::now() + std::chrono::milliseconds(std::min(timeout_ms, kYear)));
}

// The engine's threads and the caller's meet here.
class RequestState {
public:
    RequestState(std::shared_ptr<Engine> engine, AllAsked asked)
        : engine_(std::move(engine)), asked_(std::move(asked)) {}

    // Once, after construction: engine threads must not keep the request alive, which they would then destroy.
    static void watch(const std::shared_ptr<RequestState>& state) {
        for (const std::unique_ptr<Asked>& each : state->asked_) {
            each->watch([request = std::weak_ptr(state)] {
                if (const std::shared_ptr<RequestState> alive = request.lock()) {
                    alive->changed();
                }
            });
        }
    }

    // Null if that takes longer.
    std::shared_ptr<const std::vector<InputResult>> wait(std::int64_t timeout_ms) {
        process_.check();
        if (!wait_until(end_of(timeout_ms), [&] { return all_ended(); })) {
            return nullptr;
        }
        const std::lock_guard lock(asked_mutex_);
        if (results_ == nullptr && failure_ == nullptr) {
            try {
                auto results = std::make_shared<std::vector<InputResult>>();
                for (const std::unique_ptr<Asked>& each : asked_) {
                    each->take(*results);
                }
                results_ = std::move(results);
            } catch (...) {
                failure_ = std::current_exception();
            }
        }
        if (failure_ != nullptr) {
            std::rethrow_exception(failure_);
        }
        return results_;
    }

    // HS_OK with the next event, HS_AGAIN or HS_END.
    hs_status next(std::int64_t timeout_ms, const Happening*& event) {
        process_.check();
        bool found = false;
        const bool in_time = wait_until(end_of(timeout_ms), [&] {
            const bool over = all_ended();  // before looking for events, which may come meanwhile
            const std::lock_guard lock(asked_mutex_);
            found = std::ranges::any_of(asked_, [&](const std::unique_ptr<Asked>& each) {
                std::optional<Happening> next = each->next();
                if (next) {
                    happening_ = std::move(*next);
                }
                return next.has_value();
            });
            return found || over;
        });
        event = &happening_;
        return !in_time ? HS_AGAIN : found ? HS_OK : HS_END;
    }

    void cancel() const {
        process_.check();
        asked_.cancel();
    }

    void on_done(std::function<void()> done) {
        process_.check();
        {
            const std::lock_guard lock(done_mutex_);
            done_ = std::move(done);
        }
        changed();
    }

    // The work ends, and no callback runs any more.
    void finish() {
        process_.check();
        {
            const std::lock_guard lock(done_mutex_);
            done_ = {};
        }
        asked_.finish();
    }

private:
    bool all_ended() {
        return std::ranges::all_of(asked_, [](const std::unique_ptr<Asked>& each) { return each->ended(); });
    }

    void changed() {
        {
            const std::lock_guard lock(mutex_);
            ++changes_;
        }
        news_.notify_all();
        if (all_ended()) {
            const std::lock_guard lock(done_mutex_);
            if (done_) {
                std::exchange(done_, {})();
            }
        }
    }

    // Looks after each change until `is_so`; false at the end of the time.
    template <class IsSo>
    bool wait_until(std::optional<Clock::time_point> end, const IsSo& is_so) {
        for (;;) {
            std::uint64_t seen = 0;
            {
                const std::lock_guard lock(mutex_);
                seen = changes_;
            }
            if (is_so()) {
                return true;
            }
            std::unique_lock lock(mutex_);
            const auto changed = [&] { return changes_ != seen; };
            if (!end) {
                news_.wait(lock, changed);
            } else if (!news_.wait_until(lock, *end, changed)) {
                return false;
            }
        }
    }

    const OwnProcess process_;
    const std::shared_ptr<Engine> engine_;
    AllAsked asked_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::uint64_t changes_ = 0;
    std::mutex done_mutex_;  // held while the user's function runs
    std::function<void()> done_;
    std::mutex asked_mutex_;  // one thread looks for events, another takes the results
    std::shared_ptr<const std::vector<InputResult>> results_;
    std::exception_ptr failure_;
    Happening happening_;  // the last event, which the caller reads
};

Terms terms_of(const ChosenOptions& chosen) {
    Terms terms{.client = chosen.text("client"), .priority = static_cast<int>(chosen.integer("priority"))};
    if (chosen.has("timeout")) {
        constexpr double kYear = 365.0 * 24 * 60 * 60;
        terms.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(std::min(chosen.number("timeout"), kYear)));
    }
    return terms;
}

std::vector<std::string> texts_of(const hs_text* texts, std::size_t count, const char* name) {
    constexpr std::size_t kMost = 100'000'000;
    if (count > 0) {
        given(texts, name);
    }
    if (count > kMost) {
        throw Failure(HS_INVALID, fmt::format("{} inputs are more than the {} of one request", count, kMost));
    }
    std::vector<std::string> copies;
    copies.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        copies.push_back(taken(texts[i], name));
    }
    return copies;
}

}  // namespace

}  // namespace headscope

struct hs_request {
    std::shared_ptr<headscope::RequestState> state;
};

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

hs_status hs_submit(hs_model* model, int32_t kind, const hs_text* inputs, const hs_text* targets, size_t count,
                    const hs_options* options, hs_request** request, hs_error** error) {
    return guarded_input(error, [&] {
        const hs_model& asked = given(model, "model");
        hs_request*& place = given(request, "the place for the request");
        const KindRow& row = kind_row(kind);
        if (!row.suits(asked.model->directory())) {
            throw Failure(HS_UNSUPPORTED, fmt::format("{} is for {}, but this is a {}", row.name, row.models,
                                                      name_of(asked.model->directory().config.architecture)));
        }
        if (targets != nullptr && !row.takes_targets) {
            throw Failure(HS_INVALID, fmt::format("{} takes no targets: leave them NULL", row.name));
        }
        const ChosenOptions chosen(options, use_of(kind));
        Submission submission{.engine = *asked.engine,
                              .model = asked.model,
                              .inputs = texts_of(inputs, count, "inputs"),
                              .targets = {},
                              .options = chosen,
                              .terms = terms_of(chosen),
                              .most = asked.most_requests};
        if (targets != nullptr) {
            submission.targets = texts_of(targets, count, "targets");
        }
        static_cast<void>(asked.engine->devices());  // HS_FORKED in a child
        auto state = make_owned<RequestState>(asked.engine, count == 0 ? AllAsked() : row.ask(submission));
        RequestState::watch(state);
        place = new hs_request{std::move(state)};
    });
}

hs_status hs_request_wait(hs_request* request, int64_t timeout_ms, hs_result** result, hs_error** error) {
    return guarded(error, [&] {
        hs_result*& place = given(result, "the place for the result");
        auto results = given(request, "request").state->wait(timeout_ms);
        if (results == nullptr) {
            return HS_AGAIN;
        }
        place = new hs_result{std::move(results)};
        return HS_OK;
    });
}

hs_status hs_request_next(hs_request* request, int64_t timeout_ms, hs_event* event, hs_error** error) {
    return guarded(error, [&] {
        hs_event& to = given(event, "event");
        require_size(to.size, offsetof(hs_event, log_probabilities) + sizeof(to.log_probabilities), "the event",
                     "hs_event");
        const Happening* next = nullptr;
        const hs_status status = given(request, "request").state->next(timeout_ms, next);
        if (status == HS_OK) {
            to.kind = next->kind;
            to.input = next->input;
            to.kept_bytes = next->kept_bytes;
            to.text = lent(next->text);
            to.kept_tokens = next->kept_tokens;
            to.token_count = next->tokens.size();
            to.tokens = next->tokens.data();
            to.log_probabilities = next->log_probabilities.data();
        }
        return status;
    });
}

void hs_request_cancel(hs_request* request) {
    guarded(nullptr, [&] { given(request, "request").state->cancel(); });
}

hs_status hs_request_on_done(hs_request* request, void (*done)(void* user), void* user, hs_error** error) {
    return guarded(error, [&] {
        given(done, "done");
        given(request, "request").state->on_done([done, user] { done(user); });
    });
}

void hs_request_free(hs_request* request) {
    if (request != nullptr) {
        guarded(nullptr, [&] { request->state->finish(); });  // HS_FORKED in a child, where nothing runs
        delete request;
    }
}
