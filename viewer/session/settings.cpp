#include "viewer/session/settings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

constexpr std::size_t kRemembered = 12;
constexpr double kSmallestSide = 480.0;
constexpr double kLargestSide = 16384.0;

// The XDG specification requires relative paths to be ignored.
std::string absolute(const std::string& path) {
    return path.starts_with('/') ? path : std::string();
}

// Reads a double, which can hold any number in the file.
int side_of(const json& file, const char* key, int otherwise) {
    return static_cast<int>(std::clamp(file.value(key, static_cast<double>(otherwise)), kSmallestSide, kLargestSide));
}

constexpr std::array kThemes{"system", "light", "dark"};

// An earlier version had "dark".
Theme theme_of(const json& file) {
    if (!file.contains("theme")) {
        return file.value("dark", false) ? Theme::Dark : Theme::System;
    }
    const auto name = file.at("theme").get<std::string>();
    const auto* const found = std::ranges::find(kThemes, name);
    if (found == kThemes.end()) {
        throw Error(fmt::format("\"theme\" is system, light or dark, not \"{}\"", name));
    }
    return static_cast<Theme>(found - kThemes.begin());
}

}  // namespace

void remember(std::vector<std::string>& list, const std::string& entry) {
    list.erase(std::remove(list.begin(), list.end(), entry), list.end());
    list.insert(list.begin(), entry);
    list.resize(std::min(list.size(), kRemembered));
}

std::string settings_path(const Settings& environment) {
    std::string folder = absolute(environment.get("XDG_CONFIG_HOME"));
    if (folder.empty()) {
        const std::string home = absolute(environment.get("HOME"));
        folder = home.empty() ? std::string() : home + "/.config";
    }
    return folder.empty() ? std::string() : folder + "/headscope/viewer.json";
}

ViewerSettings load_settings(const std::string& path, std::string& problem) {
    ViewerSettings settings;
    std::error_code unreadable;
    if (path.empty() || !std::filesystem::exists(path, unreadable)) {
        return settings;
    }
    try {
        std::ifstream stream(path, std::ios::binary);
        const json file = parse_json(stream, path);
        settings.theme = theme_of(file);
        settings.toured = file.value("toured", settings.toured);
        settings.scale = std::clamp(file.value("scale", settings.scale), kSmallestScale, kLargestScale);
        settings.width = side_of(file, "width", settings.width);
        settings.height = side_of(file, "height", settings.height);
        settings.palette = file.value("okabe_ito", false) ? Palette::OkabeIto : Palette::Paper;
        settings.recent_models = file.value("recent_models", settings.recent_models);
        settings.recent_texts = file.value("recent_texts", settings.recent_texts);
        settings.recent_pictures = file.value("recent_pictures", settings.recent_pictures);
        return settings;
    } catch (const std::exception& error) {
        problem = fmt::format("the settings in {} could not be read and are not used: {}", path, error.what());
        return {};
    }
}

bool system_is_dark(const Settings& environment) {
    if (environment.get("DBUS_SESSION_BUS_ADDRESS").empty()) {
        return false;
    }
    // GLib's program, which desktops have; 1 of 0 to 2 is dark.
    std::FILE* const pipe = ::popen(
        "gdbus call --session --timeout 2 --dest org.freedesktop.portal.Desktop --object-path "
        "/org/freedesktop/portal/desktop --method org.freedesktop.portal.Settings.Read org.freedesktop.appearance "
        "color-scheme 2>/dev/null",
        "re");
    if (pipe == nullptr) {
        return false;
    }
    std::array<char, 128> answer{};
    const std::size_t length = std::fread(answer.data(), 1, answer.size(), pipe);
    return ::pclose(pipe) == 0 && std::string_view(answer.data(), length).find("uint32 1") != std::string_view::npos;
}

void save_settings(const std::string& path, const ViewerSettings& settings) {
    const json file{{"theme", kThemes.at(static_cast<std::size_t>(settings.theme))},
                    {"toured", settings.toured},
                    {"scale", settings.scale},
                    {"width", settings.width},
                    {"height", settings.height},
                    {"okabe_ito", settings.palette == Palette::OkabeIto},
                    {"recent_models", settings.recent_models},
                    {"recent_texts", settings.recent_texts},
                    {"recent_pictures", settings.recent_pictures}};
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
    atomic_write_file(path, file.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace headscope::viewer
