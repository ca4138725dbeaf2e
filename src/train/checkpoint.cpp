#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "io/safetensors.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kStateKey = "headscope_checkpoint";
constexpr int kFormat = 1;
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

struct NamedTensor {
    const char* name;
    const Tensor& tensor;
};

std::vector<NamedTensor> named(const CheckpointTensors& tensors) {
    std::vector<NamedTensor> list = {{"parameters", tensors.parameters}};
    if (tensors.first_moment.defined()) {
        list.push_back({"adam.m", tensors.first_moment});
        list.push_back({"adam.v", tensors.second_moment});
    }
    return list;
}

// Every tensor is there with its whole data (the reader of safetensors has checked all sizes against the file).
nlohmann::json state_of(const SafeTensorsFile& file) {
    const auto found = file.metadata().find(kStateKey);
    if (found == file.metadata().end()) {
        throw Error(fmt::format("{} is no checkpoint of headscope: its metadata lacks \"{}\"", file.path(), kStateKey));
    }
    nlohmann::json state = nlohmann::json::parse(found->second, nullptr, false);
    if (!state.is_object() || state.value("format", 0) != kFormat) {
        throw Error(fmt::format("{}: its checkpoint state is damaged or of another version (expected format {})",
                                file.path(), kFormat));
    }
    return state;
}

}  // namespace

void write_checkpoint(Backend& backend, const std::string& path, const CheckpointTensors& tensors,
                      const nlohmann::json& state) {
    std::vector<std::vector<std::byte>> data;
    std::vector<TensorToWrite> list;
    for (const NamedTensor& item : named(tensors)) {
        const std::size_t bytes = static_cast<std::size_t>(item.tensor.elements()) * size_of(item.tensor.dtype);
        data.emplace_back(bytes);
        backend.download(item.tensor, data.back().data(), bytes);
        list.push_back({item.name, item.tensor.dtype, item.tensor.shape, data.back().data()});
    }
    nlohmann::json whole = state;
    whole["format"] = kFormat;
    write_safetensors(path, list, {{kStateKey, whole.dump()}});
}

nlohmann::json read_checkpoint_state(const std::string& path) {
    return state_of(SafeTensorsFile::open(path));
}

void read_checkpoint_tensors(Backend& backend, const std::string& path, const CheckpointTensors& into) {
    const SafeTensorsFile file = SafeTensorsFile::open(path);
    for (const NamedTensor& item : named(into)) {
        const MappedTensor stored = file.at(item.name);
        if (stored.shape != item.tensor.shape || stored.dtype != item.tensor.dtype) {
            throw Error(fmt::format("{}: tensor \"{}\" is {} {}, expected {} {}: it belongs to another model", path,
                                    item.name, name_of(stored.dtype), stored.shape.to_string(),
                                    name_of(item.tensor.dtype), item.tensor.shape.to_string()));
        }
        backend.upload(item.tensor, stored.data.data(), stored.data.size());
    }
}

CheckpointFolder::CheckpointFolder(std::string path) : path_(std::move(path)) {
    std::error_code failure;
    std::filesystem::create_directories(path_, failure);
    if (failure) {
        throw Error(fmt::format("cannot make the folder {}: {}", path_, failure.message()));
    }
}

std::string CheckpointFolder::file_of(std::int64_t step) const {
    return (std::filesystem::path(path_) / fmt::format("{}{:08}{}", kPrefix, step, kSuffix)).string();
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
    std::vector<std::int64_t> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) {
            continue;
        }
        std::int64_t step = 0;
        const char* end = name.data() + name.size() - kSuffix.size();
        const auto [stop, problem] = std::from_chars(name.data() + kPrefix.size(), end, step);
        if (problem == std::errc{} && stop == end) {
            found.push_back(step);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<std::int64_t> CheckpointFolder::newest_readable(
    const std::function<void(const std::string&)>& skipped) const {
    std::vector<std::int64_t> candidates = steps();
    for (auto step = candidates.rbegin(); step != candidates.rend(); ++step) {
        try {
            static_cast<void>(read_checkpoint_state(file_of(*step)));
            return *step;
        } catch (const Error& error) {
            skipped(error.what());
        }
    }
    return std::nullopt;
}

void CheckpointFolder::keep_last(std::int64_t count) const {
    const std::vector<std::int64_t> found = steps();
    for (std::size_t i = 0; i + static_cast<std::size_t>(count) < found.size(); ++i) {
        std::error_code ignored;  // a file that cannot be removed only takes room
        std::filesystem::remove(file_of(found[i]), ignored);
    }
}

}  // namespace headscope
