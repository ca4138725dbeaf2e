#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/made_folder.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {
namespace {

constexpr const char* kStateKey = "headscope_checkpoint";
constexpr const char* kChecksumKey = "headscope_checksum";
constexpr int kFormat = 3;
constexpr int kOldest = 2;  // readable format
constexpr const char* kParameters = "parameters";
constexpr const char* kFirstMoment = "adam.m";
constexpr const char* kSecondMoment = "adam.v";
constexpr const char* kMean = "mean";
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

struct NamedTensor {
    std::string name;
    const Tensor& tensor;
    Shape shape;                               // in the file
    std::int64_t begin = 0;                    // of `tensor` in it
    const std::vector<std::byte>* whole = {};  // what is written, if not `tensor`
};

std::vector<NamedTensor> named(const CheckpointTensors& tensors) {
    const Shape flat = tensors.parameters.shape;
    std::vector<NamedTensor> list = {{kParameters, tensors.parameters, flat}};
    if (tensors.first_moment.defined()) {
        const bool sliced = tensors.first_moment.shape != flat;
        const auto whole = [&](const std::vector<std::byte>& bytes) { return sliced ? &bytes : nullptr; };
        list.push_back(
            {kFirstMoment, tensors.first_moment, flat, tensors.moments_begin, whole(tensors.whole_first_moment)});
        list.push_back(
            {kSecondMoment, tensors.second_moment, flat, tensors.moments_begin, whole(tensors.whole_second_moment)});
    }
    if (tensors.mean.defined()) {
        list.push_back({kMean, tensors.mean, flat});
    }
    for (const auto& [name, tensor] : tensors.others) {
        list.push_back({name, tensor, tensor.shape});
    }
    return list;
}

// Covers everything that a run reads from a checkpoint: the state's text and each tensor. Each 8 bytes are mixed in by
// a bijection, so damage within one word is always detected.
class Checksum {
public:
    void add(const void* data, std::size_t bytes) {
        sum_ = mix_bits(sum_ ^ (bytes + 1));
        const auto* from = static_cast<const std::byte*>(data);
        for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, from + at, std::min(sizeof(word), bytes - at));
            sum_ = mix_bits(sum_ ^ word);
        }
    }
    void add(std::string_view text) { add(text.data(), text.size()); }
    std::string text() const { return fmt::format("{:016x}", sum_); }

private:
    std::uint64_t sum_ = 0;
};

std::string checksum_of(const SafeTensorsFile& file, const std::string& state) {
    Checksum checksum;
    checksum.add(state);
    std::vector<std::string> names{kParameters, kFirstMoment, kSecondMoment, kMean};
    std::set<std::string> others;
    for (const SafeTensorsEntry& entry : file.entries()) {
        if (std::ranges::find(names, entry.name) == names.end()) {
            others.insert(entry.name);
        }
    }
    names.insert(names.end(), others.begin(), others.end());
    for (const std::string& name : names) {
        if (file.contains(name)) {
            const MappedTensor tensor = file.at(name);
            checksum.add(name);
            checksum.add(tensor.data.data(), tensor.data.size());
        }
    }
    return checksum.text();
}

// SafeTensorsFile has checked all sizes against the file.
nlohmann::json checked_state(const SafeTensorsFile& file) {
    const auto found = file.metadata().find(kStateKey);
    if (found == file.metadata().end()) {
        throw Error(fmt::format("{} is not a headscope checkpoint: its metadata lacks \"{}\"", file.path(), kStateKey));
    }
    const auto written = file.metadata().find(kChecksumKey);
    const std::string sum = checksum_of(file, found->second);
    if (written != file.metadata().end() && written->second != sum) {
        throw Error(
            fmt::format("{} is damaged: its checksum is {}, but its bytes give {}", file.path(), written->second, sum));
    }
    nlohmann::json state = nlohmann::json::parse(found->second, nullptr, false);
    const nlohmann::json format = state.is_object() ? state.value("format", nlohmann::json()) : nlohmann::json();
    const bool known = format.is_number_integer() && format >= kOldest && format <= kFormat;
    if (!known || written == file.metadata().end()) {
        throw Error(
            fmt::format("{} is a checkpoint of another version of headscope (expected format {} to {}): continue with "
                        "the program that wrote it",
                        file.path(), kOldest, kFormat));
    }
    return state;
}

}  // namespace

CheckpointTensors tensors_of(Learner& learner) {
    return {.parameters = learner.parameters().flat_values(),
            .first_moment = learner.optimizer().first_moment(),
            .second_moment = learner.optimizer().second_moment(),
            .mean = learner.mean() == nullptr ? Tensor() : learner.mean()->values(),
            .moments_begin = learner.optimizer().range().begin};
}

CheckpointTensors collect_tensors(Learner& learner) {
    CheckpointTensors tensors = tensors_of(learner);
    if (learner.ranks().size() > 1) {
        tensors.whole_first_moment = learner.sum()->collect(tensors.first_moment);
        tensors.whole_second_moment = learner.sum()->collect(tensors.second_moment);
    }
    return tensors;
}

CheckpointTensors weights_of(Learner& learner, bool mean) {
    return {mean ? learner.mean()->values() : learner.parameters().flat_values()};
}

void write_checkpoint(Backend& backend, const std::string& path, const CheckpointTensors& tensors,
                      const nlohmann::json& state) {
    std::deque<std::vector<std::byte>> data;
    std::vector<TensorToWrite> list;
    nlohmann::json whole = state;
    whole["format"] = kFormat;
    const std::string text = whole.dump();
    Checksum checksum;
    checksum.add(text);
    for (const NamedTensor& item : named(tensors)) {
        const std::size_t bytes = static_cast<std::size_t>(item.shape.elements()) * size_of(item.tensor.dtype);
        const std::vector<std::byte>* from = item.whole;
        if (from == nullptr) {
            from = &data.emplace_back(bytes);
            backend.download(item.tensor, data.back().data(), bytes);
        }
        HEADSCOPE_CHECK(from->size() == bytes, item.name + " is not whole on this rank");
        list.push_back({item.name, item.tensor.dtype, item.shape, from->data()});
        checksum.add(item.name);
        checksum.add(from->data(), bytes);
    }
    write_safetensors(path, list, {{kStateKey, text}, {kChecksumKey, checksum.text()}});
}

Checkpoint Checkpoint::open(const std::string& path) {
    Checkpoint checkpoint;
    checkpoint.file_ = SafeTensorsFile::open(path);
    checkpoint.state_ = checked_state(checkpoint.file_);
    return checkpoint;
}

MappedTensor Checkpoint::parameters() const {
    return file_.at(kParameters);
}

void Checkpoint::read(Backend& backend, const CheckpointTensors& into) const {
    for (const NamedTensor& item : named(into)) {
        const MappedTensor stored = file_.at(item.name);
        if (stored.shape != item.shape || stored.dtype != item.tensor.dtype) {
            throw Error(fmt::format("{}: tensor \"{}\" is {} {}, expected {} {}: it belongs to another model", path(),
                                    item.name, name_of(stored.dtype), stored.shape.to_string(),
                                    name_of(item.tensor.dtype), item.shape.to_string()));
        }
        const std::size_t each = size_of(item.tensor.dtype);
        backend.upload(item.tensor, stored.data.data() + static_cast<std::size_t>(item.begin) * each,
                       static_cast<std::size_t>(item.tensor.elements()) * each);
    }
}

CheckpointFolder::CheckpointFolder(std::string path) : path_(std::move(path)) {
    MadeFolder(path_).keep();
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

std::vector<Checkpoint> CheckpointFolder::newest_whole(std::int64_t count, std::int64_t newest,
                                                       const std::function<void(const std::string&)>& skipped) const {
    const std::vector<std::int64_t> candidates = steps();
    std::vector<Checkpoint> whole;
    for (auto step = candidates.rbegin(); step != candidates.rend() && std::ssize(whole) < count; ++step) {
        if (*step > newest) {
            continue;
        }
        try {
            whole.push_back(Checkpoint::open(file_of(*step)));
        } catch (const Error& error) {
            skipped(error.what());
        }
    }
    std::reverse(whole.begin(), whole.end());
    return whole;
}

void CheckpointFolder::remove_leftovers() const {
    const std::string ending = std::string(kSuffix) + ".tmp";  // AtomicFile
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kPrefix) && name.ends_with(ending)) {
            std::error_code ignored;  // it only uses space
            std::filesystem::remove(entry.path(), ignored);
        }
    }
}

void CheckpointFolder::keep(const std::vector<std::int64_t>& kept, std::int64_t newest) const {
    for (const std::int64_t step : steps()) {
        if (step <= newest && std::find(kept.begin(), kept.end(), step) == kept.end()) {
            remove(step);
        }
    }
}

void CheckpointFolder::remove_after(std::int64_t after) const {
    for (const std::int64_t step : steps()) {
        if (step > after) {
            remove(step);
        }
    }
}

void CheckpointFolder::remove(std::int64_t step) const {
    std::error_code ignored;  // a file that cannot be removed only uses space
    std::filesystem::remove(file_of(step), ignored);
}

}  // namespace headscope
