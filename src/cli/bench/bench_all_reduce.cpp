#include "cli/bench/bench_all_reduce.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "backend/ops/elementwise.h"
#include "cli/command.h"
#include "cli/ranks.h"
#include "cli/result_origin.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "parallel/network.h"
#include "parallel/sharded_sum.h"
#include "registry/registry.h"
#include "support/median.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct AllReduceOptions {
    CommonOptions common;
    RankOptions ranks;
    double megabytes = 64.0;
    int repeat = 5;
};

// The time of one exchange, of the slowest rank: gradients become sums, and weights come back.
double time_exchange(ShardedSum& sum, Backend& backend, const Tensor& flat, Communicator& ranks) {
    sum.begin();
    for (int shard = sum.mine().first; shard < sum.mine().end; ++shard) {
        sum.add(shard);
    }
    backend.synchronize();
    ranks.meet();
    const auto start = std::chrono::steady_clock::now();
    sum.reduce();
    sum.share(flat);
    backend.synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    double slowest = 0.0;
    for (const std::string& of_rank : ranks.gather(std::to_string(took.count()))) {
        slowest = std::max(slowest, std::stod(of_rank));
    }
    return slowest;
}

MeasuredExchange measure(Backend& backend, Communicator& ranks, double bytes, int repeat) {
    constexpr std::int64_t kGroups = 16 * ShardedSum::kRanges;
    const auto elements = std::max<std::int64_t>(static_cast<std::int64_t>(bytes) / 4 / kGroups, 1) * kGroups;
    const Tensor flat = backend.empty({elements}, DType::F32);
    backend.run(Fill{.out = flat, .value = 1.0F});
    ShardedSum sum(backend, flat, shards_for(ranks.size()), ranks);
    const std::string way = sum.connect();
    if (ranks.leads() && !way.empty()) {
        log_detail("headscope: " + way);
    }
    time_exchange(sum, backend, flat, ranks);  // memory is touched for the first time
    std::vector<double> seconds;
    for (int i = 0; i < repeat; ++i) {
        seconds.push_back(time_exchange(sum, backend, flat, ranks));
    }
    return {static_cast<double>(elements) * 4.0, median(seconds)};
}

void report(const AllReduceOptions& options, int ranks, const std::string& device,
            const std::vector<MeasuredExchange>& rows, const ResultOrigin& origin) {
    const Network network = fit_network(rows, ranks);
    if (options.common.json) {
        nlohmann::ordered_json json = to_json(origin, "all-reduce");
        json["ranks"] = ranks;
        json["device"] = device;
        for (const MeasuredExchange& row : rows) {
            json["sizes"].push_back({{"bytes", row.bytes}, {"seconds", row.seconds}});
        }
        json["bytes_per_second"] = network.bytes_per_second;
        json["latency_seconds"] = network.latency;
        write_output(json_document(json));
        return;
    }
    std::string text =
        fmt::format("{} ranks on {}: gradients become sums, and weights come back\n\n{:>12} {:>12} {:>12}\n", ranks,
                    device, "bytes", "ms", "fitted, ms");
    for (const MeasuredExchange& row : rows) {
        text += fmt::format("{:>12.0f} {:>12.3f} {:>12.3f}\n", row.bytes, 1e3 * row.seconds,
                            1e3 * exchange_seconds(network, ranks, row.bytes));
    }
    text += fmt::format(
        "\n{:.3g} GB/s and {:.3g} us between two ranks: headscope train CONFIG --dry-run --ranks {} "
        "--network {}\n",
        network.bytes_per_second / 1e9, network.latency * 1e6, ranks, text_of(network));
    write_output(text);
}

void bench(const AllReduceOptions& options, const CommonOptions& common, Communicator& ranks,
           const ResultOrigin& origin) {
    if (ranks.size() == 1) {
        throw UsageError("one rank exchanges nothing: say --ranks N, or name several devices");
    }
    const auto backend = open_device(common.device(), common.open);
    std::vector<MeasuredExchange> rows;
    for (double bytes = 4096.0; bytes <= options.megabytes * 1e6; bytes *= 4.0) {
        rows.push_back(measure(*backend, ranks, bytes, options.repeat));
    }
    if (ranks.leads()) {
        report(options, ranks.size(), backend->device().id, rows, origin);
    }
}

}  // namespace

void add_bench_all_reduce(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words) {
    auto options = std::make_shared<AllReduceOptions>();
    options->common.open = open_options;
    options->ranks.command.assign(words, words + count);
    CLI::App* command =
        app.add_subcommand("all-reduce", "What ranks exchange in a step of training, and how fast they are");
    command->footer(
        "Examples:\n"
        "  headscope bench all-reduce --ranks 2 --device cpu\n"
        "  headscope bench all-reduce --device cpu,vulkan --megabytes 16 --json");
    options->common.add_device_list(*command);
    options->ranks.add(*command);
    command->option_defaults()->group("Measurement");
    command->add_option("--megabytes", options->megabytes, "The largest size; sizes grow fourfold from 4 KiB")
        ->check(real_number(0.02, 100'000.0))
        ->capture_default_str();
    command->add_option("--repeat", options->repeat, "Timed exchanges of each size; the median counts")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    options->common.add_json(*command);
    command->callback([options, count, words] {
        const int of_rank = options->ranks.start ? 2 : 0;  // words that only tell a rank which it is
        run_on_ranks(options->ranks, options->common,
                     [&](const CommonOptions& common, Communicator& ranks, int /*attempt*/) {
                         bench(*options, common, ranks, result_origin(count - of_rank, words));
                     });
    });
}

}  // namespace headscope
