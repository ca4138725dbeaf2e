#include "cli/train/train_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/stop_signal.h"
#include "cli/train/train_run.h"
#include "parallel/local_communicator.h"
#include "registry/device_list.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/processors.h"
#include "support/usage_error.h"
#include "train/run_config.h"

namespace headscope {
namespace {

constexpr const char* kThreads = "HEADSCOPE_THREADS";
constexpr const char* kRankOption = "--rank-of";

// One for each rank.
std::vector<std::string> devices_of_ranks(const TrainOptions& options) {
    std::vector<std::string> devices = asked_devices(options.common.device(), options.common.open);
    const int count = options.ranks.count.value_or(static_cast<int>(devices.size()));
    if (devices.size() == 1) {
        devices.resize(static_cast<std::size_t>(count), devices.front());
    }
    if (std::ssize(devices) != count) {
        throw UsageError(
            fmt::format("--ranks {} and --device name different numbers: {} ({}); name one device for "
                        "each rank, or one for all",
                        count, counted(devices.size(), "device"), fmt::join(devices, ", ")));
    }
    return devices;
}

bool is_cpu(const std::string& device) {
    return device.starts_with("cpu");
}

// Ranks on the CPU share its processors.
void share_threads(const std::vector<std::string>& devices, OpenOptions& open) {
    const auto cpus = static_cast<int>(std::ranges::count_if(devices, is_cpu));
    if (cpus > 1 && open.settings.get(kThreads).empty()) {
        open.settings.set(kThreads, std::to_string(std::max(processors() / cpus, 1)));
    }
}

void warn_of_shared_devices(const std::vector<std::string>& devices) {
    std::vector<std::string> warned;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
        const auto first = static_cast<std::size_t>(std::ranges::find(devices, devices[rank]) - devices.begin());
        if (first != rank && !is_cpu(devices[rank]) && std::ranges::find(warned, devices[rank]) == warned.end()) {
            warned.push_back(devices[rank]);
            log_line(
                fmt::format("warning: ranks {} and {} share one device ({}): they take turns, and each needs its "
                            "own memory there",
                            first, rank, devices[rank].empty() ? "the best one" : devices[rank]));
        }
    }
    const int cores = processors();
    const auto cpus = std::ranges::count_if(devices, is_cpu);
    if (cpus > cores) {
        log_line(fmt::format("warning: {} ranks share {} of this machine", cpus, counted(cores, "processor")));
    }
}

std::string named(int rank, const std::string& name, const std::string& reason) {
    return rank == 0 ? reason : fmt::format("rank {} ({}): {}", rank, name, reason);
}

// Of a rank: it says why it fails to the process that started it, which prints it.
void run_rank(TrainOptions options, const std::function<void(const TrainOptions&, Communicator&)>& train) {
    const RankStart& start = *options.ranks.start;
    start.follow_parent();
    LocalGroup group = LocalGroup::of(start.descriptor);
    LocalCommunicator ranks(group, start.rank, std::chrono::duration<double>(options.ranks.timeout));
    try {
        options.ranks.count = group.size();
        const std::vector<std::string> devices = devices_of_ranks(options);
        share_threads(devices, options.common.open);
        options.common.devices = {devices.at(static_cast<std::size_t>(start.rank))};
        if (start.attempt > 0 && std::filesystem::exists(RunConfig::file_in(options.output))) {
            options.resume = true;
            options.from.clear();
            options.given.config.clear();
            options.given.texts = {};
        }
        ranks.introduce(options.common.device().empty() ? "the best device" : options.common.device());
        train(options, ranks);
    } catch (const OtherRankFailed&) {
        throw;
    } catch (const std::exception& error) {
        ranks.fail(error.what());
        throw OtherRankFailed();  // without a message
    }
}

}  // namespace

void train_on_ranks(TrainOptions options, const std::function<void(const TrainOptions&, Communicator&)>& train) {
    if (options.ranks.start) {
        run_rank(std::move(options), train);
        return;
    }
    const bool several =
        options.ranks.count || names_several(asked_device(options.common.device(), options.common.open.settings));
    const std::vector<std::string> devices = several ? devices_of_ranks(options) : std::vector<std::string>{""};
    if (devices.size() == 1) {
        train(options, alone());
        return;
    }
    warn_of_shared_devices(devices);
    for (int attempt = 0;; ++attempt) {
        const std::optional<RankFailure> failure =
            RankProcesses(static_cast<int>(devices.size()), options.ranks.command, kRankOption, attempt, environ)
                .wait(stop_requested);
        if (!failure) {
            return;
        }
        const auto rank = static_cast<std::size_t>(failure->rank);
        const std::string reason =
            named(failure->rank, devices[rank].empty() ? "the best device" : devices[rank], failure->reason);
        if (stop_requested() || attempt == options.ranks.restarts) {
            throw Error(reason);
        }
        log_line(fmt::format("{}; starting all ranks again (restart {} of at most {})", reason, attempt + 1,
                             options.ranks.restarts));
    }
}

}  // namespace headscope
