// The thread that asks a model: it owns a device and what is loaded there. The window only leaves requests, and takes
// what is new.
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

#include "engine/model_device.h"
#include "explore/exploration.h"
#include "explore/weight_statistics.h"
#include "train/model_source.h"

namespace headscope::viewer {

struct OpenRequest {
    std::string model;                            // a model directory, or the folder of a training
    std::optional<std::int64_t> checkpoint = {};  // of a training; none: the newest
    std::string device = {};                      // as --device; empty: the default
    Precision precision = Precision::F32;
};
struct NeuronRequest {
    ExploreRequest explore;  // with a target
    AttentionSite site;
    int head = 1;  // from 1
};

using Tag = std::uint64_t;  // tells requests apart; never 0

// What a worker tells, each with the tag of its request.
struct Opened {
    Tag tag = 0;
    std::string path;  // as asked for
    std::string name;  // of the directory
    std::optional<std::int64_t> checkpoint;
    ModelConfig config;
    std::int64_t parameters = 0;
    std::string device;                      // "vulkan:0"
    std::string device_name;                 // the device's own
    std::string arithmetic;                  // "F32", "BF16 products"
    std::shared_ptr<const TrainingRun> run;  // of a training
};
struct Explored {
    Tag tag = 0;
    std::shared_ptr<const Exploration> exploration;  // grows until it has `finished`
};
struct Measured {
    Tag tag = 0;
    std::shared_ptr<const Importance> importance;  // grows until it has `finished`
};
struct NeuronSeen {
    Tag tag = 0;
    std::shared_ptr<const NeuronView> view;
};
struct WeightsRead {
    Tag tag = 0;
    std::string prefix;  // as asked for
    std::shared_ptr<const std::vector<WeightStatistics>> weights;
};
struct RunRead {
    Tag tag = 0;
    std::shared_ptr<const TrainingRun> run;
};
struct Failed {
    Tag tag = 0;
    std::string message;
};
struct Warned {   // a lost device was opened again
    Tag tag = 0;  // of no request
    std::string message;
};
using News = std::variant<Opened, Explored, Measured, NeuronSeen, WeightsRead, RunRead, Failed, Warned>;

// All members but the destructor return at once, whatever the thread is doing.
class Worker {
public:
    using Tag = viewer::Tag;
    using OpenDevice = ModelDevice::Open;

    // `wake` is called by the thread when there is news, outlives the worker and throws nothing. `open_device`: the
    // registry's, if none is given.
    explicit Worker(std::function<void()> wake, OpenDevice open_device = {});
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    // Waits for the thread, which is stopped between two tokens.
    ~Worker();

    // Of each kind of request only the newest counts: it replaces one that waits, stops one that runs, and there is no
    // more news of either. They are answered in the order of this list.
    // open() also ends all requests before it, of every kind. Where it fails, the model from before stays open, if
    // the device still works and there was memory for both.
    Tag open(OpenRequest request);
    Tag explore(ExploreRequest request);           // also ends measure()
    Tag explore_original(ExploreRequest request);  // a kind of its own, for what explore() is compared with
    Tag look_at_neuron(NeuronRequest request);
    Tag read_weights(std::string prefix);  // of the parameters whose names begin so
    // Of the training that is open: its checkpoints and losses. Where nothing is new there are no news either.
    Tag read_run();
    Tag measure(ExploreRequest request);  // importance of all heads; the request has a target

    // What is new since the last time, of what grows only the newest state.
    std::vector<News> poll();

private:
    enum Kind : std::size_t { kOpen, kExplore, kExploreOriginal, kNeuron, kReadWeights, kReadRun, kMeasure, kKinds };
    struct Session;  // what the thread has open
    using Job = std::function<void(Session&, Tag)>;

    Tag ask(Kind kind, Job job);
    void end(Kind kind);  // with mutex_ held
    void serve();
    void run(Session& session, Kind kind, Tag tag, const Job& job);
    bool wanted(Kind kind, Tag tag);
    void report(Kind kind, News news);
    void warn(const std::string& message);

    void open_model(Session& session, Tag tag, const OpenRequest& request);
    void read_run_again(Session& session, Tag tag);
    void explore_with(Session& session, Kind kind, Tag tag, const ExploreRequest& request);

    const std::function<void()> wake_;
    const OpenDevice open_device_;
    std::mutex mutex_;  // of all below
    std::condition_variable asked_;
    std::array<Job, kKinds> waiting_;
    std::array<Tag, kKinds> newest_{};  // of each kind; 0: ended
    struct Pending {
        Kind kind;
        News news;
    };
    std::vector<Pending> pending_;
    Tag last_tag_ = 0;
    bool closing_ = false;
    std::thread thread_;  // last: begins when all else is there
};

}  // namespace headscope::viewer
