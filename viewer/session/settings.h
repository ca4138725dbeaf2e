// Settings saved between runs, in $XDG_CONFIG_HOME/headscope/viewer.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paint/palette.h"
#include "support/settings.h"

namespace headscope::viewer {

enum class Theme : std::uint8_t { System, Light, Dark };

struct ViewerSettings {
    Theme theme = Theme::System;
    bool toured = false;  // the tour was offered
    double scale = 1.0;   // multiplies the display's scale
    int width = 1360;
    int height = 860;
    Palette palette = Palette::Paper;
    std::vector<std::string> recent_models = {};  // newest first
    std::vector<std::string> recent_texts = {};
    std::vector<std::string> recent_pictures = {};
    bool operator==(const ViewerSettings&) const = default;
};

// Whether the desktop prefers dark windows, by its settings portal; false if it has none. May take a moment.
bool system_is_dark(const Settings& environment);

constexpr double kSmallestScale = 0.6;
constexpr double kLargestScale = 3.0;

// Moves `entry` to the front and keeps the newest twelve.
void remember(std::vector<std::string>& list, const std::string& entry);

// The settings file; empty if neither XDG_CONFIG_HOME nor HOME is set.
std::string settings_path(const Settings& environment);
// The defaults if there is no file or, with `problem` set to the reason, if it cannot be read.
ViewerSettings load_settings(const std::string& path, std::string& problem);
// Error if the folder cannot be written.
void save_settings(const std::string& path, const ViewerSettings& settings);

}  // namespace headscope::viewer
