// Marian's configurations with other options, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/proto_wire.h"
#include "io/tensor_archive.h"
#include "tests/import/broken_model.h"
#include "tests/io/zip_writer.h"

namespace headscope {

// An npz file with nothing but Marian's configuration.
inline std::string npz_with(const std::string& options) {
    std::string header =
        "{'descr': '|i1', 'fortran_order': False, 'shape': (" + std::to_string(options.size() + 1) + ",), }\n";
    std::string array = "\x93NUMPY\x01";
    array += '\0';
    append_little_endian(array, header.size(), 2);
    return zip_of({{"special:model.yml.npy", array + header + options + '\0'}});
}

// Some options of a Marian model, replaced or added; its tensors are gone.
inline void change_marian_options(const BrokenModel& model,
                                  const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = open_npz_archive(model.path("model.npz")).objects().at("special:model.yml");
    for (const auto& [key, value] : changes) {
        const std::size_t at = text.find(key + ":");
        const std::string line = key + ": " + value;
        if (at == std::string::npos) {
            text += (text.ends_with('\n') ? "" : "\n") + line + "\n";
        } else {
            text.replace(at, text.find('\n', at) - at, line);
        }
    }
    model.write("model.npz", npz_with(text));
}

}  // namespace headscope
