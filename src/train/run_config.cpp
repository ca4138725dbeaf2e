#include "train/run_config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "support/check.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

void make_absolute(nlohmann::json& name, const fs::path& base) {
    if (name.is_string()) {
        name = fs::absolute(base / name.get<std::string>()).lexically_normal().string();
    }
    if (name.is_array()) {
        for (nlohmann::json& one : name) {
            make_absolute(one, base);
        }
    }
}

// In "data" and everything below it. Leaves errors to the reader.
void make_names_absolute(nlohmann::json& json, const fs::path& base) {
    for (const auto& item : json.items()) {
        if (item.value().is_object() ||
            (item.value().is_array() && !item.value().empty() && item.value()[0].is_object())) {
            make_names_absolute(item.value(), base);
        } else if (item.key() == "source" || item.key() == "target" || item.key() == "tsv" || item.key() == "text" ||
                   item.key() == "reference" || item.key() == "reward") {
            make_absolute(item.value(), base);
        }
    }
}

nlohmann::json::json_pointer path_of(std::string name) {
    std::ranges::replace(name, '.', '/');
    return nlohmann::json::json_pointer("/" + name);
}

}  // namespace

std::string RunConfig::file_in(const std::string& folder) {
    return (fs::path(folder) / "training.json").string();
}

RunConfig RunConfig::read(const std::string& file, const std::string& data_directory) {
    RunConfig config(read_config_json(file), file);
    static_cast<void>(parse_train_config(config.json_, file, data_directory));  // so that errors name this file
    config.json_ = with_data(std::move(config.json_),
                             data_directory.empty() ? fs::path(file).parent_path().string() : data_directory);
    return config;
}

nlohmann::json RunConfig::with_data(nlohmann::json json, const std::string& data_directory) {
    make_names_absolute(json["data"], data_directory);
    return json;
}

RunConfig RunConfig::of_run(const std::string& folder) {
    const std::string file = file_in(folder);
    if (!fs::exists(file)) {
        throw Error(fmt::format(
            "'{}' holds no configuration of a run: give one, or --source and --target, or --text, to start from "
            "texts",
            folder));
    }
    return {read_config_json(file), file};
}

void RunConfig::set_at(const std::string& name, const nlohmann::json& value) {
    json_[path_of(name)] = value;
}

std::int64_t RunConfig::number(const std::string& name, std::int64_t missing) const {
    return json_.value(path_of(name), missing);
}

void RunConfig::set_by(const char* option, const std::string& name, const nlohmann::json& value) {
    const std::string section = name.substr(0, name.find('.'));
    if (!json_.contains(section)) {
        options_[section] = option;  // which the task may not know
    }
    set_at(name, value);
    options_[name] = option;
}

std::string RunConfig::with_options(std::string message) const {
    for (const auto& [key, option] : options_) {
        const std::string name = fmt::format("\"{}\"", key);
        for (std::size_t at = message.find(name); at != std::string::npos; at = message.find(name, at)) {
            at += name.size();
            const bool has_value = message.compare(at, 2, " (") == 0;
            message.replace(at, has_value ? 2 : 0, fmt::format(" ({}{}", option, has_value ? ": " : ")"));
        }
    }
    return message;
}

TrainConfig RunConfig::parsed() const {
    return naming_options([&] {
        TrainConfig config = parse_train_config(json_, file_, "");
        check_train_config(config);
        return config;
    });
}

void RunConfig::save(const std::string& folder) const {
    atomic_write_file(file_in(folder), json_.dump(2) + "\n");
}

}  // namespace headscope
