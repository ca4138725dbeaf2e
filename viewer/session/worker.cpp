#include "viewer/session/worker.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include "explore/explorer.h"
#include "model/family.h"
#include "registry/registry.h"
#include "support/check.h"
#include "trees/tree_vocabulary.h"

namespace headscope::viewer {

namespace {

using Clock = std::chrono::steady_clock;

// Decides when to show a partial result again: at most every kLeast, and rarely enough that copying it takes at most a
// fifth of the time.
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

std::shared_ptr<const ExperimentTable> shared(std::optional<ExperimentTable> table) {
    return table ? std::make_shared<const ExperimentTable>(std::move(*table)) : nullptr;
}

bool same(const std::shared_ptr<const ExperimentTable>& a, const std::shared_ptr<const ExperimentTable>& b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// A parser reads whole sentences.
std::shared_ptr<const TextParts> parts_for(const LoadedModel& translator) {
    const bool translates = traits(translator.model().config.architecture).reads_source &&
                            !terminals_in(*translator.model().target_tokenizer).has_value();
    return translates ? std::make_shared<const TextParts>(translator) : nullptr;
}

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
    };
    std::unique_ptr<ModelDevice> device;
    OpenRequest opened;
    std::optional<Model> model;

    // Runs `look`. If the device is lost, starts `look` again on the reopened one.
    void run(const std::function<void(const Explorer& explorer, const Parameters& parameters)>& look) const {
        if (!device) {
            throw Error("no model is open");
        }
        device->run([&](Backend& backend, const LoadedModel& translator) {
            look(Explorer(backend, translator, device->arithmetic().compute), translator.parameters());
        });
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
                cancel(static_cast<Kind>(other));
            }
        } else if (kind == kExplore) {
            cancel(kMeasure);
        }
        cancel(kind);
        tag = newest_[kind] = ++last_tag_;
        waiting_[kind] = std::move(job);
    }
    asked_.notify_all();
    return tag;
}

void Worker::cancel(Kind kind) {
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
        session.run([&](const Explorer& explorer, const Parameters&) {
            NeuronView view = explorer.neuron(request.explore, request.site, request.head);
            report(kNeuron,
                   NeuronSeen{tag, std::make_shared<const SeenNeuron>(SeenNeuron{std::move(view), request.explore})});
        });
    });
}

Tag Worker::read_weights(std::string prefix) {
    return ask(kReadWeights, [this, prefix = std::move(prefix)](Session& session, Tag tag) {
        session.run([&](const Explorer&, const Parameters& parameters) {
            report(kReadWeights, WeightsRead{tag, std::make_shared<const BlockWeights>(
                                                      BlockWeights{prefix, weight_statistics(parameters, prefix)})});
        });
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
        session.run([&](const Explorer& explorer, const Parameters&) {
            const Importance whole = explorer.importance(request, [&](const Importance& so_far) {
                if (!so_far.finished) {
                    show(so_far);
                }
                return wanted(kMeasure, tag);
            });
            show(whole);
        });
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

bool Worker::wanted(Kind kind, Tag tag) {
    const std::scoped_lock lock(mutex_);
    return !closing_ && newest_[kind] == tag;
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

namespace {

// False after a loss, which not every backend reports as DeviceLost.
bool works(const ModelDevice& device) {
    try {
        device.translator();
        device.backend().synchronize();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

// No exception of a request leaves the thread. An error while a model runs may leave the device in any state: it is
// closed, unless it only ran out of memory.
void Worker::run(Session& session, Kind kind, Tag tag, const Job& job) {
    std::string message;
    bool unusable = false;
    try {
        job(session, tag);
        return;
    } catch (const OutOfMemory& error) {
        message = error.what();
    } catch (const std::exception& error) {
        message = error.what();
        unusable = kind != kOpen && kind != kReadRun;
    }
    if (session.device && (unusable || !works(*session.device))) {
        session = {};
        message += "; open the model again";
    }
    report(kind, Failed{tag, message});
}

void Worker::open_model(Session& session, Tag tag, const OpenRequest& request) {
    Session::Model model{ModelSource::at(request.model), {}, {}, {}};
    if (model.source.has_run()) {
        model.stamp = model.source.run_stamp();  // first, so that the next read_run() sees what changes meanwhile
        model.run = std::make_shared<const TrainingRun>(model.source.run());
        try {
            model.experiment = shared(model.source.experiment());
        } catch (const Error& error) {
            warn(error.what());  // the training is whole
        }
    }
    std::unique_ptr<ModelDevice> fresh;
    if (!session.device || session.opened.device != request.device || session.opened.precision != request.precision) {
        fresh = std::make_unique<ModelDevice>(request.device, request.precision, open_device_,
                                              [this](const std::string& message) { warn(message); });
    }
    ModelDevice& device = fresh ? *fresh : *session.device;
    // Reopening a lost device loads the same checkpoint, even if there is a newer one.
    const auto step = std::make_shared<std::optional<std::int64_t>>(request.checkpoint);
    const ModelDevice::Load load = [source = model.source, step](Backend& backend, DType storage) {
        ModelSource::Loaded loaded = source.load(backend, *step, storage);
        *step = loaded.step;
        return std::move(loaded.translator);
    };
    try {
        device.load(load);
    } catch (const OutOfMemory&) {
        if (!fresh || !session.device) {
            throw;
        }
        session = {};  // both devices may share their memory
        device.load(load);
    }
    for (const std::string& remark : device.translator().model().remarks) {
        warn(remark);
    }
    if (fresh) {
        session.device = std::move(fresh);
    }
    session.opened = request;
    session.model = std::move(model);
    report(kOpen, Opened{.tag = tag,
                         .path = request.model,
                         .name = name_of_directory(session.model->source.has_run() ? session.model->source.folder()
                                                                                   : request.model),
                         .checkpoint = *step,
                         .config = device.translator().model().config,
                         .tokenizer = device.translator().model().target_tokenizer->type(),
                         .terminals = terminals_in(*device.translator().model().target_tokenizer),
                         .parts = parts_for(device.translator()),
                         .parameters = device.translator().parameters().count(),
                         .device = device.info().id,
                         .device_name = device.info().name,
                         .arithmetic = name_of(device.arithmetic()),
                         .run = session.model->run,
                         .experiment = session.model->experiment});
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
    Pace pace;
    session.run([&](const Explorer& explorer, const Parameters&) {
        Exploration whole = explorer.explore(request, [&](const Explorer::Snapshot& so_far) {
            if (!wanted(kind, tag)) {
                return false;
            }
            if (pace.due()) {
                pace.show([&] { show(so_far()); });
            }
            return true;
        });
        show(std::move(whole));
    });
}

}  // namespace headscope::viewer
