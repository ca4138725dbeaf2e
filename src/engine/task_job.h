// A request that is one work: everything but text.
#pragma once

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/job.h"
#include "engine/requests.h"
#include "engine/ticket.h"
#include "infer/session.h"

namespace headscope {

// What a device does for a request: steps, if there are any, then the result.
template <class Request>
struct Steps {
    std::unique_ptr<WorkSession> session = nullptr;  // may be null
    std::function<typename Request::Result()> result;
};

// Tells events, as far as the caller reads them.
template <class Request>
struct Teller {
    std::function<bool()> wanted;
    std::function<void(typename Request::Event)> tell;
};

// Error for an option that is invalid or that such a model does not obey.
void require_obeyed(const FillRequest& request, const ModelDirectory& model);
void require_obeyed(const ScoreRequest& request, const ModelDirectory& model);
void require_obeyed(const EmbedRequest& request, const ModelDirectory& model);
void require_obeyed(const SaliencyRequest& request, const ModelDirectory& model);
template <class Request>
void require_obeyed(const Request& /*others have none*/, const ModelDirectory& /*model*/) {}

// Whether each step is so short that it fits into a step of another session.
template <class Request>
inline constexpr bool kShortSteps = false;
template <>
inline constexpr bool kShortSteps<FillRequest> = true;
template <>
inline constexpr bool kShortSteps<ScoreRequest> = true;
template <>
inline constexpr bool kShortSteps<EmbedRequest> = true;

std::int64_t cost_of(const FillRequest& request);
std::int64_t cost_of(const ScoreRequest& request);
std::int64_t cost_of(const LookRequest& request);
std::int64_t cost_of(const ImportanceRequest& request);
std::int64_t cost_of(const SaliencyRequest& request);
std::int64_t cost_of(const LensRequest& request);
std::int64_t cost_of(const PatchRequest& request);
std::int64_t cost_of(const EmbedRequest& request);
Steps<FillRequest> begin(const FillRequest& request, const Place& place, const Teller<FillRequest>& teller);
Steps<ScoreRequest> begin(const ScoreRequest& request, const Place& place, const Teller<ScoreRequest>& teller);
Steps<LookRequest> begin(const LookRequest& request, const Place& place, const Teller<LookRequest>& teller);
Steps<ImportanceRequest> begin(const ImportanceRequest& request, const Place& place,
                               const Teller<ImportanceRequest>& teller);
Steps<SaliencyRequest> begin(const SaliencyRequest& request, const Place& place, const Teller<SaliencyRequest>& teller);
Steps<LensRequest> begin(const LensRequest& request, const Place& place, const Teller<LensRequest>& teller);
Steps<PatchRequest> begin(const PatchRequest& request, const Place& place, const Teller<PatchRequest>& teller);
Steps<EmbedRequest> begin(const EmbedRequest& request, const Place& place, const Teller<EmbedRequest>& teller);

template <class Value>
std::int64_t cost_of(const RunRequest<Value>& request) {
    return request.tokens;
}
template <class Value>
Steps<RunRequest<Value>> begin(const RunRequest<Value>& request, const Place& place,
                               const Teller<RunRequest<Value>>& /*teller*/) {
    return {.result = [&request, place] { return request.run(place); }};
}

template <class Request>
class TaskJob final : public Job {
public:
    TaskJob(ModelHandle asked, Terms wanted, Request request, std::shared_ptr<Answer<Request>> answer)
        : Job(std::move(asked), std::move(wanted)), request_(std::move(request)), answer_(std::move(answer)) {
        require_obeyed(request_, model->directory());
        std::vector<std::unique_ptr<Work>> works;
        works.push_back(std::make_unique<Task>(*this));
        add_batch(std::move(works));
    }
    void end(const std::exception_ptr& failure) noexcept override {
        failure != nullptr ? answer_->fail(failure) : answer_->give(std::move(*result_));
    }

private:
    class Task final : public Work {
    public:
        explicit Task(TaskJob& job) : Work(&job), job_(job) {}
        std::int64_t tokens() const override { return cost_of(job_.request_); }
        bool steps() const override { return kShortSteps<Request>; }
        std::unique_ptr<BatchSession> begin(const Place& place, std::span<Work* const> /*batch*/) override {
            return std::make_unique<TaskSession>(job_, place);
        }

    private:
        TaskJob& job_;
    };
    class TaskSession final : public BatchSession {
    public:
        TaskSession(TaskJob& job, const Place& place)
            : job_(job), steps_(headscope::begin(job.request_, place, job.teller())) {}
        bool step() override {
            if (steps_.session != nullptr && steps_.session->step()) {
                return true;
            }
            job_.result_ = steps_.result();
            return false;
        }
        std::int64_t tokens() const override {
            return steps_.session == nullptr ? cost_of(job_.request_) : steps_.session->tokens();
        }

    private:
        TaskJob& job_;
        Steps<Request> steps_;
    };
    Teller<Request> teller() {
        return {.wanted = [this] { return answer_->read(); },
                .tell =
                    [this](typename Request::Event event) {
                        told();
                        answer_->tell(std::move(event));
                    }};
    }

    const Request request_;
    const std::shared_ptr<Answer<Request>> answer_;
    std::optional<typename Request::Result> result_;
};

}  // namespace headscope
