// CTranslate2's model.bin for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/proto_wire.h"

namespace headscope::ctranslate2 {

struct Variable {
    std::string name;
    std::vector<std::uint32_t> shape;
    int type = 0;  // 0 F32, 1 I8, 2 I16, 3 I32, 4 F16, 5 BF16; before version 4 the size of an item
    std::string data;
    std::uint32_t size = 0;  // bytes; before version 4 items
};

inline std::string string(const std::string& text) {
    std::string bytes;
    append_little_endian(bytes, text.size() + 1, 2);
    return bytes + text + '\0';
}

inline std::string model(std::uint32_t version, const std::vector<Variable>& variables,
                         const std::vector<std::pair<std::string, std::string>>& aliases = {}) {
    std::string file;
    append_little_endian(file, version, 4);
    file += string("TransformerSpec");
    append_little_endian(file, 7, 4);
    append_little_endian(file, variables.size(), 4);
    for (const Variable& variable : variables) {
        file += string(variable.name);
        append_little_endian(file, variable.shape.size(), 1);
        for (const std::uint32_t dim : variable.shape) {
            append_little_endian(file, dim, 4);
        }
        append_little_endian(file, static_cast<std::uint64_t>(variable.type), 1);
        append_little_endian(file, variable.size != 0 ? variable.size : variable.data.size(), 4);
        file += variable.data;
    }
    if (version >= 3) {
        append_little_endian(file, aliases.size(), 4);
        for (const auto& [alias, name] : aliases) {
            file += string(alias) + string(name);
        }
    }
    return file;
}

}  // namespace headscope::ctranslate2
