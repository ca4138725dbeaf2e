#include "io/whole_file.h"

#include <string_view>

#include "io/unpacking_reader.h"

namespace headscope {

std::string read_whole_file(const std::string& path, const std::string& name) {
    UnpackingReader reader(path, name);
    std::string text;
    for (std::string_view bytes = reader.read(); !bytes.empty(); bytes = reader.read()) {
        text += bytes;
    }
    return text;
}

}  // namespace headscope
