#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "io/safetensors.h"
#include "io/tensor_archive.h"
#include "support/check.h"
#include "tests/io/pickle_writer.h"
#include "tests/io/temporary_folder.h"
#include "tests/io/tensor_values.h"

using namespace headscope;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

void write_shard(const std::string& path, const std::string& tensor, float value) {
    write_safetensors(path, {{tensor, DType::F32, {1}, &value}}, {{"format", "pt"}});
}

// A model of two shards. Returns the path of its index.
std::string write_model(const TemporaryFolder& folder,
                        const std::string& map = R"("a":"1.safetensors","b":"2.safetensors")") {
    write_shard(folder.file("1.safetensors"), "a", 1);
    write_shard(folder.file("2.safetensors"), "b", 2);
    return folder.write("model.safetensors.index.json", R"({"metadata":{"total_size":8},"weight_map":{)" + map + "}}");
}

std::string index_complaint(const TemporaryFolder& folder, const std::string& map) {
    const std::string index = write_model(folder, map);
    const std::string message = error_of([&] { open_safetensors_archive(index); });
    CHECK_THAT(message, Contains(index));
    return message;
}

}  // namespace

TEST_CASE("a safetensors file is an archive", "[shards]") {
    const TemporaryFolder folder;
    write_shard(folder.file("m.safetensors"), "a", 1);
    const TensorArchive archive = open_safetensors_archive(folder.file("m.safetensors"));
    CHECK(archive.names() == std::vector<std::string>{"a"});
    CHECK(values_of<float>(archive, "a") == Floats{1});
    CHECK(archive.objects() == nlohmann::json{{"format", "pt"}});
}

TEST_CASE("the shards of an index are one archive", "[shards]") {
    const TemporaryFolder folder;
    const TensorArchive archive = open_safetensors_archive(write_model(folder));
    CHECK(archive.names() == std::vector<std::string>{"a", "b"});
    CHECK(values_of<float>(archive, "a") == Floats{1});
    CHECK(values_of<float>(archive, "b") == Floats{2});
    CHECK(archive.place_of("b") == folder.file("2.safetensors"));

    const std::string root =
        pickle::dict({{"w", pickle::tensor(pickle::storage("FloatStorage", "0", 1), 0, {1}, {1})}});
    folder.write("1.bin", pickle::torch_zip(root, {{"0", bytes_of(Floats{3})}}));
    const std::string index = folder.write("pytorch_model.bin.index.json", R"({"weight_map":{"w":"1.bin"}})");
    CHECK(values_of<float>(open_pickle_archive(index), "w") == Floats{3});
}

TEST_CASE("an index that does not match its shards is an error", "[shards]") {
    const TemporaryFolder folder;
    CHECK_THAT(index_complaint(folder, R"("a":"1.safetensors","b":"3.safetensors")"),
               Contains("'b'") && Contains("'3.safetensors', which cannot be opened"));
    CHECK_THAT(index_complaint(folder, R"("a":"1.safetensors","c":"2.safetensors")"),
               Contains("'b' of the shard '2.safetensors' is not in"));
    CHECK_THAT(index_complaint(folder, R"("a":"1.safetensors","b":"2.safetensors","c":"2.safetensors")"),
               Contains("'c' is not in its shard '2.safetensors'"));
    CHECK_THAT(index_complaint(folder, R"("a":7)"), Contains("'a' is 7, expected a file name"));
    CHECK_THAT(index_complaint(folder, R"("a":"1.safetensors","a":"2.safetensors")"), Contains("duplicate key \"a\""));
    for (const char* text : {"[]", "{}", R"({"weight_map":[]})", "7"}) {
        const std::string index = folder.write("model.safetensors.index.json", text);
        CHECK_THAT(error_of([&] { open_safetensors_archive(index); }), Contains(index) && Contains("weight_map"));
    }
    write_model(folder);
    write_shard(folder.file("2.safetensors"), "a", 2);
    const std::string twice = folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors"}})");
    CHECK(error_of([&] { open_safetensors_archive(twice); }) == "");
}

TEST_CASE("shards lie in the folder of their index", "[shards]") {
    const TemporaryFolder folder;
    const TemporaryFolder other;
    write_shard(other.file("secret.safetensors"), "b", 2);
    for (const std::string& name :
         {"../" + fs::path(other.file("")).parent_path().filename().string() + "/secret.safetensors",
          other.file("secret.safetensors"), std::string("sub/2.safetensors"), std::string(".."),
          std::string("..\\\\secret"), std::string()}) {
        CAPTURE(name);
        CHECK_THAT(index_complaint(folder, R"("a":"1.safetensors","b":")" + name + "\""),
                   Contains("expected the name of a file in the same folder"));
    }
    const std::string index = write_model(folder, R"("a":"1.safetensors","b":"link.safetensors")");
    fs::create_symlink(other.file("secret.safetensors"), folder.file("link.safetensors"));
    CHECK_THAT(error_of([&] { open_safetensors_archive(index); }),
               Contains(index) && Contains("'link.safetensors' is a link"));
    fs::remove(folder.file("link.safetensors"));
    fs::create_symlink("2.safetensors", folder.file("link.safetensors"));  // within the folder
    CHECK(values_of<float>(open_safetensors_archive(index), "b") == Floats{2});
}

TEST_CASE("a folder of links into one store is read, as in Hugging Face's cache", "[shards]") {
    const TemporaryFolder store;
    const TemporaryFolder snapshot;
    write_model(store);
    for (const char* name : {"1.safetensors", "2.safetensors", "model.safetensors.index.json"}) {
        fs::create_symlink(store.file(name), snapshot.file(name));
    }
    CHECK(values_of<float>(open_safetensors_archive(snapshot.file("model.safetensors.index.json")), "b") == Floats{2});
}
