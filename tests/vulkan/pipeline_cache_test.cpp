#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "backends/vulkan/pipeline_cache.h"

using namespace headscope::vulkan;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("headscope-cache-" + std::to_string(getpid()));
    Folder() { fs::remove_all(path); }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

std::vector<std::byte> some_bytes() {
    std::vector<std::byte> bytes(1000);
    for (std::size_t index = 0; index < bytes.size(); ++index) {
        bytes[index] = static_cast<std::byte>(index * 7);
    }
    return bytes;
}

}  // namespace

TEST_CASE("a pipeline cache comes back as it was written, and nothing lies beside it", "[vulkan][cache]") {
    const Folder folder;
    const std::string path = folder.path / "deep" / "cache";
    CHECK(read_pipeline_cache(path).empty());
    REQUIRE(write_pipeline_cache(path, some_bytes()));
    CHECK(read_pipeline_cache(path) == some_bytes());
    CHECK(std::distance(fs::directory_iterator(folder.path / "deep"), {}) == 1);
}

TEST_CASE("a damaged, shortened or foreign pipeline cache is as good as none", "[vulkan][cache]") {
    const Folder folder;
    const std::string path = folder.path / "cache";
    REQUIRE(write_pipeline_cache(path, some_bytes()));
    const auto size = static_cast<std::streamoff>(fs::file_size(path));
    for (const std::streamoff at : {std::streamoff{0}, std::streamoff{9}, std::streamoff{17}, size / 2, size - 1}) {
        REQUIRE(write_pipeline_cache(path, some_bytes()));
        {
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(at);
            const char changed = static_cast<char>(file.get() ^ 0x10);
            file.seekp(at);
            file.put(changed);
        }
        CHECK(read_pipeline_cache(path).empty());
    }
    REQUIRE(write_pipeline_cache(path, some_bytes()));
    fs::resize_file(path, static_cast<std::uintmax_t>(size - 1));
    CHECK(read_pipeline_cache(path).empty());
    fs::resize_file(path, 3);
    CHECK(read_pipeline_cache(path).empty());
}

TEST_CASE("a pipeline cache that cannot be written leaves nothing behind", "[vulkan][cache]") {
    const Folder folder;
    fs::create_directories(folder.path);
    std::ofstream(folder.path / "file") << "not a folder";
    CHECK_FALSE(write_pipeline_cache(folder.path / "file" / "cache", some_bytes()));
    CHECK(pipeline_cache_path({}, "").empty());
}
