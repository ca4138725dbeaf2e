#include "viewer/session/worker.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "explore/explorer.h"
#include "registry/registry.h"
#include "support/check.h"
#include "viewer/session/opened_model.h"

namespace headscope::viewer {

namespace {

std::shared_ptr<const ExperimentTable> shared(std::optional<ExperimentTable> table) {
    return table ? std::make_shared<const ExperimentTable>(std::move(*table)) : nullptr;
}

bool same(const std::shared_ptr<const ExperimentTable>& a, const std::shared_ptr<const ExperimentTable>& b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
}

constexpr auto kNothing = [](const NoEvent&) {};

Tag tag_of(const WorkerEvent& event) {
    return std::visit([](const auto& one) { return one.tag; }, event);
}

}  // namespace

struct Worker::Session {
    struct Model {
        ModelSource source;
        ModelSource::RunStamp stamp;             // of a training, when `run` was read
        std::shared_ptr<const TrainingRun> run;  // as last reported
        std::shared_ptr<const ExperimentTable> experiment;
        std::shared_ptr<const SharedModel> open;
    };
    std::shared_ptr<Engine> engine;
    OpenRequest opened;
    std::optional<Model> model;

    // Whether the device answers; not every backend reports its loss as DeviceLost.
    bool works() const {
        if (!model) {
            return false;
        }
        try {
            engine->run(model->open->handle, [](const Place& place) { place.backend.synchronize(); });
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }
};

Worker::Worker(std::function<void()> wake, OpenDevice open_device)
    : wake_(std::move(wake)),
      open_device_(open_device ? std::move(open_device)
                               : [](const std::string& wanted) { return headscope::open_device(wanted); }),
      thread_([this] { serve(); }) {}

Worker::~Worker() {
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
        if (stop_) {
            stop_();
        }
    }
    asked_.notify_all();
    thread_.join();
}

Tag Worker::ask(Kind kind, Job job) {
    Tag tag = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (kind == kOpen) {
            for (std::size_t other = 0; other < kKinds; ++other) {
                cancel(static_cast<Kind>(other));
            }
        } else if (kind == kExplore) {
            for (const Kind other : {kMeasure, kSaliency, kLens, kPatching, kVectors}) {
                cancel(other);
            }
        }
        cancel(kind);
        tag = newest_[kind] = ++last_tag_;
        waiting_[kind] = std::move(job);
    }
    asked_.notify_all();
    return tag;
}

void Worker::cancel(Kind kind) {
    if (stop_ && running_ == newest_[kind]) {
        stop_();
    }
    newest_[kind] = 0;
    waiting_[kind] = {};
    std::erase_if(pending_, [&](const Pending& pending) { return pending.kind == kind; });
}

Tag Worker::open(OpenRequest request) {
    return ask(kOpen,
               [this, request = std::move(request)](Session& session, Tag tag) { open_model(session, tag, request); });
}

Tag Worker::explore(ExploreRequest request) {
    return ask(kExplore, [this, request = std::move(request)](Session& session, Tag tag) {
        explore_with(session, kExplore, tag, request);
    });
}

Tag Worker::explore_original(ExploreRequest request) {
    return ask(kExploreOriginal, [this, request = std::move(request)](Session& session, Tag tag) {
        explore_with(session, kExploreOriginal, tag, request);
    });
}

Tag Worker::look_at_neuron(NeuronRequest request) {
    return ask(kNeuron, [this, request = std::move(request)](Session& session, Tag tag) {
        const auto look = [&](const Place& place) {
            return Explorer(place.backend, place.model, place.compute)
                .neuron(request.explore, request.site, request.head);
        };
        SeenNeuron seen{follow(session, kNeuron, tag, RunRequest<NeuronView>{look}, kNothing), request.explore};
        report(kNeuron, NeuronSeen{tag, std::make_shared<const SeenNeuron>(std::move(seen))});
    });
}

Tag Worker::look_inside(InsideRequest request) {
    const Kind kind = kind_of(request.view);
    return ask(kind, [this, kind, request = std::move(request)](Session& session, Tag tag) {
        SeenInside seen{.of = request, .found = {}};
        const auto answer = [&](auto engine_request) {
            seen.found = follow(session, kind, tag, std::move(engine_request), kNothing);
        };
        switch (request.view) {
            case InsideView::Saliency: answer(SaliencyRequest{request.explore}); break;
            case InsideView::Lens: answer(LensRequest{request.explore}); break;
            case InsideView::Patching:
                answer(PatchRequest{{.text = request.explore, .from = request.from, .sites = request.sites}});
                break;
            case InsideView::Vectors: {
                EmbedRequest embed{.texts = {request.explore.source}, .options = request.vectors};
                if (session.model) {
                    embed.options.languages =
                        session.model->open->handle->search_options(request.explore.search).languages;
                }
                if (!request.from.empty()) {
                    embed.texts.push_back(request.from);
                }
                seen.found = seen_vectors(follow(session, kind, tag, std::move(embed), kNothing));
                break;
            }
        }
        report(kind, InsideSeen{tag, std::make_shared<const SeenInside>(std::move(seen))});
    });
}

Tag Worker::read_weights(std::string prefix) {
    return ask(kReadWeights, [this, prefix = std::move(prefix)](Session& session, Tag tag) {
        const auto read = [&](const Place& place) { return weight_statistics(place.model.parameters(), prefix); };
        BlockWeights weights{
            prefix, follow(session, kReadWeights, tag, RunRequest<std::vector<WeightStatistics>>{read}, kNothing)};
        report(kReadWeights, WeightsRead{tag, std::make_shared<const BlockWeights>(std::move(weights))});
    });
}

Tag Worker::read_run() {
    return ask(kReadRun, [this](Session& session, Tag tag) { read_run_again(session, tag); });
}

Tag Worker::measure(ExploreRequest request) {
    return ask(kMeasure, [this, request = std::move(request)](Session& session, Tag tag) {
        const auto show = [&](const Importance& importance) {
            report(kMeasure, Measured{tag, std::make_shared<const MeasuredHeads>(MeasuredHeads{importance, request})});
        };
        show(follow(session, kMeasure, tag, ImportanceRequest{request},
                    [&](ImportanceRequest::Event event) { show(event.so_far); }));
    });
}

std::vector<WorkerEvent> Worker::poll() {
    const std::scoped_lock lock(mutex_);
    std::vector<WorkerEvent> events;
    for (Pending& pending : pending_) {
        events.push_back(std::move(pending.event));
    }
    pending_.clear();
    return events;
}

template <class Request, class Show>
typename Request::Result Worker::follow(Session& session, Kind kind, Tag tag, Request request, const Show& show) {
    if (!session.model) {
        throw Error("no model is open");
    }
    Ticket<Request> ticket = session.engine->submit(session.model->open->handle, std::move(request));
    {
        const std::scoped_lock lock(mutex_);
        running_ = tag;
        stop_ = [ticket] { ticket.cancel(); };
        if (closing_ || newest_[kind] != tag) {
            stop_();
        }
    }
    while (std::optional<typename Request::Event> event = ticket.next()) {
        show(std::move(*event));
    }
    {
        const std::scoped_lock lock(mutex_);
        stop_ = nullptr;
    }
    ticket.settle();  // it refers to what the caller holds
    return ticket.get();
}

void Worker::report(Kind kind, WorkerEvent event) {
    {
        const std::scoped_lock lock(mutex_);
        if (closing_ || newest_[kind] != tag_of(event)) {
            return;
        }
        // What is pending of this kind is an older state of the same answer.
        const auto older = std::find_if(pending_.begin(), pending_.end(),
                                        [&](const Pending& pending) { return pending.kind == kind; });
        if (older != pending_.end()) {
            older->event = std::move(event);
        } else {
            pending_.push_back({kind, std::move(event)});
        }
    }
    if (wake_) {
        wake_();
    }
}

void Worker::warn(const std::string& message) {
    {
        const std::scoped_lock lock(mutex_);
        pending_.push_back({kKinds, Warned{0, message}});
    }
    if (wake_) {
        wake_();
    }
}

void Worker::serve() {
    Session session;
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto next = [&] {
            return std::find_if(waiting_.begin(), waiting_.end(), [](const Job& job) { return job != nullptr; });
        };
        asked_.wait(lock, [&] { return closing_ || next() != waiting_.end(); });
        if (closing_) {
            return;
        }
        const auto kind = static_cast<Kind>(next() - waiting_.begin());
        const Job job = std::exchange(waiting_[kind], {});
        const Tag tag = newest_[kind];
        lock.unlock();
        run(session, kind, tag, job);
        lock.lock();
    }
}

// No exception of a request leaves the thread. A device that no longer works is closed.
void Worker::run(Session& session, Kind kind, Tag tag, const Job& job) {
    std::string message;
    try {
        job(session, tag);
        return;
    } catch (const Cancelled&) {
        return;
    } catch (const std::exception& error) {
        message = error.what();
    }
    if (session.engine && !session.works()) {
        session = {};
        message += "; open the model again";
    }
    report(kind, Failed{tag, message});
}

// Loads the model on the open device or on another one.
std::shared_ptr<const SharedModel> Worker::load(Session& session, const OpenRequest& request,
                                                const ModelSource& source) {
    if (std::shared_ptr<const SharedModel> same = request.same.lock()) {
        return same;
    }
    std::shared_ptr<Engine> engine = session.engine;
    if (!engine || session.opened.device != request.device || session.opened.precision != request.precision) {
        engine = std::make_shared<Engine>(
            EngineOptions{.devices = {request.device}, .precision = request.precision, .open_device = open_device_},
            [this](const std::string& message) { warn(message); });
    }
    // Reopening a lost device loads the same checkpoint, even if there is a newer one.
    const auto step = std::make_shared<std::optional<std::int64_t>>(request.checkpoint);
    const LoadModel load = [source, step](Backend& backend, const WeightStorage& storage) {
        ModelSource::Loaded loaded = source.load(backend, *step, storage);
        *step = loaded.step;
        return std::move(loaded.translator);
    };
    ModelHandle handle;
    try {
        handle = engine->open(load);
    } catch (const OutOfMemory&) {
        if (!session.model) {
            throw;
        }
        session.model.reset();  // both models may share their memory
        if (engine != session.engine) {
            session.engine.reset();
        }
        handle = engine->open(load);
    }
    return std::make_shared<const SharedModel>(SharedModel{std::move(engine), std::move(handle), *step});
}

void Worker::open_model(Session& session, Tag tag, const OpenRequest& request) {
    Session::Model model{ModelSource::at(request.model), {}, {}, {}, {}};
    if (model.source.has_run()) {
        model.stamp = model.source.run_stamp();  // first, so that the next read_run() sees what changes meanwhile
        model.run = std::make_shared<const TrainingRun>(model.source.run());
        try {
            model.experiment = shared(model.source.experiment());
        } catch (const Error& error) {
            warn(error.what());  // the training is whole
        }
    }
    model.open = load(session, request, model.source);
    session.engine = model.open->engine;
    session.opened = request;
    session.model = std::move(model);
    Opened opened = opened_model(tag, request, session.model->source, session.model->open);
    opened.run = session.model->run;
    opened.experiment = session.model->experiment;
    report(kOpen, std::move(opened));
}

void Worker::read_run_again(Session& session, Tag tag) {
    if (!session.model || !session.model->source.has_run()) {
        throw Error("no training is open");
    }
    Session::Model& model = *session.model;
    ModelSource::RunStamp stamp = model.source.run_stamp();
    if (stamp == model.stamp) {
        return;
    }
    TrainingRun run = model.source.run();
    std::shared_ptr<const ExperimentTable> experiment = shared(model.source.experiment());
    model.stamp = std::move(stamp);
    const bool changed = run != *model.run || !same(experiment, model.experiment);
    if (run != *model.run) {
        model.run = std::make_shared<const TrainingRun>(std::move(run));
    }
    if (changed) {
        model.experiment = std::move(experiment);
        report(kReadRun, RunRead{tag, model.run, model.experiment});
    }
}

void Worker::explore_with(Session& session, Kind kind, Tag tag, const ExploreRequest& request) {
    const auto show = [&](Exploration exploration) {
        report(kind, Explored{tag, std::make_shared<const Exploration>(std::move(exploration))});
    };
    show(follow(session, kind, tag, LookRequest{request},
                [&](LookRequest::Event event) { show(std::move(event.so_far)); }));
}

}  // namespace headscope::viewer
