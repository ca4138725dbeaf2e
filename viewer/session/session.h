// The program behind the window: holds the state, asks the workers for what it needs, gathers what they answer. It
// draws nothing and waits for nothing.
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "viewer/session/history.h"
#include "viewer/session/scene.h"
#include "viewer/session/settings.h"
#include "viewer/session/state_file.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

// Something to tell the person; `wrong` for what failed.
struct Notice {
    std::string text;
    bool wrong = false;
    History::Clock::time_point since{};
};

struct SessionOptions {
    std::string model = {};   // directory
    std::string device = {};  // what --device said; empty: the default
    Precision precision = Precision::F32;
    SavedView view = {};             // to begin with; its model and device are those above
    std::string settings_file = {};  // empty: settings are not kept
    ViewerSettings settings = {};
    Worker::OpenDevice open_device = {};  // the registry's, if none is given
};

class Session {
public:
    // `wake` is called from other threads when there is news.
    Session(const SessionOptions& options, std::function<void()> wake);
    ~Session();

    // What is looked at; panels change it at will.
    ViewState& state() { return scene_.state; }
    const Scene& scene() const { return scene_; }
    ViewerSettings& settings() { return settings_; }
    void hover_word(int column) { scene_.hovered_word = column; }

    // Takes in what the workers have, and asks them for what the state wants now. Once a frame.
    void update(History::Clock::time_point now);
    // Whether an answer to what is shown is still to come.
    bool busy() const;
    // Whether update() has something to do soon, without any input: a training that runs is looked at again.
    bool follows_run() const;

    void open(const std::string& model, const std::string& device);
    void open_checkpoint(std::int64_t step);
    // `checkpoint`: of a training; without it the newest.
    void compare_with(const std::string& model, const std::string& device, std::optional<std::int64_t> checkpoint = {});
    void end_comparison();
    // The leave-one-out of every head on this sentence and translation.
    void measure_importance();
    bool measuring() const { return measuring_; }

    bool can_undo() const { return history_.can_undo(); }
    bool can_redo() const { return history_.can_redo(); }
    void undo();
    void redo();

    // Error where writing `path` would change a file of the models that are looked at.
    void refuse_models(const std::string& path) const;
    // Errors become notices.
    void save_view(const std::string& path);
    void open_view(const std::string& path);

    void tell(const std::string& text);
    void complain(const std::string& text);
    const std::deque<Notice>& notices() const { return notices_; }
    void dismiss(std::size_t notice);

    const std::string& model_path() const { return main_.open.model; }
    const std::string& device() const { return main_.open.device; }

private:
    // A worker and what it was last asked.
    struct Seat {
        std::unique_ptr<Worker> worker;
        OpenRequest open;                   // being opened, or open
        std::optional<OpenRequest> opened;  // the last that could be
        Worker::Tag open_tag = 0;
        std::optional<ExploreRequest> asked;           // what `shown` is to answer
        std::optional<ExploreRequest> asked_original;  // without the edits
        Worker::Tag shown_tag = 0;
        Worker::Tag original_tag = 0;
        bool opening = false;
        bool exploring = false;
        bool exploring_original = false;
    };

    void start(Seat& seat, Side& side, OpenRequest request);
    void opening_failed(Seat& seat);
    void follow_checkpoint();
    void take(Seat& seat, Side& side);
    void heard(Seat& seat, Side& side, const Opened& opened);
    void heard(Seat& seat, Side& side, const Explored& explored);
    void heard(Seat& seat, Side& side, const Measured& measured);
    void heard(Seat& seat, Side& side, const NeuronSeen& neuron);
    void heard(Seat& seat, Side& side, const WeightsRead& weights);
    void heard(Seat& seat, Side& side, const RunRead& run);
    void heard(Seat& seat, Side& side, const Failed& failed);
    void heard(Seat& seat, Side& side, const Warned& warned);
    void ask(Seat& seat, Side& side);
    std::optional<ExploreRequest> found_request() const;
    void ask_neuron();
    void ask_weights();
    void drop_stale();
    SavedView saved() const;
    void notice(Notice news);
    void tell_notes(const SavedView& view);

    std::function<void()> wake_;
    Worker::OpenDevice open_device_;
    Precision precision_;
    Scene scene_;
    ViewerSettings settings_;
    std::string settings_file_;
    Seat main_;
    Seat other_;
    std::vector<std::future<void>> retiring_;  // workers that end what they do
    std::optional<NeuronRequest> asked_neuron_;
    Worker::Tag neuron_tag_ = 0;
    std::string asked_weights_;
    Worker::Tag weights_tag_ = 0;
    Worker::Tag measure_tag_ = 0;
    std::optional<ExploreRequest> measured_;  // what the importance is of
    SavedView awaited_;                       // the view that was opened, until its model is
    History::Clock::time_point run_read_{};
    Worker::Tag run_tag_ = 0;
    std::string run_problem_;  // of the last time the training was read
    History history_;
    std::deque<Notice> notices_;
    bool measuring_ = false;
};

}  // namespace headscope::viewer
