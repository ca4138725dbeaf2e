#include "parallel/rank_processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kReapEvery{10};
constexpr std::chrono::milliseconds kGrace{1000};  // for ranks to end by themselves after a failure

// Messages of rank 0 are not preceded by its name.
std::string end_of(int rank, int status) {
    const char* subject = rank == 0 ? "rank 0" : "it";
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        return fmt::format("{} was ended by signal {} ({}){}", subject, number, ::strsignal(number),
                           number == SIGKILL ? ", perhaps for lack of memory" : "");
    }
    return fmt::format("{} ended with exit code {} and gave no reason", subject, WEXITSTATUS(status));
}

}  // namespace

std::string RankStart::text() const {
    return fmt::format("{},{},{},{}", descriptor, rank, parent, attempt);
}

RankStart RankStart::parse(const std::string& text) {
    RankStart start;
    const char* at = text.data();
    const char* end = text.data() + text.size();
    for (int* number : {&start.descriptor, &start.rank, &start.parent, &start.attempt}) {
        const auto [stop, error] = std::from_chars(at, end, *number);
        const bool last = number == &start.attempt;
        if (error != std::errc() || *number < 0 || (last ? stop != end : stop == end || *stop != ',')) {
            throw Error(fmt::format("'{}' describes no rank: only the program itself starts its ranks", text));
        }
        at = stop + 1;
    }
    return start;
}

void RankStart::follow_parent() const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        throw Error(fmt::format("process {}, which started this rank, has ended", parent));
    }
}

RankProcesses::RankProcesses(int count, const std::vector<std::string>& arguments, const std::string& option,
                             int attempt)
    : group_(count) {
    const pid_t parent = ::getpid();
    for (int rank = 0; rank < count; ++rank) {
        std::vector<std::string> words = arguments;
        words.insert(std::ranges::find(words, "--"),
                     {option, RankStart{group_.descriptor(), rank, parent, attempt}.text()});
        std::vector<char*> pointers;
        for (std::string& word : words) {
            pointers.push_back(word.data());
        }
        pointers.push_back(nullptr);
        const pid_t id = ::fork();
        if (id == 0) {
            // In a group of its own, so that Ctrl-C reaches this process only, which asks rank 0.
            constexpr int kNotFound = 127;
            if (::setpgid(0, 0) == 0 && ::fcntl(group_.descriptor(), F_SETFD, 0) == 0) {
                ::execv("/proc/self/exe", pointers.data());
            }
            ::_exit(kNotFound);
        }
        if (id < 0) {
            const std::string reason = std::generic_category().message(errno);
            signal(SIGKILL);
            throw Error(
                fmt::format("rank {} of {} cannot be started: fork failed: {}; raise the limit of processes "
                            "(ulimit -u), or start fewer ranks",
                            rank, count, reason));
        }
        processes_.push_back({id});
    }
}

RankProcesses::~RankProcesses() {
    signal(SIGKILL);
    for (const Process& process : processes_) {
        if (process.id != 0) {
            ::waitpid(process.id, nullptr, 0);
        }
    }
}

bool RankProcesses::running() const {
    return std::ranges::any_of(processes_, [](const Process& process) { return process.id != 0; });
}

void RankProcesses::signal(int number) const {
    for (const Process& process : processes_) {
        if (process.id != 0) {
            ::kill(process.id, number);
        }
    }
}

void RankProcesses::reap() {
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
        Process& process = processes_[rank];
        int status = 0;
        if (process.id == 0 || ::waitpid(process.id, &status, WNOHANG) != process.id) {
            continue;
        }
        process.id = 0;
        // One that failed by itself has said why, or ends since another one did.
        if (status != 0 && !group_.failed()) {
            group_.fail({static_cast<int>(rank), end_of(static_cast<int>(rank), status)});
        }
    }
}

std::optional<RankFailure> RankProcesses::wait(const std::function<bool()>& stop) {
    bool asked = false;
    std::optional<Clock::time_point> failed;
    for (;;) {
        reap();
        if (!running()) {
            return group_.failure();
        }
        if (!failed && group_.failed()) {
            failed = Clock::now();
        }
        if (failed && Clock::now() - *failed > kGrace) {
            signal(SIGKILL);
        }
        if (!asked && stop()) {
            asked = true;
            if (processes_.front().id != 0) {
                ::kill(processes_.front().id, SIGTERM);
            }
        }
        std::this_thread::sleep_for(kReapEvery);
    }
}

}  // namespace headscope
