// The configuration that a run is started with, kept in its folder so that it can be edited and given back.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "support/check.h"
#include "train/train_config.h"

namespace headscope {

class RunConfig {
public:
    // Error as read_train_config. Names of data files become absolute: the configuration may move.
    static RunConfig read(const std::string& file, const std::string& data_directory);
    // What is kept in a run's folder; Error, which says what to give instead, where nothing is.
    static RunConfig of_run(const std::string& folder);
    // `json` is what `file` is going to hold.
    RunConfig(nlohmann::json json, std::string file) : json_(std::move(json)), file_(std::move(file)) {}

    // "training.<key>", from the command line or found.
    void set(const char* key, const nlohmann::json& value) { json_["training"][key] = value; }
    // By an option of the command line, which complaints about the key then name.
    void set_by(const char* option, const char* key, const nlohmann::json& value);
    void unset(const char* key) { json_["training"].erase(key); }
    // Runs `work` with such complaints.
    template <class Work>
    auto naming_options(const Work& work) const {
        try {
            return work();
        } catch (const Error& error) {
            const std::string named = with_options(error.what());
            if (named == error.what()) {
                throw;
            }
            throw Error(named);
        }
    }
    // '"training.steps" (4)' becomes '"training.steps" (--steps: 4)', and '"training.steps"' '"training.steps"
    // (--steps)'.
    std::string with_options(std::string message) const;
    std::int64_t count(const char* key) const { return json_["training"].value(key, std::int64_t{0}); }
    const std::string& file() const { return file_; }
    TrainConfig parsed() const;  // and checked
    void keep(const std::string& folder) const;

    static std::string kept_in(const std::string& folder);  // the file's name

private:
    nlohmann::json json_;
    std::string file_;
    std::map<std::string, std::string> options_;  // that set a key, by that
};

}  // namespace headscope
