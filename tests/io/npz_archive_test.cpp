#include <catch2/catch.hpp>
#include <string>

#include "io/tensor_archive.h"
#include "support/check.h"
#include "tests/io/temporary_folder.h"
#include "tests/io/tensor_values.h"
#include "tests/io/zip_writer.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;

std::string npy(const std::string& header, const std::string& data, int version = 1) {
    std::string file = "\x93NUMPY";
    append_little_endian(file, static_cast<std::uint64_t>(version), 1);
    append_little_endian(file, 0, 1);
    append_little_endian(file, header.size(), version == 1 ? 2 : 4);
    return file + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string npz_file_complaint(const TemporaryFolder& folder, const std::string& bytes) {
    const std::string path = folder.write("model.npz", bytes);
    const std::string message = error_of([&] { open_npz_archive(path); });
    CHECK_THAT(message, Contains(path));
    return message;
}

// Of a file with this array.
std::string npz_complaint(const TemporaryFolder& folder, const std::string& array, const std::string& name = "w") {
    const std::string message = npz_file_complaint(folder, zip_of({{name + ".npy", array}}));
    CHECK_THAT(message, Contains("'" + name + "'"));
    CHECK(npz_file_complaint(folder, zip_of({{name + ".npy", array, true}})) == message);
    return message;
}

}  // namespace

TEST_CASE("numpy's files are read, stored and compressed", "[npz]") {
    for (const char* name : {"stored.npz", "deflated.npz"}) {
        const std::string path = std::string(HEADSCOPE_SOURCE_DIR "/tests/io/foreign/") + name;
        const TensorArchive archive = open_npz_archive(path);
        const Floats base{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
        CHECK(archive.names() ==
              std::vector<std::string>{"c", "fortran", "big", "f16", "f64", "i64", "bool", "scalar", "empty", "words"});
        for (const char* same : {"c", "fortran", "big", "f64"}) {
            CAPTURE(same);
            CHECK(archive.at(same).shape == Shape{3, 4});
            CHECK(values_of<float>(archive, same) == base);
        }
        CHECK(archive.at("f16").dtype == DType::F16);
        CHECK(values_of<std::uint16_t>(archive, "f16")[1] == 0x3c00);
        CHECK(values_of<std::int32_t>(archive, "i64") == Integers{-1, 2147483647});
        CHECK(values_of<std::int32_t>(archive, "bool") == Integers{1, 0});
        CHECK(values_of<float>(archive, "scalar") == Floats{2.5F});
        CHECK(archive.at("scalar").shape == Shape{});
        CHECK(archive.at("empty").shape == Shape{0, 3});
        CHECK(archive.objects() == nlohmann::json{{"special:model.yml", "type: transformer\n"}});
        CHECK_THAT(error_of([&] { archive.at("words"); }), Contains(path) && Contains("'words'") && Contains("<U1"));
        CHECK(archive.place_of("c") == path);
    }
}

TEST_CASE("headers of every version and spelling are read", "[npz]") {
    const TemporaryFolder folder;
    const std::string one = bytes_of(Floats{1});
    const std::string path =
        folder.write("m.npz", zip_of({{"v1.npy", npy(header_of("<f4", "(1,)"), one)},
                                      {"v2.npy", npy(header_of("<f4", "(1, 1)"), one, 2)},
                                      {"v3.npy", npy(header_of("=f4", "(1L,)"), one, 3)},
                                      {"dense.npy", npy("{'shape':(),'descr':'<f4','fortran_order':True}", one)},
                                      {"special:text.npy", npy(header_of("|i1", "(4,)"), std::string("ab\0c", 4))}}));
    const TensorArchive archive = open_npz_archive(path);
    for (const char* name : {"v1", "v2", "v3", "dense"}) {
        CHECK(values_of<float>(archive, name) == Floats{1});
    }
    CHECK(archive.objects().at("special:text") == "ab");
}

TEST_CASE("damaged arrays are named", "[npz]") {
    const TemporaryFolder folder;
    const std::string one = bytes_of(Floats{1});
    const std::string good = npy(header_of("<f4", "(1,)"), one);
    for (std::size_t size = 0; size < good.size(); ++size) {
        CAPTURE(size);
        CHECK(npz_complaint(folder, good.substr(0, size)) != "");
    }
    CHECK_THAT(npz_complaint(folder, "\x93NUMPX" + good), Contains("does not begin with"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(1,)"), one, 4)), Contains("its format is 4"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(2,)"), one)),
               Contains("F32 [2], which does not match its 4 bytes"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(4611686018427387904, 4)"), one)),
               Contains("does not match"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(99999999999999999999,)"), one)),
               Contains("not a tuple of sizes"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(-1,)"), one)), Contains("not a tuple of sizes"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(1 1)"), one)), Contains("lacks \")\""));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(1,)", "Maybe"), one)), Contains("lacks \"False\""));
    CHECK_THAT(npz_complaint(folder, npy("{'descr': '<f4", one)), Contains("open quote"));
    CHECK_THAT(npz_complaint(folder, npy("{'descr': '<f4', 'shape': (1,)}", one)), Contains("lacks a key"));
    CHECK_THAT(npz_complaint(folder, npy("{'descr': '<f4', 'shape': (1,), 'more': 1}", one)),
               Contains("unknown key 'more'"));
    CHECK_THAT(npz_complaint(folder, npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", one)),
               Contains("records"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("<f4", "(1,)"), one), "special:model.yml"),
               Contains("dtype F32, expected text"));
    CHECK_THAT(npz_complaint(folder, npy(header_of("|i1", "(1,)"), "\xff"), "special:model.yml"),
               Contains("not UTF-8"));
}

TEST_CASE("data that does not match its checksum is an error when read", "[npz]") {
    const TemporaryFolder folder;
    std::string bytes = zip_of({{"w.npy", npy(header_of("<f4", "(1,)"), "data")}});
    bytes[bytes.find("data")] = 'D';
    const std::string path = folder.write("m.npz", bytes);
    CHECK_THAT(error_of([&] { open_npz_archive(path).at("w"); }), Contains(path) && Contains("checksum"));
}

TEST_CASE("other zip archives are not taken for numpy's", "[npz]") {
    const TemporaryFolder folder;
    CHECK_THAT(npz_file_complaint(folder, zip_of({{"readme.txt", "x"}})), Contains("'readme.txt'"));
    CHECK_THAT(npz_file_complaint(folder, "\x93NUMPY"), Contains("not an .npz file"));
    CHECK_THAT(npz_file_complaint(folder, ""), Contains("not an .npz file"));
}
