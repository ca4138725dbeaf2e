// Pickles of protocol 2 for tests, built from the inside out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/proto_wire.h"
#include "tests/io/zip_writer.h"

namespace headscope::pickle {

inline std::string text(const std::string& value) {
    std::string opcodes = "X";
    append_little_endian(opcodes, value.size(), 4);
    return opcodes + value;
}

inline std::string integer(std::int64_t value) {
    std::string opcodes = "\x8a\x08";
    append_little_endian(opcodes, static_cast<std::uint64_t>(value), 8);
    return opcodes;
}

inline std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts) {
        all += part;
    }
    return all;
}

inline std::string tuple(const std::vector<std::string>& items) {
    return joined({"(", joined(items), "t"});
}

inline std::string integers(const std::vector<std::int64_t>& values) {
    std::vector<std::string> items;
    for (const std::int64_t value : values) {
        items.push_back(integer(value));
    }
    return tuple(items);
}

inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
    std::string opcodes = "}(";
    for (const auto& [key, value] : items) {
        opcodes += text(key) + value;
    }
    return opcodes + "u";
}

inline std::string global(const std::string& module, const std::string& name) {
    return joined({"c", module, "\n", name, "\n"});
}

inline std::string call(const std::string& module, const std::string& name, const std::vector<std::string>& arguments) {
    return global(module, name) + tuple(arguments) + "R";
}

inline std::string storage(const std::string& type, const std::string& key, std::int64_t elements) {
    return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(elements)}) + "Q";
}

inline std::string tensor(const std::string& storage, std::int64_t offset, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
    return call(
        "torch._utils", "_rebuild_tensor_v2",
        {storage, integer(offset), integers(shape), integers(strides), "\x89", call("collections", "OrderedDict", {})});
}

inline std::string whole(const std::string& opcodes) {
    return joined({"\x80\x02", opcodes, "."});
}

// What torch.save writes: a zip archive with the storages' data.
inline std::string torch_zip(const std::string& root, std::vector<std::pair<std::string, std::string>> storages = {},
                             const std::string& byte_order = "little") {
    std::vector<ZipPart> parts{{"archive/data.pkl", whole(root)}, {"archive/byteorder", byte_order}};
    for (auto& [key, data] : storages) {
        parts.push_back({"archive/data/" + key, std::move(data)});
    }
    return zip_of(parts);
}

inline std::string torch_legacy(const std::string& root,
                                const std::vector<std::pair<std::string, std::string>>& storages,
                                std::size_t element_size = 4, const std::string& little_endian = "\x88") {
    std::string file = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    file += whole(integer(1001)) + whole(dict({{"little_endian", little_endian}})) + whole(root);
    std::string keys = "](";
    std::string data;
    for (const auto& [key, bytes] : storages) {
        keys += text(key);
        append_little_endian(data, bytes.size() / element_size, 8);
        data += bytes;
    }
    return file + whole(keys + "e") + data;
}

}  // namespace headscope::pickle
