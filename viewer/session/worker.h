// A thread that asks an engine for what the window wants: of each kind only the newest. The window polls for results.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "engine/engine.h"
#include "explore/activation_patching.h"
#include "explore/exploration.h"
#include "explore/lens.h"
#include "explore/saliency.h"
#include "explore/weight_statistics.h"
#include "train/model_source.h"
#include "trees/linearised.h"
#include "viewer/session/seen_vectors.h"
#include "viewer/session/text_parts.h"

namespace headscope::viewer {

// A model that a worker has open.
struct SharedModel {
    std::shared_ptr<Engine> engine;
    ModelHandle handle;
    std::optional<std::int64_t> step;  // of the checkpoint
};

struct OpenRequest {
    std::string model;                            // a model directory, or the folder of a training or experiment
    std::optional<std::int64_t> checkpoint = {};  // of a training; empty: the newest
    std::string device = {};                      // like --device; empty: the default
    Precision precision = Precision::F32;
    std::weak_ptr<const SharedModel> same = {};  // the same model of another worker, which is not loaded again
};
struct NeuronRequest {
    ExploreRequest explore;  // with a target
    AttentionSite site;
    int head = 1;  // from 1
};
// What to look at behind a text and its output.
enum class InsideView : std::uint8_t { Saliency, Lens, Patching, Vectors };
constexpr std::size_t kInsideViews = 4;
constexpr std::size_t index_of(InsideView view) {
    return static_cast<std::size_t>(view);
}
struct InsideRequest {
    InsideView view = InsideView::Saliency;
    ExploreRequest explore;  // with a target; of Vectors the text alone
    std::string from = {};   // another text: to take values from, for Patching; "" without one for Vectors
    std::string sites = {};  // where, see model/sites.h
    VectorOptions vectors = {};
    bool operator==(const InsideRequest&) const = default;
};

// Results with what they are of.
struct MeasuredHeads : Importance {
    ExploreRequest of = {};  // with a target
};
struct SeenNeuron : NeuronView {
    ExploreRequest of = {};  // with a target
};
struct SeenInside {
    InsideRequest of;
    std::variant<Saliency, Lens, PatchEffects, SeenVectors> found;
};
struct BlockWeights {
    std::string block;  // the prefix of its parameters
    std::vector<WeightStatistics> statistics;
};

using Tag = std::uint64_t;  // identifies a request; never 0

// What a worker reports, each with the tag of its request.
struct Opened {
    Tag tag = 0;
    std::string path;  // as requested
    std::string name;  // of the directory
    std::optional<std::int64_t> checkpoint;
    ModelConfig config;
    TokenizerType tokenizer = TokenizerType::Bpe;  // of the target
    std::optional<Terminals> terminals = {};       // of the trees that it writes; empty: it writes none
    std::string no_chat = {};                      // why it cannot talk; empty if it has a chat template
    std::string repeated = {};                     // repeated_text(); empty if the model has none
    std::shared_ptr<const TextParts> parts = {};   // splits long texts; null for a model that does not translate
    std::int64_t parameters = 0;
    std::string device;                                      // "vulkan:0"
    std::string device_name;                                 // "NVIDIA H100"
    std::string arithmetic;                                  // "F32", "BF16 products"
    std::shared_ptr<const TrainingRun> run;                  // of a training
    std::shared_ptr<const ExperimentTable> experiment = {};  // that the training is a trial of
    std::weak_ptr<const SharedModel> shared = {};            // for other workers; the worker keeps it
};
struct Explored {
    Tag tag = 0;
    std::shared_ptr<const Exploration> exploration;  // reported repeatedly until it is `finished`
};
struct Measured {
    Tag tag = 0;
    std::shared_ptr<const MeasuredHeads> importance;  // reported repeatedly until it is `finished`
};
struct NeuronSeen {
    Tag tag = 0;
    std::shared_ptr<const SeenNeuron> view;
};
struct InsideSeen {
    Tag tag = 0;
    std::shared_ptr<const SeenInside> view;
};
struct WeightsRead {
    Tag tag = 0;
    std::shared_ptr<const BlockWeights> weights;
};
struct RunRead {
    Tag tag = 0;
    std::shared_ptr<const TrainingRun> run;
    std::shared_ptr<const ExperimentTable> experiment = {};
};
struct Failed {
    Tag tag = 0;
    std::string message;
};
struct Warned {   // a lost device was opened again
    Tag tag = 0;  // of no request
    std::string message;
};
using WorkerEvent =
    std::variant<Opened, Explored, Measured, NeuronSeen, InsideSeen, WeightsRead, RunRead, Failed, Warned>;

// Only the destructor waits for the thread.
class Worker {
public:
    using Tag = viewer::Tag;
    using OpenDevice = Device::Open;

    // The thread calls `wake` when poll() has something new; it must not throw. An empty `open_device` opens devices of
    // the registry.
    explicit Worker(std::function<void()> wake, OpenDevice open_device = {});
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    // Stops the thread after its current token and waits for it.
    ~Worker();

    // A new request replaces a waiting or running one of the same kind, which reports nothing more. Waiting requests
    // run in the order of this list.
    // open() also cancels all requests before it. If it fails, the previous model stays open, unless its device was
    // lost or had no memory for both.
    Tag open(OpenRequest request);
    Tag explore(ExploreRequest request);           // also cancels measure() and look_inside()
    Tag explore_original(ExploreRequest request);  // a separate kind: the same without edits, for comparison
    Tag look_at_neuron(NeuronRequest request);
    Tag look_inside(InsideRequest request);  // each view is a kind of its own
    Tag read_weights(std::string prefix);    // of the parameters whose names start with it
    // Reads the open training's checkpoints, losses and experiment again. Reports nothing if they have not changed.
    Tag read_run();
    Tag measure(ExploreRequest request);  // importance of all heads; the request needs a target

    // What was reported since the last call; of partial results only the newest.
    std::vector<WorkerEvent> poll();

private:
    enum Kind : std::size_t {
        kOpen,
        kExplore,
        kExploreOriginal,
        kNeuron,
        kSaliency,
        kLens,
        kPatching,
        kVectors,
        kReadWeights,
        kReadRun,
        kMeasure,
        kKinds
    };
    struct Session;  // the open model and its engine; only the thread uses it
    using Job = std::function<void(Session&, Tag)>;

    static Kind kind_of(InsideView view) { return static_cast<Kind>(kSaliency + index_of(view)); }
    Tag ask(Kind kind, Job job);
    void cancel(Kind kind);  // with mutex_ held
    void serve();
    void run(Session& session, Kind kind, Tag tag, const Job& job);
    void report(Kind kind, WorkerEvent event);
    void warn(const std::string& message);

    void open_model(Session& session, Tag tag, const OpenRequest& request);
    std::shared_ptr<const SharedModel> load(Session& session, const OpenRequest& request, const ModelSource& source);
    void read_run_again(Session& session, Tag tag);
    // The result of a request, with what it tells meanwhile. Throws Cancelled if a newer one has come.
    template <class Request, class Show>
    typename Request::Result follow(Session& session, Kind kind, Tag tag, Request request, const Show& show);
    void explore_with(Session& session, Kind kind, Tag tag, const ExploreRequest& request);

    const std::function<void()> wake_;
    const OpenDevice open_device_;
    std::mutex mutex_;  // guards all members below
    std::condition_variable asked_;
    std::array<Job, kKinds> waiting_;
    std::array<Tag, kKinds> newest_{};  // of each kind; 0: cancelled
    Tag running_ = 0;                   // what the thread waits for
    std::function<void()> stop_;        // cancels that
    struct Pending {
        Kind kind;
        WorkerEvent event;
    };
    std::vector<Pending> pending_;
    Tag last_tag_ = 0;
    bool closing_ = false;
    std::thread thread_;  // last: starts when the other members exist
};

}  // namespace headscope::viewer
