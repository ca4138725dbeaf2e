#include "io/zip_reader.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/byte_reader.h"
#include "tests/io/temporary_folder.h"
#include "tests/io/zip_writer.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

ZipReader open_zip(const std::string& path) {
    return {path, std::make_shared<const MappedFile>(path)};
}

std::string text_of(const ZipReader& zip, const std::string& name) {
    const ZipEntry* entry = zip.find(name);
    REQUIRE(entry != nullptr);
    const HeldBytes held = zip.read(*entry);
    return std::string(as_text(held.bytes));
}

// The error of opening these bytes and of reading every entry.
std::string zip_complaint(const TemporaryFolder& folder, const std::string& bytes) {
    const std::string path = folder.write("broken.zip", bytes);
    const std::string message = error_of([&] {
        const ZipReader zip = open_zip(path);
        for (const ZipEntry& entry : zip.entries()) {
            zip.read(entry);
        }
    });
    CHECK_THAT(message, Contains(path));
    return message;
}

}  // namespace

TEST_CASE("stored and deflated entries are read, in 32 and 64 bits", "[zip]") {
    const TemporaryFolder folder;
    const std::string text(100'000, 'x');
    for (const bool zip64 : {false, true}) {
        const std::string bytes =
            zip_of({{"a/stored", text, false, zip64}, {"b/deflated", text, true, zip64}, {"c", ""}}, zip64);
        const ZipReader zip = open_zip(folder.write("good.zip", bytes));
        REQUIRE(zip.entries().size() == 3);
        CHECK(zip.entries()[0].name == "a/stored");
        CHECK(text_of(zip, "a/stored") == text);
        CHECK(text_of(zip, "b/deflated") == text);
        CHECK(text_of(zip, "c").empty());
        CHECK(zip.find("d") == nullptr);
        CHECK(zip.map(zip.entries()[0]).bytes.data() == zip.entries()[0].packed.data());
        CHECK(as_text(zip.map(zip.entries()[1]).bytes) == text);
        CHECK(as_text(zip.beginning(zip.entries()[0], 3).bytes) == "xxx");
        CHECK(as_text(zip.beginning(zip.entries()[1], 3).bytes) == "xxx");
        CHECK(as_text(zip.beginning(zip.entries()[1], 200'000).bytes) == text);
    }
}

TEST_CASE("a comment after the directory is skipped", "[zip]") {
    const TemporaryFolder folder;
    std::string bytes = zip_of({{"a", "text"}});
    const std::string comment = "PK\x05\x06 and more text than a directory's end takes";
    bytes[bytes.size() - 2] = static_cast<char>(comment.size());
    CHECK(text_of(open_zip(folder.write("good.zip", bytes + comment)), "a") == "text");
}

TEST_CASE("entries past 4 GiB are found", "[zip]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("large.zip");
    constexpr std::uint64_t kAt = (std::uint64_t{1} << 32U) + 4096;
    const std::vector<ZipPart> parts{{"near", "first"}, {"far", "second", false, true}};
    {
        std::ofstream file(path, std::ios::binary);
        file << local_header(parts[0]) << parts[0].data;
        file.seekp(static_cast<std::streamoff>(kAt));  // a hole that takes no disk
        file << local_header(parts[1]) << parts[1].data;
        const auto begin = static_cast<std::uint64_t>(file.tellp());
        file << zip_directory(parts, {5, 6}, {0, kAt}, begin, true);
    }
    const ZipReader zip = open_zip(path);
    CHECK(text_of(zip, "near") == "first");
    CHECK(text_of(zip, "far") == "second");
}

TEST_CASE("every truncation of an archive is an error", "[zip]") {
    const TemporaryFolder folder;
    for (const bool zip64 : {false, true}) {
        const std::string bytes = zip_of({{"a", "text", false, zip64}, {"b", "more text", true, zip64}}, zip64);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            CAPTURE(zip64, size);
            CHECK(zip_complaint(folder, bytes.substr(0, size)) != "");
        }
    }
}

TEST_CASE("damaged and unsupported entries are named", "[zip]") {
    const TemporaryFolder folder;
    std::string bytes = zip_of({{"weights", "some data"}});
    bytes[bytes.find("some")] = 'S';
    CHECK_THAT(zip_complaint(folder, bytes), Contains("'weights' does not match its checksum"));

    bytes = zip_of({{"weights", std::string(1000, 'x'), true}});
    bytes[bytes.find("weights") + 7] ^= 0x06;  // the kind of its first block
    CHECK_THAT(zip_complaint(folder, bytes), Contains("'weights' does not unpack to the 1000 bytes"));

    CHECK_THAT(zip_complaint(folder, zip_of({{"secret", "x", false, false, 1, 1}})), Contains("'secret' is encrypted"));

    bytes = zip_of({{"packed", "x"}});
    bytes[bytes.find("PK\x01\x02") + 10] = 12;
    CHECK_THAT(zip_complaint(folder, bytes), Contains("'packed' has the compression method 12"));

    CHECK_THAT(zip_complaint(folder, zip_of({{"a", "x"}, {"a", "y"}})), Contains("two entries 'a'"));
    CHECK_THAT(zip_complaint(folder, zip_of({{"\xff", "x"}})), Contains("name is not UTF-8"));

    bytes = zip_of({{"a", "x"}});
    bytes[bytes.find("PK\x01\x02") + 42] = 1;  // its place
    CHECK_THAT(zip_complaint(folder, bytes), Contains("'a' is not where the directory says"));

    for (const auto& [signature, problem] :
         {std::pair("PK\x01\x02", "directory is damaged"), std::pair("PK\x06\x06", "zip64 record is not where"),
          std::pair("PK\x06\x07", "zip64 record is missing")}) {
        bytes = zip_of({{"a", "x"}}, true);
        bytes[bytes.find(signature)] = 'Q';
        CHECK_THAT(zip_complaint(folder, bytes), Contains(problem));
    }
    CHECK_THAT(zip_complaint(folder, bytes.substr(bytes.find("PK\x05\x06"))), Contains("zip64 record is missing"));

    bytes = zip_of({{"a", "x"}});
    bytes[bytes.size() - 18] = 1;  // the number of this part
    CHECK_THAT(zip_complaint(folder, bytes), Contains("one of several parts"));
}

TEST_CASE("an entry that claims another size than it has is an error", "[zip]") {
    const TemporaryFolder folder;
    CHECK_THAT(zip_complaint(folder, zip_of({{"a", "text", false, false, 5}})),
               Contains("'a' claims 5 bytes, packed in 4"));
    for (const std::uint64_t claimed : {std::uint64_t{999}, std::uint64_t{1001}}) {
        CHECK_THAT(zip_complaint(folder, zip_of({{"a", std::string(1000, 'x'), true, false, claimed}})),
                   Contains("'a' does not unpack to"));
    }
    // More than deflate can reach.
    CHECK_THAT(zip_complaint(folder, zip_of({{"a", std::string(1000, 'x'), true, true, std::uint64_t{1} << 60U}})),
               Contains("'a' claims 1152921504606846976 bytes"));
}

TEST_CASE("zip bombs are rejected before they are unpacked", "[zip]") {
    const TemporaryFolder folder;
    const std::string zeros(std::size_t{80} << 20U, '\0');
    CHECK_THAT(zip_complaint(folder, zip_of({{"bomb", zeros, true}})),
               Contains("claim to unpack to more than 100 times"));

    // Entries that share their data.
    const std::vector<ZipPart> parts{{"a", "text"}, {"b", "text"}};
    std::string bytes = local_header(parts[0]) + "text";
    bytes += zip_directory(parts, {4, 4}, {0, 0}, bytes.size(), false);
    CHECK_THAT(zip_complaint(folder, bytes), Contains("'a' and 'b' overlap") || Contains("'b' and 'a' overlap"));
}
