#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "registry/registry.h"
#include "support/check.h"

namespace headscope {

// An error that all devices share, such as an unreadable model, is not the devices' fault and is thrown as it is.
void Engine::fail(const std::vector<Skipped>& all) {
    if (all.empty()) {
        throw Error("no device to work on; headscope devices lists the devices and why they cannot be used");
    }
    const std::string first = what_of(all.front().why);
    if (std::ranges::all_of(all, [&](const Skipped& each) { return what_of(each.why) == first; })) {
        std::rethrow_exception(all.front().why);
    }
    std::string reasons;
    for (const Skipped& each : all) {
        reasons += fmt::format("\n  {}: {}", each.id, what_of(each.why));
    }
    throw Error("none of the devices can be used:" + reasons);
}

void Engine::report_skipped(const std::vector<Skipped>& skipped) const {
    for (const Skipped& each : skipped) {
        scheduler_->report(fmt::format("skipping {}: {}", each.id, what_of(each.why)));
    }
}

namespace {

class TokeniseJob final : public Job {
public:
    TokeniseJob(ModelHandle asked, Terms wanted, const TokeniseRequest& request,
                std::shared_ptr<Answer<TokeniseRequest>> answer)
        : Job(std::move(asked), std::move(wanted)), answer_(std::move(answer)) {
        const Tokenizer& tokenizer = *model->directory().source_tokenizer;
        result_.ids = tokenizer.encode(request.text);
        for (const std::int32_t id : result_.ids) {
            result_.pieces.push_back(tokenizer.piece(id));
        }
    }
    void end(const std::exception_ptr& failure) noexcept override {
        failure != nullptr ? answer_->fail(failure) : answer_->give(std::move(result_));
    }

private:
    const std::shared_ptr<Answer<TokeniseRequest>> answer_;
    TokeniseRequest::Result result_;
};

}  // namespace

Engine::Engine(EngineOptions options, Log log) : scheduler_(make_owned<Scheduler>(options.bounds, std::move(log))) {
    const Device::Open open = options.open_device ? options.open_device : [open = options.open](const std::string& id) {
        return open_device(id, open);
    };
    std::vector<Skipped> skipped;
    for (const std::string& id : options.devices) {
        try {
            scheduler_->add_device(id, options.precision, open);
        } catch (const Error&) {
            if (!options.skip_unusable && classify(std::current_exception()) == Fault::Request) {
                throw;
            }
            skipped.push_back({id, std::current_exception()});
        }
    }
    if (skipped.size() == options.devices.size()) {
        fail(skipped);
    }
    report_skipped(skipped);
}

Engine::~Engine() {
    if (!process_.left()) {
        scheduler_->close();
    }
}

std::shared_ptr<OpenModel> Engine::opened(LoadModel load) const {
    const auto model =
        std::make_shared<OpenModel>(std::move(load), [scheduler = std::weak_ptr(scheduler_), process = process_] {
            const std::shared_ptr<Scheduler> open = process.left() ? nullptr : scheduler.lock();
            if (open != nullptr) {
                open->look_for_free_models();
            }
        });
    load_everywhere(model, [&, first = true](const LoadedModel& loaded) mutable {
        if (std::exchange(first, false)) {
            model->describe(loaded);
        }
    });
    for (const std::string& remark : model->directory().remarks) {
        scheduler_->report(remark);
    }
    return model;
}

void Engine::load_everywhere(const ModelHandle& model,
                             const std::function<void(const LoadedModel& loaded)>& look) const {
    std::vector<Skipped> skipped;
    const std::vector<DeviceUse> devices = scheduler_->uses();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        try {
            scheduler_->load_on(i, model, look);
        } catch (const Error&) {
            skipped.push_back({devices[i].info.id, std::current_exception()});
        }
    }
    if (skipped.size() == devices.size()) {
        fail(skipped);
    }
    report_skipped(skipped);
}

ModelHandle Engine::open(LoadModel load) {
    process_.check();
    return opened(std::move(load));
}

ModelHandle Engine::open(const std::vector<std::string>& directories) {
    process_.check();
    const std::lock_guard lock(mutex_);
    std::weak_ptr<OpenModel>& known = open_[directories];
    if (const std::shared_ptr<OpenModel> open = known.lock(); open != nullptr && !open->unloaded()) {
        return open;
    }
    const std::shared_ptr<OpenModel> fresh = opened([directories](Backend& backend, const WeightStorage& storage) {
        return std::make_unique<const LoadedModel>(backend, directories, storage);
    });
    known = fresh;
    return fresh;
}

ModelHandle Engine::swap(const ModelHandle& old, const std::vector<std::string>& directories) {
    process_.check();
    ModelHandle next = opened([directories](Backend& backend, const WeightStorage& storage) {
        return std::make_unique<const LoadedModel>(backend, directories, storage);
    });
    const ModelHandle replaced = UsedModel(old).handle();
    replaced->set_successor(next);
    replaced->set_unloaded(true);
    return next;
}

void Engine::unload(const ModelHandle& model) {
    process_.check();
    UsedModel(model).handle()->set_unloaded(true);
}

void Engine::load(const ModelHandle& model) {
    process_.check();
    const ModelHandle wanted = UsedModel(model).handle();
    wanted->set_unloaded(false);
    load_everywhere(wanted, [](const LoadedModel&) {});
}

void Engine::run(const ModelHandle& model, const std::function<void(const Place& place)>& work) {
    Ticket<RunRequest<bool>> ticket = submit(model, RunRequest<bool>{.run = [&](const Place& place) {
                                                 work(place);
                                                 return true;
                                             }});
    try {
        ticket.get();
    } catch (...) {
        ticket.settle();
        throw;
    }
}

bool Engine::drain(std::chrono::milliseconds longest) {
    process_.check();
    return scheduler_->drain(longest);
}

void Engine::close() {
    process_.check();
    scheduler_->close();
}

std::vector<DeviceUse> Engine::devices() const {
    process_.check();
    return scheduler_->uses();
}

EngineStatistics Engine::statistics() const {
    process_.check();
    return scheduler_->statistics();
}

std::shared_ptr<Job> Engine::job_for(ModelHandle model, const TextRequest& request, Terms terms,
                                     std::shared_ptr<Answer<TextRequest>> answer) {
    return std::make_shared<LineJob>(std::move(model), std::move(terms), request, std::move(answer));
}

std::shared_ptr<Job> Engine::job_for(ModelHandle model, const LinesRequest& request, Terms terms,
                                     std::shared_ptr<Answer<LinesRequest>> answer) {
    return std::make_shared<LinesJob>(std::move(model), std::move(terms), request, std::move(answer));
}

std::shared_ptr<Job> Engine::job_for(ModelHandle model, const TokeniseRequest& request, Terms terms,
                                     std::shared_ptr<Answer<TokeniseRequest>> answer) {
    return std::make_shared<TokeniseJob>(std::move(model), std::move(terms), request, std::move(answer));
}

std::function<void()> Engine::canceller(const std::shared_ptr<Job>& job) const {
    return [scheduler = std::weak_ptr(scheduler_), weak = std::weak_ptr(job)] {
        const std::shared_ptr<Scheduler> open = scheduler.lock();
        const std::shared_ptr<Job> waiting = weak.lock();
        if (open != nullptr && waiting != nullptr) {
            open->end(waiting, std::make_exception_ptr(Cancelled("the request was cancelled")));
        }
    };
}

std::function<void()> Engine::settler(const std::shared_ptr<Job>& job) const {
    return [scheduler = std::weak_ptr(scheduler_), weak = std::weak_ptr(job)] {
        const std::shared_ptr<Scheduler> open = scheduler.lock();
        const std::shared_ptr<Job> job_left = weak.lock();
        if (open != nullptr && job_left != nullptr) {
            open->settle(*job_left);
        }
    };
}

}  // namespace headscope
