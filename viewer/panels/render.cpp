#include "viewer/panels/render.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "support/check.h"
#include "viewer/panels/export.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"
#include "viewer/session/session.h"
#include "viewer/session/text_notes.h"

namespace headscope::viewer {

namespace {

// Lets a thread sleep until there is news, as a window does between two frames.
class Alarm {
public:
    void ring() {
        const std::lock_guard lock(mutex_);
        rung_ = true;
        condition_.notify_one();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        condition_.wait(lock, [this] { return rung_; });
        rung_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
    bool rung_ = false;
};

// Why a file of the panel would have nothing to show; empty if it has.
std::string undrawable(const Scene& scene, PanelId panel) {
    const Side& side = scene.main;
    if (!side.model.has_value() || panel == PanelId::Model) {
        return side.model.has_value() ? "" : side.problem;
    }
    if (panel == PanelId::Training) {
        return scene.run != nullptr ? ""
                                    : "'" + side.model->path +
                                          "' is a model, not a training or an experiment: it has no loss and no "
                                          "checkpoints to draw";
    }
    if (const std::string problem = side.problem.empty() ? why_empty(side) : side.problem; !problem.empty()) {
        return problem;
    }
    if (panel == PanelId::Tree) {
        const std::string problem = written_tree(scene).problem;
        return problem.empty() ? "" : "there is no tree to draw: " + problem;
    }
    const std::string missing = shows_attention_alone(panel) ? missing_attention(scene, side) : "";
    return missing.empty() ? "" : "there is nothing to draw: " + missing;
}

}  // namespace

void render(const SavedView& view, Precision precision, const std::string& path, double png_scale,
            Worker::OpenDevice open_device, const std::vector<std::filesystem::path>& search_path,
            const Engine::Log& warn) {
    Alarm alarm;
    Session session({.model = view.model,
                     .device = view.device,
                     .precision = precision,
                     .view = view,
                     .open_device = std::move(open_device),
                     .search_path = search_path},
                    [&alarm] { alarm.ring(); });
    const auto settle = [&] {
        constexpr History::Clock::time_point kStart{};  // time stands still: no notice expires
        session.update(kStart);
        while (session.busy()) {
            alarm.wait();
            session.update(kStart);
        }
    };
    settle();
    if (view.state.panel == PanelId::Surgery) {
        session.measure_importance();
        settle();
    }
    for (const Notice& notice : session.notices()) {
        if (notice.error) {
            throw Error(notice.text);
        }
    }
    if (const std::string problem = undrawable(session.scene(), view.state.panel); !problem.empty()) {
        throw Error(problem);
    }
    for (const Notice& notice : session.notices()) {
        warn(notice.text);
    }
    for (const std::string& note : {note_on_length(session.scene()), note_on_unknown(session.scene())}) {
        if (!note.empty()) {
            warn(note);
        }
    }
    export_panel_to(session.scene(), view.state.panel, path, png_scale);
}

}  // namespace headscope::viewer
