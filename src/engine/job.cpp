#include "engine/job.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "engine/attempt.h"
#include "infer/continuation.h"

namespace headscope {

namespace {

Job::Size size_of_batch(const std::vector<LinePart*>& units) {
    Job::Size size{.rows = static_cast<std::int64_t>(units.size())};
    for (const LinePart* unit : units) {
        const auto length = static_cast<std::int64_t>(unit->sentence.source_ids.size());
        size.tokens += length;
        size.longest = std::max(size.longest, length);
    }
    return size;
}

}  // namespace

// Passes on what the observer throws, as no other result is possible, and remembers that it was the observer. Several
// devices may work on one job, but the observer gets one call at a time. It computes on the device, so that a lost
// device or a full memory is not its fault.
class Job::GuardedObserver final : public AttentionObserver {
    template <class Call>
    auto guard(const Call& call) const {
        const std::lock_guard lock(mutex_);
        try {
            return call();
        } catch (...) {
            if (!depends_on_device(std::current_exception())) {
                job_.blame(std::current_exception());
            }
            throw;
        }
    }

public:
    GuardedObserver(AttentionObserver& inner, Job& job) : inner_(inner), job_(job) {}
    bool wants(const AttentionSite& site) const override {
        return guard([&] { return inner_.wants(site); });
    }
    Tensor observe(Backend& backend, const AttentionView& view) override {
        return guard([&] { return inner_.observe(backend, view); });
    }

private:
    AttentionObserver& inner_;
    Job& job_;
    mutable std::mutex mutex_;
};

DecodingOptions Job::guarded(DecodingOptions wanted) {
    if (wanted.observer != nullptr) {
        observer_ = std::make_unique<GuardedObserver>(*wanted.observer, *this);
        wanted.observer = observer_.get();
    }
    return wanted;
}

Job::Job(const ModelDirectory& model, const std::vector<SourceLine>& lines, const DecodingOptions& wanted,
         std::int64_t longest)
    : options(guarded(wanted)), work(model, lines, options, longest, TranslationWork::Order::SoonestFirst) {
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        sizes.push_back(size_of_batch(work.units_of(batch)));
    }
}

std::exception_ptr Job::callback_failure() const {
    const std::lock_guard lock(failure_mutex_);
    return callback_failure_;
}

void Job::blame(std::exception_ptr why) {
    {
        const std::lock_guard lock(failure_mutex_);
        if (callback_failure_ == nullptr) {
            callback_failure_ = std::move(why);
        }
    }
    stop();
}

// An observer sees all rows of a search, so it never shares one. The fields are spelled out: a new one does not compile
// until somebody has decided whether it matters here.
bool Job::joins(const Job& other) const {
    const auto& [search, batch_tokens, compute, split_longer_than, warn_unsplit, rule_for, observer] = options;
    return observer == nullptr && other.options.observer == nullptr && search == other.options.search;
}

template <class Result>
Result Job::call(const std::function<Result()>& callback, Result otherwise) {
    try {
        return callback();
    } catch (...) {
        blame(std::current_exception());
        return otherwise;
    }
}

void Job::watch(const Tokenizer& tokenizer, std::function<void(const std::string& text)> on_text) {
    on_text_ = std::move(on_text);
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        for (LinePart* unit : work.units_of(batch)) {
            ++units_;
            const auto text =
                on_text_ == nullptr ? nullptr : std::make_shared<GrowingContinuation>(tokenizer, unit->task.prompt);
            unit->task.on_step = [this, text, unit](std::span<const std::int32_t> written) {
                const auto tell = [&] {
                    if (!stopped() && text != nullptr) {
                        wrote(unit->sentence.span.begin,
                              text->settled(written.subspan(std::min(unit->task.given, written.size()))));
                    }
                    return !stopped();
                };
                return call<bool>(tell, false);
            };
            if (unit->task.forbidden_after != nullptr) {
                unit->task.forbidden_after = [this, rule = unit->task.forbidden_after](const auto& written) {
                    return call<std::vector<std::int32_t>>([&] { return rule(written); }, {});
                };
            }
        }
    }
}

void Job::wrote(std::size_t place, const std::string& text) {
    const std::lock_guard lock(texts_mutex_);  // several devices may translate parts of one line
    if (units_ == 1) {
        on_text_(text);
        return;
    }
    texts_[place] = text;
    std::string line;
    for (const auto& [begin, part] : texts_) {
        line += (line.empty() || part.empty() ? "" : " ") + part;
    }
    on_text_(line);
}

}  // namespace headscope
