// What stays from one start to the next, in the user's configuration folder ($XDG_CONFIG_HOME/headscope/viewer.json).
#pragma once

#include <string>
#include <vector>

#include "paint/palette.h"
#include "support/settings.h"

namespace headscope::viewer {

struct ViewerSettings {
    bool dark = false;
    double scale = 1.0;  // the user's, on top of the display's
    int width = 1360;
    int height = 860;
    Palette palette = Palette::Paper;
    std::vector<std::string> recent_models = {};  // newest first
    std::vector<std::string> recent_texts = {};
    bool operator==(const ViewerSettings&) const = default;
};

constexpr double kSmallestScale = 0.6;
constexpr double kLargestScale = 3.0;

// Puts `entry` first and forgets what is older than the newest twelve.
void remember(std::vector<std::string>& list, const std::string& entry);

// Where settings are kept; empty if neither XDG_CONFIG_HOME nor HOME is set.
std::string settings_path(const Settings& environment);
// The defaults where there is no file. One that cannot be read is left as it is, and `problem` says why.
ViewerSettings load_settings(const std::string& path, std::string& problem);
// Error when the folder cannot be written.
void save_settings(const std::string& path, const ViewerSettings& settings);

}  // namespace headscope::viewer
