#include "backends/vulkan/device/driver_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <system_error>
#include <vector>

#include "backends/vulkan/device/instance.h"
#include "support/check.h"
#include "support/driver_lock.h"
#include "support/hash.h"

namespace headscope::vulkan {

namespace {

namespace fs = std::filesystem;

// Splits a list at colons.
std::vector<std::string> paths_in(const std::string& list) {
    std::vector<std::string> paths;
    std::istringstream rest(list);
    for (std::string path; std::getline(rest, path, ':');) {
        if (!path.empty()) {
            paths.push_back(path);
        }
    }
    return paths;
}

// Where the loader looks for drivers: LoaderDriverInterface.md of the Khronos loader.
std::vector<fs::path> driver_folders(const Settings& settings) {
    const auto listed = [&](const char* name, const char* otherwise) {
        const std::string list = settings.get(name);
        return list.empty() ? otherwise : list;
    };
    std::string all = "/etc:/usr/local/etc:" + settings.get("XDG_CONFIG_HOME") + ":" + settings.get("XDG_DATA_HOME") +
                      ":" + listed("XDG_CONFIG_DIRS", "/etc/xdg") + ":" +
                      listed("XDG_DATA_DIRS", "/usr/local/share:/usr/share");
    if (const std::string home = settings.get("HOME"); !home.empty()) {
        all += ":" + home + "/.local/share:" + home + "/.config";
    }
    std::vector<fs::path> folders;
    for (const std::string& folder : paths_in(all)) {
        folders.push_back(fs::path(folder) / "vulkan/icd.d");
    }
    return folders;
}

std::string times_of(const fs::path& file) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error).time_since_epoch().count();
    return error ? "" : fmt::format(" {} {}", time, fs::file_size(file, error));
}

// The library of a manifest, if it is a path.
fs::path library_of(const fs::path& manifest) {
    std::ifstream file(manifest);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t key = text.find("\"library_path\"");
    const std::size_t begin = key == std::string::npos ? key : text.find('"', text.find(':', key));
    const std::size_t end = begin == std::string::npos ? begin : text.find('"', begin + 1);
    const std::string path = end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
    return path.find('/') == std::string::npos ? fs::path() : manifest.parent_path() / path;
}

std::string signature_of(const fs::path& file) {
    const fs::path library = library_of(file);
    return file.string() + times_of(file) + (library.empty() ? "" : times_of(library)) + "\n";
}

std::string stamp_path(const std::string& cache_directory, const Settings& settings) {
    return fmt::format("{}/drivers-{:016x}", cache_directory, fnv1a(installed_drivers(settings)));
}

// Runs in the child; never returns.
[[noreturn]] void ask_drivers() {
    // NVIDIA's driver may take seconds for each idle card. A child that was forked while another thread held a lock
    // would never end, and the parent waits for it.
    constexpr unsigned kSeconds = 60;
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) {
        std::signal(number, SIG_DFL);  // no handlers of the parent
    }
    ::sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const ::rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(kSeconds);
    if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
    }
    try {
        const Instance instance(false);
    } catch (const std::exception&) {  // the parent will get it too
    }
    ::_exit(0);
}

// How the child ended.
struct Answer {
    bool survived = false;  // it listed devices and exited
    int crash = 0;          // the signal of a crash
};

bool is_crash(int number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT;
}

Answer ask_in_child() {
    // So that the child does not inherit the state of a driver being loaded or unloaded by another thread.
    std::unique_lock<std::mutex> turn(driver_lock());
    const pid_t child = ::fork();
    turn.unlock();
    if (child == 0) {
        ask_drivers();
    }
    int status = 0;
    pid_t ended = -1;
    do {
        ended = child < 0 ? -1 : ::waitpid(child, &status, 0);
    } while (ended < 0 && child > 0 && errno == EINTR);
    if (child < 0 || ended != child) {
        return {};
    }
    return {.survived = WIFEXITED(status) && WEXITSTATUS(status) == 0,
            .crash = WIFSIGNALED(status) && is_crash(WTERMSIG(status)) ? WTERMSIG(status) : 0};
}

}  // namespace

std::string installed_drivers(const Settings& settings) {
    std::string text;
    std::vector<std::string> files;
    const auto told = [&](const char* name) {
        std::string value = settings.get(name);
        text += value.empty() ? "" : std::string(name) + "=" + value + "\n";
        return value;
    };
    for (const char* filter : {"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"}) {
        told(filter);
    }
    for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
        for (const std::string& file : paths_in(told(name))) {
            files.push_back(signature_of(file));
        }
    }
    for (const fs::path& folder : driver_folders(settings)) {
        std::error_code error;
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
            files.push_back(signature_of(entry->path()));
        }
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        text += file;
    }
    return text;
}

void require_drivers_survive(const std::string& cache_directory, const Settings& settings) {
    const std::string stamp = cache_directory.empty() ? "" : stamp_path(cache_directory, settings);
    std::error_code error;
    if (!stamp.empty() && fs::exists(stamp, error)) {
        return;
    }
    const Answer answer = ask_in_child();
    if (answer.crash != 0) {
        const char* name = ::strsignal(answer.crash);
        throw Error(fmt::format(
            "a Vulkan driver crashed when it was asked for its devices ({}): update or remove it, or name those that "
            "work by VK_DRIVER_FILES. Installed are:\n{}",
            name == nullptr ? fmt::format("signal {}", answer.crash) : name, installed_drivers(settings)));
    }
    if (answer.survived && !stamp.empty()) {
        fs::create_directories(cache_directory, error);
        const std::ofstream written(stamp);  // only saves time
    }
}

}  // namespace headscope::vulkan
