#include "viewer/session/worker.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include "explore/explorer.h"
#include "registry/registry.h"
#include "support/check.h"

namespace headscope::viewer {

namespace {

using Clock = std::chrono::steady_clock;

// Says when what grows is to be shown again: often enough for the eye, and so seldom that the copying which that takes
// stays a small part of the work.
class Pace {
public:
    bool due() const { return Clock::now() - shown_ >= std::max<Clock::duration>(kLeast, 4 * cost_); }
    template <class Show>
    void show(const Show& show) {
        const Clock::time_point start = Clock::now();
        show();
        shown_ = Clock::now();
        cost_ = shown_ - start;
    }

private:
    static constexpr std::chrono::milliseconds kLeast{15};
    Clock::time_point shown_{};
    Clock::duration cost_{};
};

std::string name_of_directory(const std::string& path) {
    const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
    return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

Tag tag_of(const News& news) {
    return std::visit([](const auto& one) { return one.tag; }, news);
}

}  // namespace

struct Worker::Session {
    struct Model {
        ModelSource source;
        std::unique_ptr<const Translator> translator;
        Explorer explorer;
        ModelSource::RunStamp stamp;             // of a training: when it was read
        std::shared_ptr<const TrainingRun> run;  // as it was told last
    };
    std::unique_ptr<Backend> backend;
    std::string device;  // as it was asked for
    std::optional<Model> model;

    ~Session() { close(); }
    void close() {
        model.reset();
        backend.reset();
    }
    // A device that is lost says so.
    bool alive() const {
        try {
            if (backend) {
                backend->synchronize();
            }
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }
    const Explorer& explorer() const {
        if (!model) {
            throw Error("no model is open");
        }
        return model->explorer;
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
                end(static_cast<Kind>(other));
            }
        } else if (kind == kExplore) {
            end(kMeasure);
        }
        end(kind);
        tag = newest_[kind] = ++last_tag_;
        waiting_[kind] = std::move(job);
    }
    asked_.notify_all();
    return tag;
}

void Worker::end(Kind kind) {
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
        NeuronView view = session.explorer().neuron(request.explore, request.site, request.head);
        tell(kNeuron, NeuronSeen{tag, std::make_shared<const NeuronView>(std::move(view))});
    });
}

Tag Worker::read_weights(std::string prefix) {
    return ask(kReadWeights, [this, prefix = std::move(prefix)](Session& session, Tag tag) {
        static_cast<void>(session.explorer());  // a model has to be open
        auto weights = weight_statistics(session.model->translator->parameters(), prefix);
        tell(kReadWeights,
             WeightsRead{tag, prefix, std::make_shared<const std::vector<WeightStatistics>>(std::move(weights))});
    });
}

Tag Worker::read_run() {
    return ask(kReadRun, [this](Session& session, Tag tag) { read_run_again(session, tag); });
}

Tag Worker::measure(ExploreRequest request) {
    return ask(kMeasure, [this, request = std::move(request)](Session& session, Tag tag) {
        const auto show = [&](const Importance& importance) {
            tell(kMeasure, Measured{tag, std::make_shared<const Importance>(importance)});
        };
        const Importance whole = session.explorer().importance(request, [&](const Importance& so_far) {
            if (!so_far.finished) {
                show(so_far);
            }
            return wanted(kMeasure, tag);
        });
        show(whole);
    });
}

std::vector<News> Worker::poll() {
    const std::scoped_lock lock(mutex_);
    std::vector<News> news;
    for (Pending& pending : pending_) {
        news.push_back(std::move(pending.news));
    }
    pending_.clear();
    return news;
}

bool Worker::wanted(Kind kind, Tag tag) {
    const std::scoped_lock lock(mutex_);
    return !closing_ && newest_[kind] == tag;
}

void Worker::tell(Kind kind, News news) {
    {
        const std::scoped_lock lock(mutex_);
        if (closing_ || newest_[kind] != tag_of(news)) {
            return;
        }
        // All that is pending of this kind is of this request, and older.
        const auto older = std::find_if(pending_.begin(), pending_.end(),
                                        [&](const Pending& pending) { return pending.kind == kind; });
        if (older != pending_.end()) {
            older->news = std::move(news);
        } else {
            pending_.push_back({kind, std::move(news)});
        }
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

// Nothing that a request throws leaves the thread. What asks a model and throws may have left the device in any state,
// and a lost one stays lost: then it is given up, and the next open() starts afresh.
void Worker::run(Session& session, Kind kind, Tag tag, const Job& job) {
    std::string message;
    bool spoilt = false;
    try {
        job(session, tag);
        return;
    } catch (const OutOfMemory& error) {
        message = error.what();
    } catch (const std::exception& error) {
        message = error.what();
        spoilt = kind != kOpen && kind != kReadRun;
    }
    if (session.backend && (spoilt || !session.alive())) {
        session.close();
        message += "; open the model again";
    }
    tell(kind, Failed{tag, message});
}

void Worker::open_model(Session& session, Tag tag, const OpenRequest& request) {
    const ModelSource source = ModelSource::at(request.model);
    std::unique_ptr<Backend> fresh;
    if (!session.backend || session.device != request.device) {
        fresh = open_device_(request.device);
    }
    Backend& backend = fresh ? *fresh : *session.backend;
    const Arithmetic arithmetic =
        arithmetic_for(backend, request.precision, std::string("the precision ") + name_of(request.precision));
    ModelSource::Loaded loaded;
    try {
        loaded = source.load(backend, request.checkpoint, arithmetic.storage);
    } catch (const OutOfMemory&) {
        if (!session.model) {
            throw;
        }
        session.model.reset();  // without it there may be room
        loaded = source.load(backend, request.checkpoint, arithmetic.storage);
    }
    Opened opened{.tag = tag,
                  .path = request.model,
                  .name = name_of_directory(request.model),
                  .checkpoint = loaded.step,
                  .config = loaded.translator->model().config,
                  .parameters = loaded.translator->parameters().count(),
                  .device = backend.device().id,
                  .device_name = backend.device().name,
                  .arithmetic = name_of(arithmetic),
                  .run = {}};
    ModelSource::RunStamp stamp;
    if (source.kind() == ModelSource::Kind::Training) {
        stamp = source.run_stamp();  // before it is read: what comes between is found the next time
        opened.run = std::make_shared<const TrainingRun>(source.run());
    }
    session.model.reset();
    if (fresh) {
        session.backend = std::move(fresh);
        session.device = request.device;
    }
    const Translator& translator = *loaded.translator;
    session.model.emplace(Session::Model{source, std::move(loaded.translator),
                                         Explorer(*session.backend, translator, arithmetic.compute), std::move(stamp),
                                         opened.run});
    tell(kOpen, std::move(opened));
}

void Worker::read_run_again(Session& session, Tag tag) {
    if (!session.model || session.model->source.kind() != ModelSource::Kind::Training) {
        throw Error("no training is open");
    }
    Session::Model& model = *session.model;
    ModelSource::RunStamp stamp = model.source.run_stamp();
    if (stamp == model.stamp) {
        return;
    }
    TrainingRun run = model.source.run();
    model.stamp = std::move(stamp);
    if (run != *model.run) {
        model.run = std::make_shared<const TrainingRun>(std::move(run));
        tell(kReadRun, RunRead{tag, model.run});
    }
}

void Worker::explore_with(Session& session, Kind kind, Tag tag, const ExploreRequest& request) {
    const auto show = [&](Exploration exploration) {
        tell(kind, Explored{tag, std::make_shared<const Exploration>(std::move(exploration))});
    };
    Pace pace;
    Exploration whole = session.explorer().explore(request, [&](const Explorer::Snapshot& so_far) {
        if (!wanted(kind, tag)) {
            return false;
        }
        if (pace.due()) {
            pace.show([&] { show(so_far()); });
        }
        return true;
    });
    show(std::move(whole));
}

}  // namespace headscope::viewer
