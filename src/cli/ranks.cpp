#include "cli/ranks.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/stop_signal.h"
#include "options/option_values.h"
#include "parallel/crowding.h"
#include "parallel/local_communicator.h"
#include "parallel/mpi_launcher.h"
#include "parallel/mpi_ranks.h"
#include "parallel/shards.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/processors.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

constexpr const char* kThreads = "HEADSCOPE_THREADS";
constexpr const char* kRankOption = "--rank-of";
constexpr double kPatience = 300.0;  // seconds

bool is_cpu(const std::string& device) {
    return device.starts_with("cpu");
}

// The card of a machine's rank, if `wanted` leaves that open: "cuda", "vulkan" or nothing.
std::string card_of(const std::string& wanted, std::size_t rank, const OpenOptions& open) {
    if (is_cpu(wanted) || wanted.find(':') != std::string::npos) {
        return wanted;
    }
    std::vector<std::string> cards;
    std::string backend = wanted;
    for (const DeviceInfo& device : list_devices(open)) {
        if (device.rejected.empty() && (wanted.empty() ? device.gpu : true) &&
            (backend.empty() || device.backend == backend)) {
            backend = device.backend;  // another one may list the same cards
            cards.push_back(device.id);
        }
    }
    if (cards.empty()) {
        return wanted.empty() ? "cpu" : wanted;  // which fails with its reason
    }
    return cards[rank % cards.size()];
}

// Ranks on the CPU share its processors.
void share_threads(const std::vector<std::string>& devices, OpenOptions& open) {
    const auto cpus = static_cast<int>(std::ranges::count_if(devices, is_cpu));
    if (cpus > 1 && open.settings.get(kThreads).empty()) {
        open.settings.set(kThreads, std::to_string(std::max(processors() / cpus, 1)));
    }
}

// `host`: as of RankSeat.
void warn_of_crowding(Communicator& ranks, const std::string& host, const CommonOptions& common) {
    for (const std::string& line : crowding(ranks, seat_here(host, common.device(), common.open.settings))) {
        log_line("warning: " + line);
    }
}

// A rank says why it fails to who prints that: the process that started it, or rank 0.
void work_or_fail(Communicator& ranks, const std::function<void()>& work) {
    try {
        work();
        return;
    } catch (const OtherRankFailed&) {
        throw;
    } catch (const OutputClosed&) {
        ranks.fail("");  // nobody reads
    } catch (const UsageError& error) {
        ranks.fail(error.what(), kUsageExit);
    } catch (const std::exception& error) {
        ranks.fail(error.what());
    }
    throw OtherRankFailed();  // without a message
}

void run_rank(const RankOptions& options, CommonOptions common, const RankWork& work) {
    const RankStart& start = *options.start;
    start.follow_parent();
    LocalGroup group = LocalGroup::of(start.descriptor);
    LocalCommunicator ranks(group, start.rank, std::chrono::duration<double>(options.timeout.value_or(kPatience)));
    work_or_fail(ranks, [&] {
        const std::vector<std::string> devices = devices_of_ranks(group.size(), common);
        share_threads(devices, common.open);
        common.devices = {devices.at(static_cast<std::size_t>(start.rank))};
        ranks.introduce(common.device());
        if (start.attempt == 0) {
            warn_of_crowding(ranks, "", common);
        }
        work(common, ranks, start.attempt);
    });
}

// Of a rank that a launcher has started, with the devices of its machine.
void run_launched(const RankOptions& options, CommonOptions common, const RankWork& work, MpiCommunicator& ranks) {
    work_or_fail(ranks, [&] {
        if (options.count && *options.count != ranks.size()) {
            throw UsageError(fmt::format("--ranks is {}, and the launcher has started {}: leave --ranks out",
                                         *options.count, ranks.size()));
        }
        if (options.restarts > 0) {
            throw UsageError("ranks that a launcher started are started again by it: leave --max-restarts out");
        }
        const std::vector<std::string> devices = asked_devices(common.device(), common.open);
        const auto local = static_cast<std::size_t>(ranks.place().local_rank);
        const std::string device =
            devices.size() == 1 ? card_of(devices.front(), local, common.open) : devices[local % devices.size()];
        common.devices = {device};
        ranks.introduce(fmt::format("host {}, {}", ranks.place().host, device));
        warn_of_crowding(ranks, ranks.place().host, common);
        work(common, ranks, 0);
    });
}

// Starts the ranks, again if one fails that had begun its work, and waits for them.
void run_processes(const RankOptions& options, const std::vector<std::string>& devices) {
    for (int attempt = 0;; ++attempt) {
        RankProcesses processes(static_cast<int>(devices.size()), options.command, kRankOption, attempt);
        const std::optional<RankFailure> failure = processes.wait(stop_requested);
        if (!failure) {
            return;
        }
        if (failure->reason.empty()) {
            throw OutputClosed();
        }
        const std::string device = devices[static_cast<std::size_t>(failure->rank)];
        const std::string reason = failure->rank == 0
                                       ? failure->reason
                                       : fmt::format("rank {} ({}): {}", failure->rank, device, failure->reason);
        if (failure->exit_code == kUsageExit) {
            throw UsageError(reason);
        }
        if (stop_requested() || attempt == options.restarts || !processes.begun()) {
            throw Error(reason);
        }
        log_line(fmt::format("{}; starting all ranks again (restart {} of at most {})", reason, attempt + 1,
                             options.restarts));
    }
}

}  // namespace

std::vector<std::string> devices_of_ranks(const std::optional<int>& wanted, const CommonOptions& common) {
    std::vector<std::string> devices = asked_devices(common.device(), common.open);
    const auto count = static_cast<std::size_t>(wanted.value_or(static_cast<int>(devices.size())));
    if (devices.size() == 1 && count > 1) {
        const std::string one = devices.front();
        devices.clear();
        for (std::size_t rank = 0; rank < count; ++rank) {
            devices.push_back(card_of(one, rank, common.open));
        }
    }
    if (devices.size() != count) {
        throw UsageError(
            fmt::format("--ranks {} and --device name different numbers: {} ({}); name one device for "
                        "each rank, or one for all",
                        count, counted(devices.size(), "device"), fmt::join(devices, ", ")));
    }
    return devices;
}

void require_alone(const char* option, const Settings& settings) {
    if (const std::optional<MpiLauncher> launcher = mpi_launcher(settings)) {
        throw UsageError(fmt::format("{} is for one process, and {} has started several ({}): start one without it",
                                     option, launcher->name, launcher->sign));
    }
}

std::vector<CLI::Option*> RankOptions::add(CLI::App& app) {
    constexpr std::uint64_t kWeek = 7 * 24 * 3600;
    app.option_defaults()->group("Ranks");
    CLI::Option* ranks = app.add_option("--ranks", count,
                                        "So many processes that work together, each with a device of --device, or all "
                                        "with one (default: one for each device named)")
                             ->type_name("N")
                             ->check(whole_number(1, kMostShards));
    CLI::Option* silence =
        app.add_option("--rank-timeout", timeout, "Seconds after which a rank that does not answer ends all")
            ->type_name("SECONDS")
            ->check(real_number(1.0, kWeek))
            ->default_str("300");
    app.add_option_function<std::string>(
           kRankOption, [this](const std::string& text) { start = RankStart::parse(text); },
           "Used by the program itself when it starts a rank")
        ->group("");
    return {ranks, silence};
}

void run_on_ranks(const RankOptions& options, CommonOptions common, const RankWork& work) {
    if (options.start) {
        run_rank(options, std::move(common), work);
        return;
    }
    const auto report = [](const std::string& line) {
        if (!line.empty()) {
            log_error("headscope: " + line);
        }
    };
    if (const auto launched = mpi_ranks(common.open.settings, options.timeout.value_or(kPatience), report)) {
        run_launched(options, std::move(common), work, *launched);
        return;
    }
    if (!options.starts_ranks) {
        work(common, alone(), 0);
        return;
    }
    const bool several = options.count || names_several(asked_device(common.device(), common.open.settings));
    const std::vector<std::string> devices =
        several ? devices_of_ranks(options.count, common) : std::vector<std::string>{""};
    if (devices.size() == 1) {
        if (options.timeout || options.restarts > 0) {
            throw UsageError(
                fmt::format("{} is of several ranks, and there is one: say --ranks N, name several devices, "
                            "or leave it out",
                            options.timeout ? "--rank-timeout" : "--max-restarts"));
        }
        work(common, alone(), 0);
        return;
    }
    run_processes(options, devices);
}

}  // namespace headscope
