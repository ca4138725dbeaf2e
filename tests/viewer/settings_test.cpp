// Settings saved between runs.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/io/temporary_folder.h"
#include "viewer/session/settings.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

TEST_CASE("Settings are stored where XDG says", "[settings]") {
    using Values = std::map<std::string, std::string>;
    const std::string mine = "/home/me/.config/headscope/viewer.json";
    CHECK(settings_path(Values{{"XDG_CONFIG_HOME", "/etc/mine"}, {"HOME", "/home/me"}}) ==
          "/etc/mine/headscope/viewer.json");
    CHECK(settings_path(Values{{"XDG_CONFIG_HOME", "relative/folder"}, {"HOME", "/home/me"}}) == mine);
    CHECK(settings_path(Values{{"XDG_CONFIG_HOME", ""}, {"HOME", "/home/me"}}) == mine);
    CHECK(settings_path(Values{{"HOME", "/home/me"}}) == mine);
    CHECK(settings_path(Values{{"HOME", "here"}}).empty());
    CHECK(settings_path({}).empty());
}

TEST_CASE("Settings that are saved are loaded again", "[settings]") {
    const TemporaryFolder folder;
    const std::string file = folder.file("new/headscope/viewer.json");
    std::string problem;
    CHECK(load_settings(file, problem) == ViewerSettings{});
    CHECK(load_settings("", problem) == ViewerSettings{});
    const ViewerSettings settings{.theme = Theme::Dark,
                                  .toured = true,
                                  .scale = 1.35,
                                  .width = 1111,
                                  .height = 777,
                                  .palette = Palette::OkabeIto,
                                  .recent_models = {"/models/a", "/models/„b“"},
                                  .recent_texts = {"One.", "\"Two\"\n"},
                                  .recent_pictures = {"/cat.png"}};
    save_settings(file, settings);
    CHECK(load_settings(file, problem) == settings);
    CHECK(problem.empty());
    save_settings(file, {.recent_texts = {"bytes \xff"}});
    load_settings(file, problem);
    CHECK(problem.empty());
}

TEST_CASE("Unreadable settings are reported and not overwritten", "[settings]") {
    const TemporaryFolder folder;
    for (const char* bytes : {"", "{", "[]", "{\"dark\": 3}", "{\"scale\": \"big\"}", "{\"recent_models\": [1]}",
                              "{\"dark\": true, \"dark\": false}"}) {
        const std::string file = folder.write("viewer.json", bytes);
        std::string problem;
        CHECK(load_settings(file, problem) == ViewerSettings{});
        CHECK_THAT(problem, Contains(file));
        CHECK(read_all(file) == bytes);
    }
}

TEST_CASE("A theme is system, light or dark, also as earlier versions wrote it", "[settings]") {
    const TemporaryFolder folder;
    std::string problem;
    const auto theme_in = [&](const std::string& bytes) {
        return load_settings(folder.write("viewer.json", bytes), problem).theme;
    };
    CHECK(theme_in(R"({"dark": true})") == Theme::Dark);
    CHECK(theme_in(R"({"dark": false})") == Theme::System);
    CHECK(theme_in(R"({"theme": "light"})") == Theme::Light);
    CHECK(problem.empty());
    CHECK(theme_in(R"({"theme": "blue"})") == Theme::System);
    CHECK_THAT(problem, Contains("system, light or dark, not \"blue\""));
}

TEST_CASE("The desktop is asked for its theme", "[settings]") {
    const TemporaryFolder folder;
    const std::string program = folder.write("gdbus", "");
    const std::string path = std::getenv("PATH");
    setenv("PATH", (std::filesystem::path(program).parent_path().string() + ":" + path).c_str(), 1);
    const auto answer = [&](const std::string& script) {
        folder.write("gdbus", "#!/bin/sh\n" + script + "\n");
        chmod(program.c_str(), 0755);
        return system_is_dark(std::map<std::string, std::string>{{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere"}});
    };
    CHECK(answer("echo '(<<uint32 1>>,)'"));
    CHECK_FALSE(answer("echo '(<<uint32 2>>,)'"));
    CHECK_FALSE(answer("echo '(<<uint32 1>>,)'; exit 1"));
    CHECK_FALSE(system_is_dark({}));
    setenv("PATH", path.c_str(), 1);
}

TEST_CASE("Window sizes out of range are clamped", "[settings]") {
    const TemporaryFolder folder;
    std::string problem;
    const auto loaded = [&](const std::string& bytes) {
        const ViewerSettings settings = load_settings(folder.write("viewer.json", bytes), problem);
        CHECK(problem.empty());
        return settings;
    };
    const ViewerSettings small = loaded(R"({"scale": 0.001, "width": 3, "height": -9, "of another version": [1]})");
    CHECK(small.scale == kSmallestScale);
    CHECK(small.width == 480);
    CHECK(small.height == 480);
    const ViewerSettings large = loaded(R"({"scale": 1e9, "width": 1e300, "height": 123456789012345})");
    CHECK(large.scale == kLargestScale);
    CHECK(large.width == 16384);
    CHECK(large.height == 16384);
}

TEST_CASE("Recent entries are unique, newest first, and limited", "[settings]") {
    std::vector<std::string> list;
    for (int i = 1; i <= 15; ++i) {
        remember(list, std::to_string(i));
    }
    CHECK(list.size() == 12);
    CHECK(list.front() == "15");
    CHECK(list.back() == "4");
    remember(list, "9");
    CHECK(list.size() == 12);
    CHECK(list.front() == "9");
    CHECK(list.back() == "4");
    CHECK(std::count(list.begin(), list.end(), "9") == 1);
}

TEST_CASE("A folder that cannot be written is an error", "[settings]") {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "") + "/headscope/viewer.json";
    CHECK_THAT(error_of([&] { save_settings(file, {}); }), Contains("viewer.json"));
}
