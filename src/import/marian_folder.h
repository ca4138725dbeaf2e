// What lies beside the weights of a Marian model: decoder.yml, or the files of a training.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "import/problems.h"

namespace headscope {

struct MarianFiles {
    std::string weights;
    std::string decoder;                                // the file that the next two come from
    std::vector<std::string> vocabularies;              // of the source and of the target
    nlohmann::json options = nlohmann::json::object();  // how to decode
    std::vector<std::string> remarks = {};
};

// The .npz files of a folder that a training has left, each with its MODEL.npz.decoder.yml or all with the only one:
// the last one first, then the best ones, then those of single updates from the newest on.
std::vector<std::string> trained_by_marian(const std::string& folder);

// `path`: a folder with decoder.yml, a training's folder, of which a remark says which model was chosen, or a .npz
// file.
MarianFiles find_marian_files(const std::string& path);

// The author's decoding options; reports those that are not obeyed.
nlohmann::json marian_decoding(const MarianFiles& files, Problems& problems, std::vector<std::string>& remarks);

}  // namespace headscope
