// The folder of an experiment, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace headscope {

// Of two seeds of the base, one of A1, an impossible row and one that failed.
inline nlohmann::json example_table() {
    return nlohmann::json::parse(R"({"experiment": "table3", "rows": [
        {"row": "base", "varied": "", "paper": {"perplexity": 4.92, "bleu": 25.8, "parameters_millions": 65.0},
         "ours": {"parameters": 2151936, "steps": 1200, "perplexity": {"mean": 8.0, "deviation": 0.5},
                  "bleu": {"mean": 30.0, "deviation": 1.0},
                  "trials": [{"seed": 1, "minutes": 18.0, "perplexity": 7.5, "bleu": 31.0},
                             {"seed": 2, "minutes": 20.0, "perplexity": 8.5, "bleu": 29.0}]}},
        {"row": "A1", "varied": "h 1, d_k 128, d_v 128",
         "paper": {"perplexity": 5.29, "bleu": 24.9, "parameters_millions": null},
         "ours": {"parameters": 2151936, "steps": 1200, "perplexity": {"mean": 8.8, "deviation": null},
                  "bleu": {"mean": 28.5, "deviation": null},
                  "trials": [{"seed": 1, "minutes": 17.5, "perplexity": 8.8, "bleu": 28.5}]}},
        {"row": "A4", "varied": "h 32", "impossible": "d_k is 0.5",
         "paper": {"perplexity": 5.01, "bleu": 25.4, "parameters_millions": null}},
        {"row": "E", "varied": "learned positions", "problems": ["seed 1: no disk"],
         "paper": {"perplexity": 4.92, "bleu": 25.7, "parameters_millions": null}}]})");
}

inline void write_table(const std::string& folder, const nlohmann::json& table) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/experiment.json") << R"({"experiment": "table3"})";
    std::ofstream(folder + "/table.json") << table.dump(2);
}

// Trials 1 and 2 of the base and trial 1 of A1 in folder/table3, with their models and losses.
template <class Folder, class WriteModel>
void write_experiment(const Folder& folder, const WriteModel& write_model) {
    write_table(folder.file("table3"), example_table());
    double nll = 4.0;
    for (const std::string trial : {"table3/base-s1", "table3/base-s2", "table3/A1-s1"}) {
        std::filesystem::create_directories(folder.file(trial));
        write_model(folder, trial + "/model", 3);
        std::ofstream log(folder.file(trial + "/log.jsonl"));
        for (const int step : {10, 20}) {
            log << nlohmann::json({{"kind", "train"}, {"step", step}, {"nll", nll * 10.0 / step}}).dump() << '\n';
        }
        nll += 1.0;
    }
}

}  // namespace headscope
