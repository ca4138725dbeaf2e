#include "viewer/ui/program.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "io/atomic_file.h"
#include "io/whole_file.h"
#include "paint/png.h"
#include "registry/registry.h"
#include "support/median.h"
#include "viewer/draw/theme.h"
#include "viewer/panels/parts.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/script.h"

namespace headscope::viewer {

namespace {

constexpr double kFollowInterval = 1.0;  // seconds between checks of a running training
constexpr double kFontInterval = 0.3;    // seconds between loading characters that were missing
constexpr double kPlayInterval = 0.45;   // seconds per decoding step
constexpr double kSizeSettles = 1.0;     // seconds until a new size of the window is kept

std::vector<ScriptLine> read_script(const std::string& path) {
    return path.empty() ? std::vector<ScriptLine>{}
                        : parse_script(read_whole_file(path, "the script '" + path + "'"), path);
}

SessionOptions with_panels(SessionOptions options) {
    options.fitting_panel = fitting_panel;
    return options;
}

class Program {
public:
    explicit Program(const ProgramOptions& options)
        : options_(options),
          script_(read_script(options.script)),
          window_({.width = options.session.settings.width,
                   .height = options.session.settings.height,
                   .settings = options.open_options.settings,
                   .scripted = !options.script.empty()}),
          session_(with_panels(options.session), Window::wake),
          ui_(window_, session_) {
        ui_.devices = std::async(std::launch::async, [open_options = options.open_options] {
            std::vector<DeviceInfo> devices = list_devices(open_options);
            Window::wake();
            return devices;
        });
        if (options.script.empty()) {
            ui_.system_theme = std::async(std::launch::async, [environment = options.open_options.settings] {
                const bool dark = system_is_dark(environment);
                Window::wake();
                return dark;
            });
            if (!std::exchange(session_.settings().toured, true)) {
                ui_.show(Overlay::Tour);
            }
        }
        add_all_commands();
        window_.on_fonts([this] {
            ui_.fonts.build(ui_.scale());
            ImGui::GetStyle() = style_of(ui_.ink(), ui_.scale());
        });
        if (!options.script.empty()) {
            ScriptPlayer::Stage stage{
                .window = window_,
                .probes = ui_.probes,
                .commands = ui_.commands,
                .drop = [this](const std::string& path) { session_.open(path, session_.device()); },
                .busy = [this] { return session_.busy() || ui_.devices.valid() || !ui_.fonts.complete(); },
                .shoot = [this](const std::string& path) { shot_ = path; },
                .times = [this](const std::string& label) { print_times(label); }};
            player_.emplace(std::move(script_), options.script, std::move(stage));
        }
    }

    void run() {
        while (!window_.close_requested()) {
            if (player_.has_value()) {
                window_.poll();
                player_->advance();
                if (player_->done()) {
                    window_.request_close();
                }
            } else {
                window_.wait(timeout());
            }
            const auto start = std::chrono::steady_clock::now();
            frame();
            if (player_.has_value()) {
                const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
                frame_times_.push_back(taken.count());
            }
        }
        save_size();
    }

private:
    // The timeout for waiting, in seconds; 0: none.
    double timeout() {
        const bool soon = session_.follows_run() || !session_.notices().empty() || !keeps_size();  // notices expire
        return !ui_.fonts.complete() ? kFontInterval : ui_.playing ? kPlayInterval : soon ? kFollowInterval : 0.0;
    }

    void add_all_commands() {
        reading_ = reading_of(session_.scene());
        attentions_ = attentions_of(session_.scene());
        ui_.editing_target = false;
        ui_.commands = {};
        add_commands(ui_);
        add_view_commands(ui_);
    }

    void play_on(History::Clock::time_point now) {
        const auto& shown = session_.scene().main.shown;
        if (!ui_.playing || shown == nullptr || now - ui_.played < std::chrono::duration<double>(kPlayInterval)) {
            return;
        }
        ui_.played = now;
        const int last = count_of_steps(session_.scene()) - 1;
        int& step = session_.state().step;
        step = std::min(step + 1, last);
        ui_.playing = step < last;
    }

    void frame() {
        const auto now = History::Clock::now();
        ui_.escaped = false;
        for (const Chord& chord : window_.take_chords()) {
            ui_.escaped = ui_.escaped || chord == parse_chord("Escape");
            press(ui_, chord);
        }
        for (const std::string& path : window_.take_dropped()) {
            session_.open(path, session_.device());
        }
        if (ui_.devices.valid() && ui_.devices.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
            ui_.device_list = ui_.devices.get();
        }
        if (ui_.system_theme.valid() &&
            ui_.system_theme.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
            ui_.system_dark = ui_.system_theme.get();
            window_.request_fonts();
        }
        play_on(now);
        keep_size();
        session_.update(now);
        name_window();
        if (reading_ != reading_of(session_.scene()) || attentions_ != attentions_of(session_.scene())) {
            add_all_commands();
        }
        Picture picture;
        const std::string file = std::exchange(shot_, {});
        window_.frame(
            [this] {
                ui_.probes.clear();
                ui_.probes.value("window.title", title_);
                show_shell(ui_);
                ui_.probes.each_text([this](const std::string& text) { ui_.fonts.need(text); });
            },
            file.empty() ? nullptr : &picture);
        if (!ui_.fonts.complete() && now - fonts_built_ >= std::chrono::duration<double>(kFontInterval)) {
            fonts_built_ = now;
            window_.request_fonts();
        }
        if (!file.empty()) {
            atomic_write_file(file, to_png(Bitmap{picture.width, picture.height, std::move(picture.pixels)}));
        }
    }

    // The window's size becomes a setting, which the session saves, when it has not changed for a while.
    void keep_size() {
        if (window_.size() != size_) {
            size_ = window_.size();
            sized_ = ImGui::GetTime();
        }
        if (ImGui::GetTime() - sized_ >= kSizeSettles) {
            save_size();
        }
    }
    bool keeps_size() {
        const ViewerSettings& kept = session_.settings();
        return kept.width == size_.width && kept.height == size_.height;
    }
    void save_size() {
        session_.settings().width = window_.size().width;
        session_.settings().height = window_.size().height;
    }

    void print_times(const std::string& label) {
        if (!frame_times_.empty()) {
            const double worst = *std::max_element(frame_times_.begin(), frame_times_.end());
            options_.print(fmt::format("{}: {} frames, median {:.1f} ms, worst {:.1f} ms", label, frame_times_.size(),
                                       median(frame_times_), worst));
        }
        frame_times_.clear();
    }

    void name_window() {
        const auto& model = session_.scene().main.model;
        std::string title = "Headscope";
        if (model.has_value()) {
            const std::string step = model->checkpoint.has_value() ? fmt::format(", step {}", *model->checkpoint) : "";
            title = fmt::format("{}{} on {} \u2013 Headscope", model->name, step, model->device);
        }
        if (title != title_) {
            window_.set_title(title);
            title_ = title;
        }
    }

    ProgramOptions options_;
    std::vector<ScriptLine> script_;  // read before the window opens
    Window window_;
    Session session_;
    Interface ui_;
    std::optional<ScriptPlayer> player_;
    std::string shot_;
    std::vector<double> frame_times_;  // ms, of a script's frames since print_times()
    std::string title_;
    History::Clock::time_point fonts_built_{};
    Window::Size size_{};
    double sized_ = 0.0;                     // when the window got this size, on Dear ImGui's clock
    Reading reading_;                        // that the commands are for
    std::vector<AttentionKind> attentions_;  // likewise
};

}  // namespace

void run_program(const ProgramOptions& options) {
    require_window_drivers(options.open_options);  // before a thread is started, or a driver loaded
    Program(options).run();
}

}  // namespace headscope::viewer
