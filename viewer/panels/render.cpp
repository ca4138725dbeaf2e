#include "viewer/panels/render.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "support/check.h"
#include "viewer/panels/export.h"
#include "viewer/panels/parts.h"
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
    const std::string missing = panel_of(panel).missing(scene);
    return missing.empty() || missing == nothing_there(scene.main) ? missing : "there is nothing to draw: " + missing;
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
