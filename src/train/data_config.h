// The section "data" of a configuration: which files, how often, and what is made of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headscope {

// Parallel text: `source` and `target` are files of one sentence a line, line i of one the translation of line i of
// the other, or `tsv` are files of "source TAB target" lines.
struct CorpusFiles {
    std::vector<std::string> source, target, tsv;
    double weight = 1.0;    // "weight": how often an epoch shows each pair
    bool shuffled = false;  // "order": "shuffled", where neighbouring lines have nothing to do with each other
};

struct DataConfig {
    std::vector<CorpusFiles> train;
    CorpusFiles valid;  // may be empty
    // "join": pairs are shown with their neighbours in one example, see ExampleOptions.
    double joined_share = 0.0;
    std::int64_t joined_most = 8;
    double bpe_dropout = 0.0;  // of both sides (BpeDropout)

    // What decides which examples there are, beside the files' contents; keys as of TrainConfig::identity().
    nlohmann::json identity() const;
};

// Relative paths count from `base`. Error names the file and the key, also for unknown keys.
DataConfig parse_data_config(const nlohmann::json& json, const std::string& file, const std::string& base);

}  // namespace headscope
