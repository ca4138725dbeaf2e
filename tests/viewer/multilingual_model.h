// A translation model of random weights with two target languages, as a model directory.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "io/whole_file.h"
#include "tests/viewer/language_model.h"

namespace headscope::viewer {

inline std::string write_multilingual_model(const TemporaryFolder& folder) {
    const std::string path = write_language_model(folder, "multilingual", Architecture::EncoderDecoder);
    const std::string file = path + "/config.json";
    nlohmann::json config = nlohmann::json::parse(read_whole_file(file, file));
    config["frame"]["target_begin"] = {"target_language"};
    config["frame"]["languages"] = {{"deu", 21}, {"fra", 22}};
    folder.write("multilingual/config.json", config.dump());
    return path;
}

}  // namespace headscope::viewer
