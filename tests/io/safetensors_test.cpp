#include "io/safetensors.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::string with_length(const std::string& header, const std::string& data) {
    std::string file;
    for (std::size_t byte = 0; byte < 8; ++byte) {
        file.push_back(static_cast<char>(header.size() >> (8 * byte) & 0xffU));
    }
    return file + header + data;
}

template <class T>
std::vector<T> values(const MappedTensor& tensor) {
    std::vector<T> read(tensor.data.size() / sizeof(T));
    std::memcpy(read.data(), tensor.data.data(), tensor.data.size());
    return read;
}

std::string complaint(const TemporaryFolder& folder, const std::string& bytes) {
    const std::string path = folder.write("broken.safetensors", bytes);
    const std::string message = error_of([&] { SafeTensorsFile::open(path); });
    CHECK_THAT(message, Contains(path));
    return message;
}

}  // namespace

TEST_CASE("every dtype, shape and name is read back", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("m.safetensors");
    const std::vector<double> f64{1.5, -2.25};
    const std::vector<float> f32{0.1F, -0.0F, 3e38F};
    const std::vector<std::uint16_t> f16{0x3c00, 0xffff, 0x0001};
    const std::vector<std::int8_t> i8{-128, 0, 127, 5, 6};
    const std::vector<std::int32_t> i32{-7};
    write_safetensors(path,
                      {{"odd/i8 \"quoted\" \xC3\xA9", DType::I8, {5, 1}, i8.data()},
                       {"f16", DType::F16, {3}, f16.data()},
                       {"f32", DType::F32, {1, 1, 1, 3}, f32.data()},
                       {"scalar", DType::I32, {}, i32.data()},
                       {"bf16", DType::BF16, {1, 3}, f16.data()},
                       {"f64", DType::F64, {2}, f64.data()},
                       {"empty", DType::F32, {4, 0}, nullptr}},
                      {{"format", "pt"}, {"note", "line\nbreak"}});
    const SafeTensorsFile file = SafeTensorsFile::open(path);
    CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"note", "line\nbreak"}});
    CHECK(file.entries().size() == 7);
    CHECK(values<double>(file.at("f64")) == f64);
    CHECK(values<float>(file.at("f32")) == f32);
    CHECK(values<std::uint16_t>(file.at("f16")) == f16);
    CHECK(values<std::uint16_t>(file.at("bf16")) == f16);
    CHECK(values<std::int8_t>(file.at("odd/i8 \"quoted\" \xC3\xA9")) == i8);
    CHECK(values<std::int32_t>(file.at("scalar")) == i32);
    CHECK(file.at("f32").shape == Shape{1, 1, 1, 3});
    CHECK(file.at("scalar").shape == Shape{});
    CHECK(file.at("empty").shape == Shape{4, 0});
    CHECK(file.at("empty").data.empty());
    CHECK(file.at("bf16").dtype == DType::BF16);
    for (const SafeTensorsEntry& entry : file.entries()) {
        CHECK(file.at(entry.name).aligned());
    }
}

TEST_CASE("the written bytes follow the format", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("m.safetensors");
    const std::vector<std::int32_t> one{1, -1};
    write_safetensors(path, {{"w", DType::I32, {2}, one.data()}});
    const std::string header = R"({"w":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})";
    const std::string padded = header + std::string(56 - header.size(), ' ');
    CHECK(read_all(path) == with_length(padded, std::string("\1\0\0\0\xff\xff\xff\xff", 8)));
}

TEST_CASE("files of other writers may be unaligned, reordered and have unsupported dtypes", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path =
        folder.write("other.safetensors", with_length(R"({ "b":{"shape":[1],"data_offsets":[3,7],"dtype":"F32"},
                        "a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},
                        "zzz":{"dtype":"F1_NEW","shape":[3,9],"data_offsets":[7,9]},
                        "deep":{"dtype":"F32","shape":[1,1,1,1,1],"data_offsets":[9,13]} })",
                                                      std::string("\1\2\3\0\0\x80\x3f\5\6\0\0\0\0", 13)));
    const SafeTensorsFile file = SafeTensorsFile::open(path);
    REQUIRE(file.entries().size() == 4);
    CHECK(file.entries()[0].name == "a");
    CHECK(file.entries()[0].dtype == "U8");
    CHECK(file.entries()[1].shape == std::vector<std::int64_t>{1});
    CHECK(values<float>(file.at("b")) == std::vector<float>{1.0F});
    CHECK_THAT(error_of([&] { file.at("a"); }), Contains("'a'") && Contains("U8") && Contains(path));
    CHECK_THAT(error_of([&] { file.at("zzz"); }), Contains("F1_NEW"));
    CHECK_THAT(error_of([&] { file.at("deep"); }), Contains("'deep'") && Contains("5 dimensions"));
}

TEST_CASE("the error for an unknown name lists similar names", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("m.safetensors");
    const float one = 1.0F;
    std::vector<TensorToWrite> tensors;
    for (const char* name : {"encoder.0.norm1.gain", "encoder.0.norm2.gain", "decoder.5.bias", "embedding"}) {
        tensors.push_back({name, DType::F32, {1}, &one});
    }
    write_safetensors(path, tensors);
    const SafeTensorsFile file = SafeTensorsFile::open(path);
    CHECK_THAT(error_of([&] { file.at("encoder.0.norm3.gain"); }),
               Contains("encoder.0.norm3.gain") && Contains("norm1.gain") && Contains("norm2.gain") &&
                   !Contains("'embedding'"));
    write_safetensors(path, {});
    CHECK_THAT(error_of([&] { SafeTensorsFile::open(path).at("x"); }), Contains("has no tensors"));
}

TEST_CASE("a mapping stays valid when the file is replaced", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("m.safetensors");
    float value = 1.0F;
    write_safetensors(path, {{"w", DType::F32, {1}, &value}});
    std::optional<SafeTensorsFile> first = SafeTensorsFile::open(path);
    const SafeTensorsFile copy = *first;
    first.reset();
    value = 2.0F;
    write_safetensors(path, {{"w", DType::F32, {1}, &value}});
    CHECK(values<float>(copy.at("w")) == std::vector<float>{1.0F});
    CHECK(values<float>(SafeTensorsFile::open(path).at("w")) == std::vector<float>{2.0F});
}

TEST_CASE("the error for a damaged file says what is wrong", "[safetensors]") {
    const TemporaryFolder folder;
    const auto tensor = [](const std::string& fields) { return "{\"w\":{" + fields + "}}"; };
    const auto header = [&](const std::string& text, std::size_t data = 0) {
        return complaint(folder, with_length(text, std::string(data, '\0')));
    };
    CHECK_THAT(complaint(folder, ""), Contains("0 bytes"));
    CHECK_THAT(complaint(folder, "1234567"), Contains("7 bytes"));
    CHECK_THAT(complaint(folder, std::string("\x09\0\0\0\0\0\0\0{}", 10)), Contains("claims 9 bytes, but only 2"));
    CHECK_THAT(complaint(folder, std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)),
               Contains("the format allows 100000000"));
    CHECK_THAT(complaint(folder, std::string(16, '\xff')), Contains("claims 18446744073709551615"));
    CHECK_THAT(header(""), Contains("does not begin"));
    CHECK_THAT(header("[1]"), Contains("does not begin"));
    CHECK_THAT(header("{\"w\":"), Contains("broken JSON near byte 1"));
    CHECK_THAT(header("{} {}"), Contains("broken JSON"));
    CHECK_THAT(header("{\"\xff\":{}}"), Contains("UTF-8"));
    CHECK_THAT(header("{\"w\":3}"), Contains("'w'") && Contains("number 3"));
    CHECK_THAT(header("{\"w\":null}"), Contains("null"));
    CHECK_THAT(header("{\"w\":[]}"), Contains("an array"));
    CHECK_THAT(header("{\"__metadata__\":{\"a\":1}}"), Contains("metadata entry 'a'"));
    CHECK_THAT(header("{\"__metadata__\":{\"a\":{}}}"), Contains("an object"));
    CHECK_THAT(header("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"), Contains("'a' occurs twice"));
    CHECK_THAT(header(tensor("")), Contains("'w'") && Contains("no field 'dtype'"));
    CHECK_THAT(header(tensor("\"dtype\":\"F32\"")), Contains("no field 'shape'"));
    CHECK_THAT(header(tensor("\"dtype\":\"F32\",\"shape\":[]")), Contains("no field 'data_offsets'"));
    CHECK_THAT(header(tensor("\"colour\":\"F32\"")), Contains("unknown field 'colour'"));
    CHECK_THAT(header(tensor("\"dtype\":\"F32\",\"dtype\":\"F32\"")), Contains("'dtype' twice"));
    CHECK_THAT(header(tensor("\"dtype\":[1]")), Contains("'dtype' is an array"));
    CHECK_THAT(header(tensor("\"shape\":[-1]")), Contains("negative number -1"));
    CHECK_THAT(header(tensor("\"shape\":[1.5]")), Contains("1.5"));
    CHECK_THAT(header(tensor("\"shape\":[99999999999999999999]")), Contains("99999999999999999999"));
    CHECK_THAT(header(tensor("\"shape\":[9223372036854775808]")), Contains("9223372036854775808"));
    CHECK_THAT(header(tensor("\"shape\":[[1]]")), Contains("an array"));
    CHECK_THAT(header(tensor("\"shape\":\"1\"")), Contains("'shape' is text"));
    const auto f32 = [&](const std::string& shape, const std::string& offsets, std::size_t data) {
        return header(tensor(R"("dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]"), data);
    };
    CHECK_THAT(f32("1", "0", 4), Contains("data_offsets [0]"));
    CHECK_THAT(f32("1", "0,4,4", 4), Contains("data_offsets [0, 4, 4]"));
    CHECK_THAT(f32("1", "4,0", 4), Contains("begin <= end"));
    CHECK_THAT(f32("2", "0,8", 7), Contains("'w' ends at byte 8 of the data, but the file has 7"));
    CHECK_THAT(f32("1", "0,18446744073709551615", 4), Contains("18446744073709551615"));
    CHECK_THAT(f32("2", "0,4", 4), Contains("'w' is F32 [2]") && Contains("4 bytes"));
    CHECK_THAT(f32("4611686018427387904,4", "0,4", 4), Contains("does not match"));
    CHECK_THAT(f32("1", "0,4", 5), Contains("1 bytes after 'w'"));
    CHECK_THAT(f32("1", "1,5", 5), Contains("leaves a hole after the header"));
    CHECK_THAT(header("{}", 1), Contains("do not belong to a tensor"));
    CHECK_THAT(header(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"), 1), Contains("does not match"));
}

TEST_CASE("tensors that touch, overlap or repeat", "[safetensors]") {
    const TemporaryFolder folder;
    const auto two = [](const std::string& a, const std::string& b, const char* second = "b") {
        return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[)" + a + R"(]},")" + second +
               R"(":{"dtype":"U8","shape":[4],"data_offsets":[)" + b + "]}}";
    };
    CHECK(error_of([&] {
              SafeTensorsFile::open(folder.write("ok.safetensors", with_length(two("4,8", "0,4"), "12345678")));
          }).empty());
    const std::string empty_last =
        R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"e":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
    CHECK(SafeTensorsFile::open(folder.write("empty.safetensors", with_length(empty_last, "1234"))).entries().size() ==
          2);
    CHECK_THAT(complaint(folder, with_length(two("0,4", "3,7"), "1234567")), Contains("'b' overlaps 'a'"));
    CHECK_THAT(complaint(folder, with_length(two("0,4", "0,4"), "1234")), Contains("overlaps"));
    CHECK_THAT(complaint(folder, with_length(two("0,4", "5,9"), "123456789")), Contains("'b' leaves a hole after 'a'"));
    CHECK_THAT(complaint(folder, with_length(two("0,4", "4,8", "a"), "12345678")), Contains("'a' occurs twice"));
}

TEST_CASE("a file truncated at any byte is rejected", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("m.safetensors");
    const std::vector<float> data{1, 2, 3};
    write_safetensors(path, {{"a", DType::F32, {2}, data.data()}, {"b", DType::F32, {1}, data.data()}}, {{"k", "v"}});
    const std::string whole = read_all(path);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        complaint(folder, whole.substr(0, size));
    }
}

TEST_CASE("a missing file and a folder are errors with the reason", "[safetensors]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] { SafeTensorsFile::open(folder.file("none")); }),
               Contains("none") && Contains("No such file"));
    CHECK_THAT(error_of([&] { SafeTensorsFile::open(folder.file("")); }), Contains("not a regular file"));
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    CHECK_THAT(error_of([&] { SafeTensorsFile::open(folder.file("pipe")); }), Contains("not a regular file"));
}

TEST_CASE("the writer rejects what it could not read back", "[safetensors]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("m.safetensors", "old");
    const float one = 1.0F;
    const auto write = [&](std::vector<TensorToWrite> tensors,
                           const std::map<std::string, std::string>& metadata = {}) {
        return error_of([&] { write_safetensors(path, tensors, metadata); });
    };
    CHECK_THAT(write({{"a", DType::F32, {1}, &one}, {"a", DType::F32, {1}, &one}}), Contains("'a' is used twice"));
    CHECK_THAT(write({{"__metadata__", DType::F32, {1}, &one}}), Contains("reserved"));
    CHECK_THAT(write({{"\xff", DType::F32, {1}, &one}}), Contains("not UTF-8") && Contains(path));
    CHECK_THAT(write({}, {{"k", "\xff"}}), Contains("not UTF-8"));
    CHECK_THROWS_AS(write_safetensors(path, {{"a", DType::F32, {1}, nullptr}}), CheckFailure);
    CHECK(read_all(path) == "old");
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}
