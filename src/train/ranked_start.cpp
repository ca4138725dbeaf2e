#include "train/ranked_start.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "support/check.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToken = "token";

}  // namespace

nlohmann::json tell_start(Communicator& ranks, nlohmann::json told, const std::string& folder) {
    std::string token;
    if (ranks.leads()) {
        token = (fs::path(folder) / fmt::format(".ranks-{}", ::getpid())).string();
        atomic_write_file(token, "");
        told[kToken] = fs::path(token).filename().string();
    }
    told = nlohmann::json::parse(ranks.broadcast(told.dump()));
    const fs::path seen = fs::path(folder) / told.at(kToken).get<std::string>();
    const std::vector<std::string> all = ranks.gather(fs::exists(seen) ? "" : "missing");
    if (ranks.leads()) {
        std::error_code ignored;
        fs::remove(token, ignored);
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (!all[rank].empty()) {
            throw Error(
                fmt::format("{} does not see the files of {} in '{}': the --output folder must be one that all "
                            "machines share",
                            ranks.name_of(static_cast<int>(rank)), ranks.name_of(0), folder));
        }
    }
    return told;
}

void require_divisible(const TrainConfig& config, int ranks, std::int64_t shards) {
    if (ranks == 1) {
        return;
    }
    const auto only_one = [&](const std::string& what, const std::string& why) {
        throw Error(fmt::format("{}: {} is trained by one rank, not {}, since {}", config.file, what, ranks, why));
    };
    if (traits(config.task).rolls_out) {
        only_one(fmt::format("the \"task\" \"{}\"", name_of(config.task)),
                 "each of its steps needs what the last one sampled");
    }
    if (traits(config.task).scores_samples) {
        only_one(fmt::format("the \"task\" \"{}\"", name_of(config.task)),
                 "each rank would sample all translations of a step");
    }
    const ModelConfig model =
        config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary);
    if (model.norm.type == NormType::Batch) {
        only_one("a batch norm", "its running averages follow the passes one by one");
    }
    if (shards < ranks) {
        throw Error(
            fmt::format("{}: \"training.shards\" ({}) is less than the number of ranks ({}), and a run keeps it "
                        "from its first step: start fewer ranks, or a new run with more shards",
                        config.file, shards, ranks));
    }
}

void require_same(Communicator& ranks, const nlohmann::ordered_json& facts) {
    const std::vector<std::string> all = ranks.gather(facts.dump());
    const auto of_first = nlohmann::ordered_json::parse(all.front());
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        const auto theirs = nlohmann::ordered_json::parse(all[rank]);
        for (const auto& [name, value] : of_first.items()) {
            if (theirs.value(name, nlohmann::ordered_json()) != value) {
                throw Error(
                    fmt::format("{} has another {} than {}: {}, not {}; all ranks must start from the same "
                                "program, configuration and data",
                                ranks.name_of(static_cast<int>(rank)), name, ranks.name_of(0),
                                theirs.value(name, nlohmann::ordered_json()).dump(), value.dump()));
            }
        }
    }
}

}  // namespace headscope
