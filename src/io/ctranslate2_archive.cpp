#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "io/byte_reader.h"
#include "io/mapped_file.h"
#include "io/safetensors_header.h"
#include "io/tensor_archive.h"
#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

constexpr std::uint32_t kOldestVersion = 2;
constexpr std::uint32_t kNewestVersion = 6;
constexpr std::uint32_t kFirstWithAliases = 3;
constexpr std::uint32_t kFirstWithTypes = 4;
constexpr const char* kScale = "_scale";

// Without the file's name.
class ModelError : public Error {
public:
    using Error::Error;
};

// All variables of a file, in its order; aliases follow.
class Variables {
public:
    const std::vector<StoredTensor>& all() const { return all_; }
    const StoredTensor* find(const std::string& name) const {
        const auto found = positions_.find(name);
        return found == positions_.end() ? nullptr : &all_[found->second];
    }
    void add(StoredTensor variable) {
        if (!positions_.emplace(variable.name, all_.size()).second) {
            throw ModelError(fmt::format("it has two variables '{}'", variable.name));
        }
        all_.push_back(std::move(variable));
    }
    void add_alias(const std::string& alias, const std::string& name) {
        const StoredTensor* variable = find(name);
        if (variable == nullptr) {
            throw ModelError(fmt::format("'{}' is an alias of '{}', which is missing", alias, name));
        }
        const StoredTensor* known = find(alias);
        if (known != nullptr && known->data.bytes.data() == variable->data.bytes.data()) {
            return;
        }
        StoredTensor copy = *variable;
        copy.name = alias;
        add(std::move(copy));
        if (find(name + kScale) != nullptr) {
            add_alias(alias + kScale, name + kScale);
        }
    }

private:
    std::vector<StoredTensor> all_;
    std::unordered_map<std::string, std::size_t> positions_;
};

std::string read_string(ByteReader& reader) {
    const std::string_view text = reader.text(reader.number<std::uint16_t>());
    if (!text.ends_with('\0') || first_invalid_utf8(text)) {
        throw ModelError("a name does not end with NUL or is not UTF-8");
    }
    return std::string(text.substr(0, text.size() - 1));
}

std::string dtype_of(std::uint8_t type, bool typed, const std::string& name) {
    static constexpr std::array<const char*, 6> kByType{"F32", "I8", "I16", "I32", "F16", "BF16"};
    static constexpr std::array<const char*, 5> kBySize{"", "I8", "I16", "", "F32"};
    if (type >= (typed ? kByType.size() : kBySize.size()) || (!typed && *kBySize[type] == '\0')) {
        throw ModelError(
            fmt::format("variable '{}' has the {} {}, which is unknown", name, typed ? "type" : "item size", type));
    }
    return typed ? kByType[type] : kBySize[type];
}

StoredTensor read_variable(ByteReader& reader, bool typed) {
    StoredTensor variable;
    variable.name = read_string(reader);
    for (auto rank = reader.number<std::uint8_t>(); rank > 0; --rank) {
        variable.shape.push_back(reader.number<std::uint32_t>());
    }
    variable.dtype = dtype_of(reader.number<std::uint8_t>(), typed, variable.name);
    const std::uint64_t size = safetensors_bits(variable.dtype) / 8;
    const std::uint64_t bytes = reader.number<std::uint32_t>() * (typed ? 1 : size);
    std::uint64_t expected = size;
    bool overflow = false;
    for (const std::int64_t dim : variable.shape) {
        overflow = __builtin_mul_overflow(expected, static_cast<std::uint64_t>(dim), &expected) || overflow;
    }
    if (overflow || bytes != expected) {
        throw ModelError(fmt::format("variable '{}' is {} [{}], which does not match its {} bytes of data",
                                     variable.name, variable.dtype, fmt::join(variable.shape, ", "), bytes));
    }
    variable.data.bytes = reader.take(bytes);
    return variable;
}

template <class T>
T element(const StoredTensor& variable, std::size_t at) {
    T value{};
    std::memcpy(&value, variable.data.bytes.data() + at * sizeof(T), sizeof(T));
    return value;
}

float float_at(const StoredTensor& variable, std::size_t at) {
    if (variable.dtype == "F32") {
        return element<float>(variable, at);
    }
    if (variable.dtype == "F16") {
        return from_f16(element<std::uint16_t>(variable, at));
    }
    if (variable.dtype == "BF16") {
        return from_bf16(element<std::uint16_t>(variable, at));
    }
    throw ModelError(fmt::format("variable '{}' has the dtype {}, expected floats", variable.name, variable.dtype));
}

nlohmann::json scalar(const StoredTensor& variable) {
    if (variable.dtype == "I8") {
        return element<std::int8_t>(variable, 0);
    }
    if (variable.dtype == "I16") {
        return element<std::int16_t>(variable, 0);
    }
    if (variable.dtype == "I32") {
        return element<std::int32_t>(variable, 0);
    }
    return float_at(variable, 0);
}

std::vector<float> floats(const StoredTensor& variable) {
    std::vector<float> read;
    const std::size_t count = variable.data.bytes.size() / (safetensors_bits(variable.dtype) / 8);
    for (std::size_t at = 0; at < count; ++at) {
        read.push_back(float_at(variable, at));
    }
    return read;
}

bool is_quantized(const StoredTensor& variable) {
    return variable.dtype == "I8" || variable.dtype == "I16";
}

// Separates weights, to which their scales go, from scalars and strings.
TensorArchive sorted_out(const std::string& path, const std::shared_ptr<const MappedFile>& file,
                         const Variables& variables, nlohmann::json objects) {
    std::set<std::string> scales;
    std::vector<StoredTensor> tensors;
    for (const StoredTensor& variable : variables.all()) {
        if (is_quantized(variable) && variables.find(variable.name + kScale) != nullptr) {
            scales.insert(variable.name + kScale);
        }
    }
    for (const StoredTensor& variable : variables.all()) {
        if (scales.contains(variable.name)) {
            continue;
        }
        const bool quantized = scales.contains(variable.name + kScale);
        const std::string_view text = as_text(variable.data.bytes);
        if (variable.shape.empty()) {
            objects[variable.name] = scalar(variable);
        } else if (variable.dtype == "I8" && variable.shape.size() == 1 && !quantized && !first_invalid_utf8(text)) {
            objects[variable.name] = std::string(text);
        } else {
            StoredTensor tensor = variable;
            tensor.file = path;
            tensor.data.owner = file;
            if (quantized) {
                tensor.scales = floats(*variables.find(variable.name + kScale));
                if (tensor.scales.empty()) {
                    throw ModelError(fmt::format("variable '{}' has no scales", variable.name));
                }
            }
            tensors.push_back(std::move(tensor));
        }
    }
    return {path, std::move(tensors), std::move(objects)};
}

TensorArchive read_model(const std::string& path, const std::shared_ptr<const MappedFile>& file) {
    ByteReader reader(file->bytes());
    const auto version = reader.number<std::uint32_t>();
    if (version < kOldestVersion || version > kNewestVersion) {
        throw ModelError(
            fmt::format("its binary version is {}, expected {} to {}", version, kOldestVersion, kNewestVersion));
    }
    auto objects = nlohmann::json::object();
    objects["binary_version"] = version;
    objects["spec_name"] = read_string(reader);
    objects["spec_revision"] = reader.number<std::uint32_t>();
    Variables variables;
    for (auto rest = reader.number<std::uint32_t>(); rest > 0; --rest) {
        variables.add(read_variable(reader, version >= kFirstWithTypes));
    }
    if (version >= kFirstWithAliases) {
        for (auto rest = reader.number<std::uint32_t>(); rest > 0; --rest) {
            const std::string alias = read_string(reader);
            variables.add_alias(alias, read_string(reader));
        }
    }
    if (const std::size_t rest = file->bytes().size() - reader.position(); rest != 0) {
        throw ModelError(fmt::format("{} bytes follow its last variable", rest));
    }
    return sorted_out(path, file, variables, std::move(objects));
}

}  // namespace

TensorArchive open_ctranslate2_archive(const std::string& path) {
    const auto file = std::make_shared<const MappedFile>(path);
    const auto wrong = [&](const Error& error) {
        return Error(fmt::format("'{}' cannot be read as a CTranslate2 model: {}", path, error.what()));
    };
    try {
        return read_model(path, file);
    } catch (const ModelError& error) {
        throw wrong(error);
    } catch (const TruncatedError& error) {
        throw wrong(error);
    }
}

}  // namespace headscope
