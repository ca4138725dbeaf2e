#include <zlib.h>

#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "io/gguf_types.h"
#include "io/strict_json.h"
#include "io/tensor_archive.h"
#include "tests/io/gguf_writer.h"
#include "tests/io/temporary_folder.h"
#include "tests/io/tensor_values.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Floats = std::vector<float>;

constexpr std::uint32_t kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ8_0 = 8;

// As make_gguf_vectors.py has them.
std::string random_bytes(std::size_t count) {
    std::string bytes;
    std::uint32_t state = 1;
    while (bytes.size() < count) {
        state = 1664525U * state + 1013904223U;
        bytes += static_cast<char>(state >> 24U);
    }
    return bytes;
}

Floats numbers_of_block(const CodedBlock& block, const BlockForm& form) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(code_words(kBlockColumns, form.bits)));
    pack_codes(block, form.bits, words.data());
    const std::array<std::uint32_t, 2> scales{scales_of(block), factors_of(block)};
    Floats values(kBlockColumns);
    unpack_row(words.data(), scales.data(), form, values);
    return values;
}

GgufWriter small_model() {
    GgufWriter writer;
    writer.add_text("general.architecture", "llama").add_number("llama.block_count", 2);
    return writer.add_tensor("w", {2, 3}, kF32, bytes_of(Floats{1, 2, 3, 4, 5, 6}));
}

// The message of the error, which names the file.
std::string gguf_complaint(const std::string& bytes) {
    const TemporaryFolder folder;
    const std::string path = folder.write("model.gguf", bytes);
    const std::string message = error_of([&] { open_gguf_archive(path).at("w"); });
    CHECK_THAT(message, Contains("model.gguf"));
    return message;
}

GgufWriter part(std::uint32_t number, std::uint32_t count, const std::string& tensor) {
    GgufWriter writer;
    writer.add("split.no", GgufWriter::kU16, GgufWriter::number(number, 2));
    writer.add("split.count", GgufWriter::kU16, GgufWriter::number(count, 2));
    writer.add("split.tensors.count", GgufWriter::kI32, GgufWriter::number(2, 4));
    return writer.add_tensor(tensor, {1}, kF32, bytes_of(Floats{static_cast<float>(number)}));
}

}  // namespace

TEST_CASE("blocks of GGUF files keep their numbers in blocks of ours", "[gguf]") {
    constexpr std::size_t kBlocks = 50;
    for (const std::uint32_t number : {2U, 3U, 6U, 7U, 8U, 10U, 11U, 12U, 13U, 14U, 20U, 23U}) {
        const GgufType& type = *gguf_type(number);
        INFO(type.name);
        REQUIRE(type.code != nullptr);
        const std::set<std::size_t> scales = upper_scale_bytes(number);
        std::string bytes = random_bytes(kBlocks * type.bytes);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if (scales.contains(i % type.bytes)) {
                bytes[i] &= '\x8f';  // small scales and least values
            }
        }
        const auto* stored = reinterpret_cast<const std::uint8_t*>(bytes.data());
        for (std::size_t block = 0; block < kBlocks; ++block) {
            std::vector<float> expected(type.elements);
            type.unpack(stored + block * type.bytes, expected.data());
            std::array<CodedBlock, kMostGgufParts> parts;
            type.code(stored + block * type.bytes, parts.data());
            std::vector<float> found;
            for (std::size_t part = 0; part < type.elements / kBlockColumns; ++part) {
                const Floats values = numbers_of_block(parts[part], type.form);
                found.insert(found.end(), values.begin(), values.end());
            }
            CHECK(found == expected);
        }
    }
}

TEST_CASE("GGUF files give their keys and tensors", "[gguf]") {
    const TemporaryFolder folder;
    for (const std::uint32_t version : {2U, 3U}) {
        GgufWriter writer(version);
        writer.add_text("name", "caf\u00e9").add_number("count", 7).add_float("scale", 0.5F).add_flag("yes", true);
        writer.add_texts("pieces", {"a", ""}).add_numbers("ids", {3, 1});
        writer.add("negative", GgufWriter::kI32, "\xff\xff\xff\xff");
        writer.add_tensor("w", {2, 3}, kF32, bytes_of(Floats{1, 2, 3, 4, 5, 6}));
        writer.add_tensor("half", {3}, kF16, std::string("\x00\x3c\x00\xc0\x01\x00", 6));
        writer.add_tensor("brain", {1}, 30, std::string("\x80\x3f", 2));
        const TensorArchive archive = open_gguf_archive(folder.write("model.gguf", writer.file()));
        CHECK(archive.objects() == nlohmann::json({{"name", "caf\u00e9"},
                                                   {"count", 7},
                                                   {"scale", 0.5},
                                                   {"yes", true},
                                                   {"pieces", {"a", ""}},
                                                   {"ids", {3, 1}},
                                                   {"negative", -1}}));
        CHECK(archive.at("w").shape == Shape{3, 2});
        CHECK(values_of<float>(archive, "w") == Floats{1, 2, 3, 4, 5, 6});
        CHECK(archive.at("half").dtype == DType::F16);
        CHECK(archive.at("brain").dtype == DType::BF16);
    }
}

TEST_CASE("blocks of GGUF are dequantised bit for bit as the gguf package does", "[gguf]") {
    constexpr std::size_t kBlocks = 1000;
    const TemporaryFolder folder;
    const nlohmann::json types = read_json_file(HEADSCOPE_SOURCE_DIR "/tests/golden/gguf_blocks.json");
    for (const auto& [name, expected] : types.items()) {
        CAPTURE(name);
        const auto bytes = expected["block_bytes"].get<std::size_t>();
        std::string data = random_bytes(kBlocks * bytes);
        for (std::size_t block = 0; block < kBlocks; ++block) {
            for (const std::size_t half : expected["halves"].get<std::vector<std::size_t>>()) {
                char& high = data[block * bytes + half + 1];
                high = static_cast<char>(static_cast<unsigned char>(high) & 0xbfU);
            }
        }
        const std::size_t elements = name.ends_with("_K") || name == "IQ4_XS" ? 256 : 32;
        GgufWriter writer;
        writer.add_tensor("w", {elements, kBlocks}, expected["type"].get<std::uint32_t>(), data);
        const TensorArchive archive = open_gguf_archive(folder.write("model.gguf", writer.file()));
        const Floats values = values_of<float>(archive, "w");
        REQUIRE(values.size() == elements * kBlocks);
        CHECK(Floats(values.begin(), values.begin() + 4) == expected["first"].get<Floats>());
        CHECK(crc32(0, reinterpret_cast<const Bytef*>(values.data()), static_cast<uInt>(values.size() * 4)) ==
              expected["crc32"].get<std::uint32_t>());
    }
}

TEST_CASE("GGUF models in several files open from any part", "[gguf]") {
    const TemporaryFolder folder;
    const std::string first = folder.write("m-00001-of-00002.gguf", part(0, 2, "a").file());
    CHECK_THAT(error_of([&] { open_gguf_archive(first); }),
               Contains("is part 1 of 2, but part 2 is missing") && Contains("m-00002-of-00002.gguf"));
    const std::string second = folder.write("m-00002-of-00002.gguf", part(1, 2, "b").file());
    for (const std::string& path : {first, second}) {
        const TensorArchive archive = open_gguf_archive(path);
        CHECK(values_of<float>(archive, "a") == Floats{0});
        CHECK(values_of<float>(archive, "b") == Floats{1});
        CHECK(archive.place_of("b") == second);
    }
    folder.write("m-00002-of-00002.gguf", part(0, 2, "b").file());
    CHECK_THAT(error_of([&] { open_gguf_archive(first); }),
               Contains("m-00002-of-00002.gguf': \"split.no\" is 0") && Contains("expected 1 and 2"));
    folder.write("m-00002-of-00002.gguf", part(1, 2, "a").file());
    CHECK_THAT(error_of([&] { open_gguf_archive(first); }), Contains("holds the tensor 'a' twice"));
    folder.write("m-00002-of-00002.gguf", part(1, 2, "b").add_tensor("c", {1}, kF32, "aaaa").file());
    CHECK_THAT(error_of([&] { open_gguf_archive(first); }),
               Contains("\"split.tensors.count\" is 2") && Contains("hold 3 tensors"));
    const std::string renamed = folder.write("part.gguf", part(0, 2, "a").file());
    CHECK_THAT(error_of([&] { open_gguf_archive(renamed); }), Contains("must end with -00001-of-00002.gguf"));
}

TEST_CASE("damaged GGUF files are refused with a reason", "[gguf]") {
    const std::string good = small_model().file();
    for (std::size_t size = 0; size < good.size() - 8; ++size) {
        CHECK_FALSE(gguf_complaint(good.substr(0, size)).empty());
    }
    const auto with = [&](std::size_t at, const std::string& bytes) {
        return gguf_complaint(std::string(good).replace(at, bytes.size(), bytes));
    };
    CHECK_THAT(with(0, "GGML"), Contains("does not begin with GGUF"));
    CHECK_THAT(with(4, std::string("\1\0\0\0", 4)), Contains("version 1"));
    CHECK_THAT(with(4, std::string("\0\0\0\3", 4)), Contains("big-endian"));
    CHECK_THAT(with(4, std::string("\4\0\0\0", 4)), Contains("version 4"));
    CHECK_THAT(with(8, GgufWriter::number(std::uint64_t{1} << 63U, 8)), Contains("tensor '' has 0 dimensions"));
    CHECK_THAT(with(16, GgufWriter::number(std::uint64_t{1} << 63U, 8)), Contains("truncated"));  // keys
    CHECK_THAT(with(24, GgufWriter::number(UINT64_MAX, 8)), Contains("truncated"));               // the length of a key
}

TEST_CASE("values and tensors of GGUF files are checked before anything is allocated for them", "[gguf]") {
    constexpr std::uint64_t kMostElements = std::uint64_t{1} << 24U;
    const std::uint64_t huge = std::uint64_t{1} << 62U;
    const auto value = [](std::uint32_t type, const std::string& bytes) {
        return gguf_complaint(GgufWriter().add("key", type, bytes).file());
    };
    CHECK_THAT(value(13, "a"), Contains("\"key\" has a value of type 13"));
    CHECK_THAT(value(GgufWriter::kBool, "\2"), Contains("\"key\" is the byte 2"));
    CHECK_THAT(value(GgufWriter::kString, GgufWriter::string("\xff")), Contains("a text of \"key\" is not UTF-8"));
    CHECK_THAT(value(GgufWriter::kList, GgufWriter::number(GgufWriter::kString, 4) + GgufWriter::number(huge, 8)),
               Contains("\"key\" has 4611686018427387904 elements") && Contains("at most 16777216 in all"));
    CHECK_THAT(gguf_complaint(
                   GgufWriter()
                       .add("short", GgufWriter::kList, GgufWriter::number(0, 4) + GgufWriter::number(1, 8) + "a")
                       .add("long", GgufWriter::kList, GgufWriter::number(0, 4) + GgufWriter::number(kMostElements, 8))
                       .file()),
               Contains("\"long\" has 16777216 elements after 1 of other lists"));
    CHECK_THAT(value(GgufWriter::kList, GgufWriter::number(0, 4) + GgufWriter::number(kMostElements, 8)),
               Contains("truncated"));
    CHECK_THAT(gguf_complaint(GgufWriter().add_number(std::string(65536, 'k'), 1).file()),
               Contains("a key has 65536 bytes, expected at most 65535"));
    CHECK_THAT(value(GgufWriter::kList, GgufWriter::number(GgufWriter::kList, 4) + GgufWriter::number(1, 8)),
               Contains("a list in a list"));
    CHECK_THAT(gguf_complaint(GgufWriter().add_number("key", 1).add_number("key", 1).file()),
               Contains("the key \"key\" occurs twice"));
    CHECK_THAT(gguf_complaint(GgufWriter().add_number("general.alignment", 24).file()),
               Contains("\"general.alignment\" is 24, expected a power of 2"));
    const auto tensor = [](const std::vector<std::uint64_t>& sides, std::uint32_t type, std::uint64_t offset) {
        return gguf_complaint(small_model().place_tensor("t", sides, type, offset).file());
    };
    CHECK_THAT(tensor({}, kF32, 0), Contains("tensor 't' has 0 dimensions"));
    CHECK_THAT(tensor({1, 1, 1, 1, 1}, kF32, 0), Contains("tensor 't' has 5 dimensions"));
    CHECK_THAT(tensor({0}, kF32, 0), Contains("tensor 't' has a side of 0"));
    CHECK_THAT(tensor({huge * 2}, kF32, 0), Contains("tensor 't' has a side of"));
    CHECK_THAT(tensor({huge, 4, 4}, kF32, 0), Contains("which does not fit"));
    CHECK_THAT(tensor({huge}, kF32, 0), Contains("which does not fit"));
    CHECK_THAT(tensor({1}, 99, 0), Contains("has the type 99 of ggml") && Contains("Q4_0"));
    CHECK_THAT(tensor({31}, kQ4_0, 0), Contains("in rows of 31, expected a multiple of 32"));
    CHECK_THAT(tensor({1}, kF32, 8), Contains("begins at byte 8 of the data, expected a multiple of 32"));
    CHECK_THAT(tensor({1}, kF32, huge), Contains("truncated or damaged"));
    CHECK_THAT(tensor({1}, kF32, 32), Contains("truncated or damaged"));
    CHECK_THAT(tensor({1}, kF32, 0), Contains("the tensors 'w' and 't' overlap"));
    CHECK_THAT(gguf_complaint(small_model().add_tensor("w", {1}, kF32, "aaaa").file()),
               Contains("tensor 'w' occurs twice"));
    CHECK_THAT(gguf_complaint(GgufWriter().add_tensor("w", {32}, kQ8_0, "\xff\x7f" + std::string(32, '\1')).file()),
               Contains("tensor 'w'") && Contains("a scale that is not a finite number"));
}
