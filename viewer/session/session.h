// The program behind the window: holds the state, sends requests to the workers and collects their results. It neither
// draws nor blocks.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "viewer/session/history.h"
#include "viewer/session/reply_writer.h"
#include "viewer/session/scene.h"
#include "viewer/session/settings.h"
#include "viewer/session/state_file.h"
#include "viewer/session/worker.h"

namespace headscope::viewer {

// A message to the user.
struct Notice {
    std::string text;
    bool error = false;
    History::Clock::time_point since{};
};

struct SessionOptions {
    std::string model = {};   // directory
    std::string device = {};  // like --device; empty: the default
    Precision precision = Precision::F32;
    SavedView view = {};             // to start with; its model and device are those above
    std::string settings_file = {};  // empty: settings are not saved
    ViewerSettings settings = {};
    Worker::OpenDevice open_device = {};  // empty: the registry's
    // The panel to show of a model that was opened.
    std::function<PanelId(const Scene&)> fitting_panel = [](const Scene& scene) { return scene.state.panel; };
    std::vector<std::filesystem::path> search_path = {};  // folders with `models`
    std::int64_t most_weights = kMostWeights;             // that are kept at once, see ExploreRequest
};

class Session {
public:
    // Other threads call `wake` when update() has something to do.
    Session(const SessionOptions& options, std::function<void()> wake);
    ~Session();

    // What is shown; panels may change it.
    ViewState& state() { return scene_.state; }
    const Scene& scene() const { return scene_; }
    ViewerSettings& settings() { return settings_; }
    void hover_word(int column) { scene_.hovered_word = column; }
    void hover_step(int step) { scene_.hovered_step = step; }

    // Takes the workers' results and requests what the state needs now. Call once a frame.
    void update(History::Clock::time_point now);
    // Whether a result for what is shown is still missing.
    bool busy() const;
    // Whether update() has to be called regularly, to follow a training that may be running.
    bool follows_run() const;
    // Whether the model is still being opened.
    bool opening() const { return main_.opening; }

    // A model, a training, an experiment or a saved view: its path, or the name of a model that comes with the program;
    // or a picture for the open model.
    void open(const std::string& path, const std::string& device);
    // What could not be opened last, as it was asked for, and why; empty once something else is to be opened.
    struct Refused {
        std::string path, why;
    };
    const std::optional<Refused>& refused() const { return refused_; }
    // Of the open model, which reads pictures; else it is refused.
    void show_picture(const std::string& path);
    void open_checkpoint(std::int64_t step);
    // Compares with the second text, if there is one that was not compared before.
    void compare_texts();
    // A path or a name as for open(), but of no view. `checkpoint` of a training; empty: the newest.
    void compare_with(const std::string& model, const std::string& device, std::optional<std::int64_t> checkpoint = {});
    void end_comparison();
    // Leaves out every head in turn, for this sentence and translation.
    void measure_importance();
    bool measuring() const { return measuring_; }

    // Says something to a causal language model, whose reply then grows: the text is the message then. An error becomes
    // a notice, and the conversation is as before.
    void say(const std::string& message);
    bool replying() const { return writer_ != nullptr; }
    void stop_reply();          // and keeps what was written
    void begin_conversation();  // with the same system message and sampling
    // The message of the last call of say(), once, if it became no part of the conversation.
    std::optional<std::string> take_unsaid();

    bool can_undo() const { return history_.can_undo(); }
    bool can_redo() const { return history_.can_redo(); }
    void undo();
    void redo();

    // Error if writing `path` would overwrite a file of an open model.
    void refuse_models(const std::string& path) const;
    // Errors become notices.
    void save_view(const std::string& path);
    // `device`: instead of the view's own, if not empty.
    void open_view(const std::string& path, const std::string& device = {});

    void notify(const std::string& text);
    void report_error(const std::string& text);
    const std::deque<Notice>& notices() const { return notices_; }
    void dismiss(std::size_t notice);

    const std::string& model_path() const { return main_.open.model; }
    const std::string& device() const { return main_.open.device; }
    const std::vector<std::filesystem::path>& search_path() const { return search_path_; }

private:
    // A worker and its latest requests.
    struct Client {
        std::unique_ptr<Worker> worker;
        OpenRequest open;                   // opening or open
        std::optional<OpenRequest> opened;  // the last that succeeded
        Worker::Tag open_tag = 0;
        std::optional<ExploreRequest> asked;           // for Side::shown
        std::optional<ExploreRequest> asked_original;  // the same without edits, for Side::original
        Worker::Tag shown_tag = 0;
        Worker::Tag original_tag = 0;
        bool opening = false;
        bool exploring = false;
        bool exploring_original = false;
    };

    void start(Client& client, Side& side, OpenRequest request);
    void opening_failed(Client& client);
    bool compares_texts() const;
    // Another thread waits until it has finished.
    template <class Thread>
    void retire(std::unique_ptr<Thread> thread) {
        retiring_.push_back(std::async(std::launch::async, [ending = std::move(thread)]() mutable { ending.reset(); }));
    }
    void await_main(OpenRequest request);
    void follow_main();
    void follow_checkpoint();
    void take(Client& client, Side& side);
    void handle(Client& client, Side& side, const Opened& opened);
    void show_experiment(const Opened& opened);
    void handle(Client& client, Side& side, const Explored& explored);
    void handle(Client& client, Side& side, const Measured& measured);
    void handle(Client& client, Side& side, const NeuronSeen& neuron);
    void handle(Client& client, Side& side, const InsideSeen& inside);
    void handle(Client& client, Side& side, const WeightsRead& weights);
    void handle(Client& client, Side& side, const RunRead& run);
    void handle(Client& client, Side& side, const Failed& failed);
    void handle(Client& client, Side& side, const Warned& warned);
    void ask(Client& client, Side& side);
    std::optional<ExploreRequest> ready_request() const;
    void ask_neuron();
    void ask_inside(InsideView view);
    void forget_inside();
    void take_reply();
    void end_writing();
    void ask_weights();
    void drop_stale();
    void choose_head();
    SavedView saved(const std::string& file) const;
    void add_notice(Notice notice);
    void keep_settings();
    // With its notice.
    void forget_problem(Side& side);
    void forget_notice(const std::string& error);
    void begin_opening(const std::string& path);
    void refuse(const std::string& why);
    void notify_notes(const SavedView& view);

    std::function<void()> wake_;
    Worker::OpenDevice open_device_;
    std::function<PanelId(const Scene&)> fitting_panel_;
    std::vector<std::filesystem::path> search_path_;
    Precision precision_;
    Scene scene_;
    ViewerSettings settings_;
    ViewerSettings saved_settings_;
    std::string settings_file_;
    Client main_;
    Client other_;
    std::vector<std::future<void>> retiring_;  // threads that are finishing
    std::optional<NeuronRequest> asked_neuron_;
    Worker::Tag neuron_tag_ = 0;
    struct AskedInside {
        std::optional<InsideRequest> request;
        Tag tag = 0;  // while the answer is awaited
    };
    std::array<AskedInside, kInsideViews> asked_inside_;  // by InsideView
    std::string compared_text_;                           // the second text when a comparison of texts began
    bool other_follows_ = false;                          // the other side gets the model that is opening
    std::string asked_weights_;
    Worker::Tag weights_tag_ = 0;
    Worker::Tag measure_tag_ = 0;
    std::optional<ExploreRequest> measured_;  // the request of the importance
    SavedView awaited_;                       // a view whose model is still opening
    std::string opening_;                     // what the user asked to be opened; empty: a checkpoint
    std::optional<Refused> refused_;
    History::Clock::time_point run_read_{};
    Worker::Tag run_tag_ = 0;
    std::string run_problem_;  // of the last attempt to read the training
    History history_;
    std::deque<Notice> notices_;
    bool measuring_ = false;
    std::unique_ptr<ReplyWriter> writer_;  // null if no reply grows
    ViewState before_saying_;              // the message to which it grows
    std::optional<std::string> unsaid_;
};

}  // namespace headscope::viewer
