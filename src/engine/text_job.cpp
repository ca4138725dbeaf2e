#include "engine/text_job.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "autograd/context.h"
#include "engine/failures.h"
#include "infer/text_report.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr std::int64_t kKnownPieces = 8;  // the most that known work writes

// A part of a line.
class PartWork final : public Work {
public:
    // The part belongs to the job.
    PartWork(TextJob& job, LinePart& part) : Work(&job), part_(&part) {}
    // Makes known work: a copy without callbacks, which belong to their request.
    PartWork(const LinePart& part) : own_(part), part_(&own_) {
        own_.sentence = {};
        own_.sentence.source_ids = part.sentence.source_ids;
        own_.task.forbidden_after = nullptr;
        own_.task.limit = std::min(own_.task.limit, std::ssize(own_.task.prefix) + kKnownPieces);
        own_.reports = false;
    }

    LinePart& part() const { return *part_; }
    AttentionObserver* observer() const { return part_ == &own_ ? nullptr : text_job().options().observer; }
    TextJob& text_job() const { return static_cast<TextJob&>(job()); }

    std::int64_t tokens() const override { return std::ssize(part_->sentence.source_ids); }
    // An observer sees all rows of a search, so it never shares one.
    bool joins(const Work& other) const override {
        const auto* more = dynamic_cast<const PartWork*>(&other);
        return more != nullptr && observer() == nullptr && more->observer() == nullptr &&
               share_batch(*part_->search, *more->part_->search);
    }
    std::int64_t most_together() const override { return text_job().options().batch_tokens; }
    std::unique_ptr<BatchSession> begin(const Place& place, std::span<Work* const> batch) override;
    std::unique_ptr<Work> known() const override { return std::make_unique<PartWork>(*part_); }
    std::int64_t written() const override { return std::ssize(part_->sentence.target_ids); }

private:
    LinePart own_;
    LinePart* const part_;
};

class PartSession final : public BatchSession {
public:
    PartSession(const Place& place, std::span<Work* const> batch, AttentionObserver* observer)
        : search_(place.model.begin(added(batch), {.search = {}, .compute = place.compute, .observer = observer})) {}

    bool step() override {
        const bool more = search_->step();
        for (const TextEvent& event : search_->take_events()) {
            works_.at(event.part)->text_job().wrote(event);
        }
        return more;
    }
    std::int64_t tokens() const override { return search_->tokens(); }
    std::vector<Work*> take_done() override {
        std::vector<Work*> done;
        for (const LinePart* part : search_->take_done()) {
            done.push_back(works_.extract(part).mapped());
        }
        return done;
    }
    void leave(Work& work) override {
        search_->leave(part_of(work));
        works_.erase(&part_of(work));
    }
    bool joins(const Work& work) const override {
        return !works_.empty() && works_.begin()->second->joins(work) && search_->joins(part_of(work));
    }
    void join(std::span<Work* const> works) override { search_->join(added(works)); }

private:
    static LinePart& part_of(const Work& work) { return static_cast<const PartWork&>(work).part(); }
    std::vector<LinePart*> added(std::span<Work* const> works) {
        std::vector<LinePart*> parts;
        for (Work* work : works) {
            parts.push_back(&part_of(*work));
            works_[parts.back()] = static_cast<PartWork*>(work);
        }
        return parts;
    }

    std::map<const LinePart*, PartWork*> works_;
    std::unique_ptr<SearchSession> search_;
};

std::unique_ptr<BatchSession> PartWork::begin(const Place& place, std::span<Work* const> batch) {
    return std::make_unique<PartSession>(place, batch, observer());
}

}  // namespace

// Passes on what the observer throws, as no other result is possible, and remembers that it was the observer. Several
// devices may work on one job, but the observer gets one call at a time. It computes on the device, so that a lost
// device or a full memory is not its fault.
class TextJob::GuardedObserver final : public AttentionObserver {
    template <class Call>
    auto guard(const Call& call) const {
        const std::lock_guard lock(mutex_);
        try {
            return call();
        } catch (...) {
            if (classify(std::current_exception()) == Fault::Request) {
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

DecodingOptions TextJob::guarded(DecodingOptions wanted) {
    if (wanted.observer != nullptr) {
        observer_ = std::make_unique<GuardedObserver>(*wanted.observer, *this);
        wanted.observer = observer_.get();
    }
    return wanted;
}

// The options are checked before queueing: an invalid one would look like a failure of the device.
TextJob::TextJob(ModelHandle asked, Terms wanted, const std::vector<SourceLine>& lines, const DecodingOptions& options,
                 bool reports)
    : Job(std::move(asked), std::move(wanted)),
      options_((check_search_options(options.search), guarded(options))),
      work_(model->directory(), lines, options_, model->longest(), TranslationWork::Order::SoonestFirst) {
    for (std::size_t batch = 0; batch < work_.batches(); ++batch) {
        std::vector<std::unique_ptr<Work>> works;
        for (LinePart* part : work_.units_of(batch)) {
            part->reports = reports;
            if (part->task.forbidden_after != nullptr) {
                part->task.forbidden_after = [this, rule = part->task.forbidden_after](const auto& written) {
                    try {
                        return rule(written);
                    } catch (...) {
                        blame(std::current_exception());
                        return std::vector<std::int32_t>();
                    }
                };
            }
            works.push_back(std::make_unique<PartWork>(*this, *part));
        }
        add_batch(std::move(works));
    }
}

TextJob::~TextJob() = default;

void TextJob::wrote(const TextEvent& /*event*/) {}

LineJob::LineJob(ModelHandle asked, Terms wanted, const TextRequest& request,
                 std::shared_ptr<Answer<TextRequest>> answer)
    : TextJob(std::move(asked), std::move(wanted), {request.line}, request.options, request.streams),
      answer_(std::move(answer)) {
    for (const Batch& batch : batches()) {
        parts_ += batch.works.size();
    }
}

void LineJob::end(const std::exception_ptr& failure) noexcept {
    try {
        failure != nullptr ? answer_->fail(failure) : answer_->give(std::move(work().next().front()));
    } catch (...) {  // the parts could not be joined
        answer_->fail(std::current_exception());
    }
}

void LineJob::wrote(const TextEvent& event) {
    told();
    if (parts_ == 1) {
        answer_->tell({event.kept_bytes, event.text, event.kept_tokens, event.tokens});
        return;
    }
    const std::lock_guard lock(mutex_);  // several devices may write parts of one line
    std::string& own = texts_[event.part->sentence.span.begin];
    own.replace(event.kept_bytes, std::string::npos, event.text);
    std::string line;
    for (const auto& [begin, part] : texts_) {
        line += (line.empty() || part.empty() ? "" : " ") + part;
    }
    const std::size_t kept = common_bytes(line, line_);
    answer_->tell({kept, line.substr(kept), 0, {}});
    line_ = std::move(line);
}

LinesJob::LinesJob(ModelHandle asked, Terms wanted, const LinesRequest& request,
                   std::shared_ptr<Answer<LinesRequest>> answer)
    : TextJob(std::move(asked), std::move(wanted), request.lines, request.options, false),
      answer_(std::move(answer)),
      counts_(request.counts) {
    answer_->tell({work().next(), work().finished()});
}

void LineJob::finished(std::size_t batch) {
    const std::lock_guard lock(mutex_);
    work().done(batch);
}

void LinesJob::finished(std::size_t batch) {
    const std::lock_guard lock(mutex_);
    work().done(batch);
    answer_->tell({work().next(), work().finished()});
}

bool LinesJob::survives(Work& failed, const std::exception_ptr& why) {
    constexpr std::size_t kAllOfFirst = 8;  // parts that fail before any succeeds: so will the others
    TextResult& sentence = static_cast<PartWork&>(failed).part().sentence;
    sentence.problem = what_of(why);
    sentence.n_best.clear();
    return ++failed_ < kAllOfFirst || state.succeeded > 0;
}

void LinesJob::end(const std::exception_ptr& failure) noexcept {
    failure != nullptr ? answer_->fail(failure) : answer_->give(work().lines());
}

namespace {

// `more` follows the first `kept` of what `begin` and `some` make together.
template <class Some>
void append(std::size_t& begin, Some& some, std::size_t kept, Some more) {
    if (kept < begin) {
        begin = kept;
        some = std::move(more);
        return;
    }
    some.resize(kept - begin);
    some.insert(some.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

void TextRequest::Event::add(Event newer) {
    append(kept_bytes, text, newer.kept_bytes, std::move(newer.text));
    append(kept_tokens, tokens, newer.kept_tokens, std::move(newer.tokens));
}

void LinesRequest::Event::add(Event newer) {
    next.insert(next.end(), std::make_move_iterator(newer.next.begin()), std::make_move_iterator(newer.next.end()));
    finished = newer.finished;
}

}  // namespace headscope
