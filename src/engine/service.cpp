#include "engine/service.h"

#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "engine/job.h"
#include "engine/scheduler.h"

namespace headscope {

namespace {

// Makes batches smaller for few lines, so that every device gets some.
DecodingOptions shared_out(DecodingOptions options, const std::vector<SourceLine>& lines, std::size_t devices) {
    constexpr std::int64_t kBatchesPerDevice = 3;
    constexpr std::int64_t kFewest = 64;
    constexpr std::int64_t kBytesPerPiece = 4;
    std::int64_t bytes = 0;
    for (const SourceLine& line : lines) {
        bytes += static_cast<std::int64_t>(line.text.size());
    }
    const std::int64_t share = bytes / kBytesPerPiece / (kBatchesPerDevice * static_cast<std::int64_t>(devices));
    if (devices > 1) {
        options.batch_tokens = std::min(options.batch_tokens, std::max(share, kFewest));
    }
    return options;
}

std::int64_t longest_of(const std::vector<Service::Member>& members) {
    std::int64_t least = members.front().translator->longest();
    for (const Service::Member& member : members) {
        least = std::min(least, member.translator->longest());
    }
    return least;
}

}  // namespace

Service::Service(std::vector<Member> members, Warn warn, const ServiceOptions& options)
    : model_(members.at(0).translator->model()),
      longest_(longest_of(members)),
      devices_(members.size()),
      scheduler_(std::make_shared<Scheduler>(std::move(members), std::move(warn), options.most_requests)) {}

Service::Service(const Engine& engine, Warn warn, const ServiceOptions& options)
    : Service(engine.members(), std::move(warn), options) {}

Service::~Service() {
    scheduler_->close();
}

// Checked before queueing: an invalid option would look like a failure of the device.
Service::Answer Service::submit(TranslationRequest request) const {
    check_search_options(request.options.search);
    const auto job =
        std::make_shared<Job>(model_, std::vector<SourceLine>{std::move(request.line)}, request.options, longest_);
    job->watch(*model_.target_tokenizer, std::move(request.on_text));
    job->deadline = request.deadline;
    auto promise = std::make_shared<std::promise<TextResult>>();
    job->answer = [promise](Job& done) {
        try {
            if (done.failure != nullptr) {
                promise->set_exception(done.failure);
            } else {
                promise->set_value(std::move(done.work.next().front()));
            }
        } catch (...) {  // the parts could not be joined
            promise->set_exception(std::current_exception());
        }
    };
    Answer answer;
    answer.result = promise->get_future();
    answer.cancel_ = [scheduler = std::weak_ptr(scheduler_), weak = std::weak_ptr(job)] {
        const std::shared_ptr<Scheduler> open = scheduler.lock();
        const std::shared_ptr<Job> waiting = weak.lock();
        if (open != nullptr && waiting != nullptr) {
            open->end(waiting, std::make_exception_ptr(Cancelled("the request was cancelled")));
        }
    };
    scheduler_->add(job);
    return answer;
}

void Service::translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                 const ResultSink& sink) const {
    check_search_options(options.search);
    const auto job = std::make_shared<Job>(model_, lines, shared_out(options, lines, devices_), longest_);
    job->watch(*model_.target_tokenizer, {});
    scheduler_->add(job);
    scheduler_->follow(job, sink);
}

std::vector<Service::Share> Service::shares() const {
    return scheduler_->shares();
}

}  // namespace headscope
