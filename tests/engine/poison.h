// Requests that fail: by their callbacks, or because a device cannot do them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "autograd/context.h"
#include "backend/ops/embedding.h"
#include "crew.h"

namespace headscope {

// A word of the tiny vocabulary. Devices here cannot do sources that contain it.
inline const std::string kPoison = "small";
inline const std::string kPoisonous = "the " + kPoison + " dog sleeps";

// A device that fails at sources with the poison; `fail` throws. After DeviceLost, it fails at everything.
class PoisonedBackend final : public ForwardingBackend {
public:
    PoisonedBackend(std::unique_ptr<Backend> inner, std::function<void()> fail)
        : ForwardingBackend(std::move(inner)), fail_(std::move(fail)) {
        const std::unique_ptr<Backend> cpu = open_device("cpu");
        poison_ = tiny_translator(*cpu).model().source_tokenizer->encode(kPoison);
    }
    Tensor empty(const Shape& shape, DType dtype) override {
        check_present();
        return ForwardingBackend::empty(shape, dtype);
    }
    void upload(const Tensor& to, const void* from, std::size_t bytes) override {
        check_present();
        ForwardingBackend::upload(to, from, bytes);
    }
    void download(const Tensor& from, void* to, std::size_t bytes) override {
        check_present();
        ForwardingBackend::download(from, to, bytes);
    }
    void synchronize() override {
        check_present();
        ForwardingBackend::synchronize();
    }
#define HEADSCOPE_DEFINE(Op)          \
    void run(const Op& op) override { \
        check_present();              \
        look_at(op);                  \
        ForwardingBackend::run(op);   \
    }
    HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE
    int failures() const {
        return failures_;
    }
    std::int64_t largest_batch() const {
        return largest_batch_;
    }  // that it failed at

private:
    void check_present() const {
        if (lost_) {
            throw DeviceLost("the device hung before");
        }
    }
    template <class Op>
    void look_at(const Op& /*op*/) {}
    void look_at(const Embed& op) {
        if (op.ids.dim(1) == 1) {  // the step of a search
            return;
        }
        const std::vector<std::int32_t> ids = to_host<std::int32_t>(*this, op.ids);
        if (std::search(ids.begin(), ids.end(), poison_.begin(), poison_.end()) != ids.end()) {
            ++failures_;
            largest_batch_ = std::max(largest_batch_, op.ids.dim(0));
            try {
                fail_();
            } catch (const DeviceLost&) {
                lost_ = true;
                throw;
            }
        }
    }

    std::function<void()> fail_;
    std::vector<std::int32_t> poison_;
    int failures_ = 0;
    std::int64_t largest_batch_ = 0;
    bool lost_ = false;
};

// Is lost at sources with the poison, and opened again.
struct Losing {
    std::unique_ptr<Backend> open() {
        ++opened;
        auto gated = std::make_unique<GatedBackend>(open_device("cpu"), waits_for, opens);
        return std::make_unique<PoisonedBackend>(std::move(gated), [this] {
            meanwhile();
            throw DeviceLost("the device hung");
        });
    }
    void join(Crew& crew) {
        crew.add(Crew::Open([this] { return open(); }));
    }
    Team team() {
        join(crew_);
        crew_.warn = [](const std::string&) {};
        return crew_.team();
    }
    Gate* waits_for = nullptr;  // as for GatedBackend
    Gate* opens = nullptr;
    std::function<void()> meanwhile = [] {};  // called before it is lost
    int opened = 0;
    Crew crew_ = {};
};

// What devices throw.
struct DeviceFault {
    std::string name;
    std::function<void()> fail;
};
inline std::vector<DeviceFault> device_faults() {
    return {{"too little memory", [] { throw OutOfMemory("no memory for this"); }},
            {"too little memory of the host", [] { throw std::bad_alloc(); }},
            {"an error", [] { throw Error("the device cannot do this"); }},
            {"a bug", [] { throw CheckFailure("a broken invariant"); }},
            {"an exception of another type", [] { throw 42; }}};
}

// Looks at all weights; `each` may throw, and what it returns replaces them.
class WatchingObserver final : public AttentionObserver {
public:
    using Each = std::function<Tensor(Backend& backend, const AttentionView& view)>;
    explicit WatchingObserver(Each each) : each_(std::move(each)) {}
    bool wants(const AttentionSite& /*site*/) const override { return true; }
    Tensor observe(Backend& backend, const AttentionView& view) override {
        largest_batch_ = std::max(largest_batch_, view.weights.dim(0));
        return each_(backend, view);
    }
    std::int64_t largest_batch() const { return largest_batch_; }

private:
    Each each_;
    std::int64_t largest_batch_ = 0;
};

// An observer that refuses to be asked.
class UnwillingObserver final : public AttentionObserver {
public:
    bool wants(const AttentionSite& /*site*/) const override { throw std::runtime_error("poison"); }
    Tensor observe(Backend& /*backend*/, const AttentionView& view) override { return view.weights; }
};

// Requests whose callbacks throw.
struct BadCallback {
    std::string name;
    std::function<void(TextRequest& request)> set;
};
inline std::vector<BadCallback> bad_callbacks() {
    static WatchingObserver throwing(
        [](Backend&, const AttentionView&) -> Tensor { throw std::runtime_error("poison"); });
    static UnwillingObserver unwilling;
    const auto rule = [](std::string_view) {
        return
            [](const std::vector<std::int32_t>&) -> std::vector<std::int32_t> { throw std::runtime_error("poison"); };
    };
    return {
        {"an observer throws", [](TextRequest& request) { request.options.observer = &throwing; }},
        {"an observer throws when it is asked", [](TextRequest& request) { request.options.observer = &unwilling; }},
        {"a rule throws", [rule](TextRequest& request) { request.options.rule_for = rule; }}};
}

// Greedy, which is fast.
inline TextRequest request_for(const std::string& text) {
    return {.line = {.text = text, .number = 1}, .options = {.search = {.beam = 1}}};
}

// Sends poisoned requests among healthy ones, one per line up to `most`, from several threads, and counts what comes
// back.
struct Answers {
    int right = 0;
    int wrong = 0;     // a healthy request with another text, a problem or an exception
    int failed = 0;    // poisoned requests that ended with an exception
    int survived = 0;  // poisoned requests with a translation
};
inline Answers answers_of(const Team& team, const std::function<TextRequest()>& poisoned, std::size_t most) {
    constexpr std::size_t kThreads = 4;
    std::vector<SourceLine> lines;
    std::ranges::copy_if(many_lines(), std::back_inserter(lines),
                         [](const SourceLine& line) { return line.text.find(kPoison) == std::string::npos; });
    lines.resize(std::min(lines.size(), most));
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const std::vector<TextResult> wanted = tiny_translator(*cpu).translate(lines, request_for("").options);
    std::mutex mutex;
    Answers all;
    const auto ask = [&](std::size_t thread) {
        std::vector<std::pair<std::size_t, Ticket<TextRequest>>> open;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            open.emplace_back(i, team.submit(request_for(lines[i].text)));
            if (i % 7 == thread) {
                open.emplace_back(lines.size(), team.submit(poisoned()));
            }
        }
        for (auto& [line, answer] : open) {
            const bool healthy = line < lines.size();
            bool thrown = false;
            std::string text;
            try {
                text = answer.get().text;
            } catch (...) {
                thrown = true;
            }
            const std::lock_guard lock(mutex);
            if (healthy) {
                ++(!thrown && text == wanted[line].text ? all.right : all.wrong);
            } else {
                ++(thrown ? all.failed : all.survived);
            }
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back(ask, thread);
    }
    std::ranges::for_each(threads, [](std::thread& thread) { thread.join(); });
    return all;
}

}  // namespace headscope
