// A copy of one of tests/import/models, for tests to damage.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "import/open_model.h"
#include "io/proto_wire.h"
#include "io/strict_json.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"

namespace headscope {

class BrokenModel {
public:
    explicit BrokenModel(const std::string& name) { add(name, ""); }

    std::string path() const { return std::filesystem::path(folder_.file("config.json")).parent_path().string(); }
    std::string path(const std::string& name) const { return folder_.file(name); }
    void remove(const std::string& name) const { std::filesystem::remove(path(name)); }
    void write(const std::string& name, const std::string& bytes) const { folder_.write(name, bytes); }
    // Files of another model, under their own names: one, or with "" all.
    void add(const std::string& model, const std::string& file) const {
        std::filesystem::copy(
            checkout_file("tests/import/models/" + model + "/" + file), path(file),
            std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    }

    template <class Change>
    void change_json(const std::string& name, const Change& change) const {
        nlohmann::json json = read_json_file(path(name));
        change(json);
        write(name, json.dump());
    }
    // Of a file of safetensors; `change` gets the header.
    template <class Change>
    void change_header(const std::string& name, const Change& change) const {
        const std::string bytes = read_all(path(name));
        std::uint64_t size = 0;
        for (std::size_t i = 8; i-- > 0;) {
            size = size << 8 | static_cast<unsigned char>(bytes[i]);
        }
        nlohmann::json header = nlohmann::json::parse(bytes.substr(8, size));
        change(header);
        std::string text = header.dump();
        text.resize((text.size() + 7) / 8 * 8, ' ');
        std::string file;
        append_little_endian(file, text.size(), 8);
        write(name, file + text + bytes.substr(8 + size));
    }
    void replace_text(const std::string& name, const std::string& from, const std::string& to) const {
        std::string text = read_all(path(name));
        const std::size_t at = text.find(from);
        HEADSCOPE_CHECK(at != std::string::npos, name + " lacks " + from);
        write(name, text.replace(at, from.size(), to));
    }

    // The message of the error that opening the model and reading its weights ends with; empty if there is none.
    std::string complaint() const {
        return error_of([&] {
            const auto backend = open_device("cpu");
            read_parameters(*backend, open_model(path()), DType::F32);
        });
    }

private:
    TemporaryFolder folder_;
};

}  // namespace headscope
