#include "viewer/panels/render.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "support/check.h"
#include "viewer/panels/export.h"
#include "viewer/panels/panels.h"
#include "viewer/session/session.h"

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

}  // namespace

void render(const SavedView& view, Precision precision, const std::string& path, double png_scale,
            Worker::OpenDevice open_device, const ModelDevice::Warn& warn) {
    Alarm alarm;
    Session session({.model = view.model,
                     .device = view.device,
                     .precision = precision,
                     .view = view,
                     .open_device = std::move(open_device)},
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
    const Side& side = session.scene().main;
    if (side.shown != nullptr && !side.shown->problem.empty()) {
        throw Error(side.shown->problem);
    }
    if (view.state.panel == PanelId::Training && session.scene().run == nullptr) {
        throw Error("'" + view.model +
                    "' is a model, not a training or an experiment: it has no loss and no checkpoints to draw");
    }
    if (view.state.panel == PanelId::Tree) {
        if (const std::string problem = written_tree(session.scene()).problem; !problem.empty()) {
            throw Error("there is no tree to draw: " + problem);
        }
    }
    for (const Notice& notice : session.notices()) {
        warn(notice.text);
    }
    export_panel_to(session.scene(), view.state.panel, path, png_scale);
}

}  // namespace headscope::viewer
