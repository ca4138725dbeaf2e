#include "io/archive_shards.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void index_error(const std::string& path, const std::string& problem) {
    throw Error(fmt::format("'{}': {}", path, problem));
}

// The shard's path, after checking that its name leads to a file of this folder.
std::string shard_path(const std::string& index, const std::string& shard, const std::string& tensor) {
    if (shard.empty() || shard == "." || shard == ".." || shard.find_first_of(std::string("/\\\0", 3)) != shard.npos) {
        index_error(index,
                    fmt::format("tensor '{}' is in the shard '{}', expected the name of a file in the same folder",
                                tensor, shard));
    }
    const fs::path folder = fs::path(index).parent_path();
    const fs::path path = folder / shard;
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) {
        index_error(index, fmt::format("tensor '{}' is in the shard '{}', which cannot be opened: {}", tensor, shard,
                                       error.message()));
    }
    const fs::path home = fs::canonical(folder.empty() ? fs::path(".") : folder);
    if (real.parent_path() != home && real.parent_path() != fs::canonical(index).parent_path()) {
        index_error(index,
                    fmt::format("the shard '{}' is a link to '{}', outside of its folder", shard, real.string()));
    }
    return path.string();
}

}  // namespace

bool is_shard_index(const std::string& path) {
    return path.ends_with(".index.json");
}

TensorArchive open_shards(const std::string& path, const std::function<TensorArchive(const std::string&)>& open) {
    const nlohmann::json index = read_json_file(path);
    const auto map = index.is_object() ? index.find("weight_map") : index.end();
    if (map == index.end() || !map->is_object()) {
        index_error(path, "expected an object with the key \"weight_map\"");
    }
    std::map<std::string, std::set<std::string>> shards;  // file name -> tensors
    for (const auto& [tensor, shard] : map->items()) {
        if (!shard.is_string()) {
            index_error(path,
                        fmt::format("the shard of tensor '{}' is {}, expected a file name", tensor, shard.dump()));
        }
        shards[shard.get<std::string>()].insert(tensor);
    }
    std::vector<StoredTensor> tensors;
    for (auto& [shard, expected] : shards) {
        const TensorArchive part = open(shard_path(path, shard, *expected.begin()));
        for (const StoredTensor& tensor : part.entries()) {
            if (expected.erase(tensor.name) == 0) {
                index_error(path, fmt::format("tensor '{}' of the shard '{}' is not in \"weight_map\" under this file",
                                              tensor.name, shard));
            }
            tensors.push_back(tensor);
        }
        if (!expected.empty()) {
            index_error(path, fmt::format("tensor '{}' is not in its shard '{}'", *expected.begin(), shard));
        }
    }
    return {path, std::move(tensors), nlohmann::json::object()};
}

}  // namespace headscope
