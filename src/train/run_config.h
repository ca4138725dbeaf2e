// The configuration of a run, saved in its folder so that it can be edited and used again.
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
    // Errors as in read_train_config. Makes the names of data files absolute, since the configuration may move.
    static RunConfig read(const std::string& file, const std::string& data_directory);
    // Reads the configuration saved in a run's folder. Error if there is none.
    static RunConfig of_run(const std::string& folder);
    // `json` with the names of its data files made absolute, as read() does it.
    static nlohmann::json with_data(nlohmann::json json, const std::string& data_directory);
    // `file`: where `config` will be saved.
    RunConfig(nlohmann::json config, std::string file) : json_(std::move(config)), file_(std::move(file)) {}

    // Sets "training.<key>".
    void set(const char* key, const nlohmann::json& value) { json_["training"][key] = value; }
    // Sets a key by its full name, such as "data.template".
    void set_at(const std::string& name, const nlohmann::json& value);
    // The same for an option of the command line, which errors about the key then name.
    void set_by(const char* option, const std::string& name, const nlohmann::json& value);
    bool has(const char* key) const { return json_.contains("training") && json_["training"].contains(key); }
    const nlohmann::json& json() const { return json_; }
    void unset(const char* key) { json_["training"].erase(key); }
    // Runs `work`, whose errors name these options.
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
    // A whole number by its full name.
    std::int64_t number(const std::string& name, std::int64_t missing) const;
    std::int64_t count(const char* key) const { return json_["training"].value(key, std::int64_t{0}); }
    const std::string& file() const { return file_; }
    TrainConfig parsed() const;  // and checked
    void save(const std::string& folder) const;

    static std::string file_in(const std::string& folder);

private:
    nlohmann::json json_;
    std::string file_;
    std::map<std::string, std::string> options_;  // by the full name of the key that they set
};

}  // namespace headscope
