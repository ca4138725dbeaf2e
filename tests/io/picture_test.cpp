// Files of pictures: what is read, and what is refused.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "io/picture.h"
#include "support/check.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::string picture_bytes() {
    std::ifstream file(checkout_file("tests/import/models/hf-vit/picture.png"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string complaint_about(const std::string& bytes) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("some.png"), std::ios::binary) << bytes;
    try {
        static_cast<void>(read_picture(folder.file("some.png"), 3));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

constexpr std::size_t kHeader = 33;  // signature and first chunk

// A chunk of a PNG file; its checksum is not read here.
std::string chunk(const std::string& name, const std::string& data) {
    const auto length = static_cast<char>(data.size());
    return std::string(3, '\0') + length + name + data + std::string(4, '\0');
}

}  // namespace

TEST_CASE("a picture has the channels that are asked for", "[pictures]") {
    const std::string file = checkout_file("tests/import/models/hf-vit/picture.png");
    const PixelPicture picture = read_picture(file, 3);
    CHECK(picture.width == 50);
    CHECK(picture.height == 37);
    CHECK(picture.pixels.size() == 50U * 37 * 3);
    const PixelPicture grey = read_picture(checkout_file("tests/import/models/hf-vit/grey.png"), 3);
    CHECK(grey.pixels[3] == grey.pixels[4]);
    CHECK(read_picture(file, 1).pixels.size() == 50U * 37);
}

TEST_CASE("a colour that a file calls transparent is white", "[pictures]") {
    const std::string bytes = picture_bytes();
    const TemporaryFolder folder;
    const std::string file = folder.file("some.png");
    const PixelPicture opaque = read_picture(checkout_file("tests/import/models/hf-vit/picture.png"), 3);
    std::string colour;
    for (std::size_t i = 0; i < 3; ++i) {
        colour += '\0';
        colour += static_cast<char>(opaque.pixels[i]);
    }
    REQUIRE(opaque.pixels[0] != 255);
    std::ofstream(file, std::ios::binary) << bytes.substr(0, kHeader) << chunk("tRNS", colour) << bytes.substr(kHeader);
    CHECK(read_picture(file, 3).pixels[0] == 255);
    CHECK(read_picture(file, 1).pixels[0] == 255);
}

TEST_CASE("a picture of its own size stays as it is, and a resized one keeps its mean", "[pictures]") {
    PixelPicture picture{4, 2, 1, {0, 40, 80, 120, 0, 40, 80, 120}};
    CHECK(resized(picture, 4, 2).pixels == picture.pixels);
    CHECK(resized(picture, 1, 1).pixels == std::vector<std::uint8_t>{60});
    CHECK(resized({1, 1, 3, {7, 8, 9}}, 2, 1).pixels == std::vector<std::uint8_t>{7, 8, 9, 7, 8, 9});
}

TEST_CASE("files that hold no picture are named with the reason", "[bad_input]") {
    CHECK_THAT(complaint_about(""), Contains("is empty: expected a PNG or JPEG file"));
    CHECK_THAT(complaint_about("The cat sleeps."), Contains("is of an unknown kind"));
    CHECK_THAT(complaint_about("GIF89a"), Contains("is a GIF"));
    CHECK_THAT(complaint_about(std::string("RIFF\x10\0\0\0WEBPVP8 ", 16)), Contains("is a WebP"));
    CHECK_THAT(complaint_about(picture_bytes().substr(0, 300)), Contains("is damaged"));
    const std::string bytes = picture_bytes();
    CHECK_THAT(complaint_about(bytes.substr(0, kHeader) + chunk("acTL", std::string(8, '\0')) + bytes.substr(kHeader)),
               Contains("is animated: save one of its frames"));
    std::string huge = bytes;
    huge[17] = 0x7f;  // of the width
    CHECK_THAT(complaint_about(huge), Contains("at most 100 million"));
    CHECK_THROWS_AS(read_picture("no/such.png", 3), Error);
}
