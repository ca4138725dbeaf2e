#include "io/event_file.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>

#include "io/crc32c.h"
#include "io/event_records.h"
#include "tests/io/file_size_limit.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
}

// Records of version, restart and train/loss, as written by TensorBoard 2.21.
const std::string kVersion = "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9";
const std::string kRestart = "0f000000000000006d532b090900002040fc54d94110653a0208014da449a8";
const std::string kLoss =
    "2100000000000000017becf60900004040fc54d94110ac022a130a110a0a747261696e2f6c6f73731500002040f66fe46b";

// Returns the given times one after the other.
WallClock clock_of(std::vector<double> readings) {
    return [readings = std::move(readings), next = std::size_t{0}]() mutable { return readings.at(next++); };
}

std::string name_of(const EventFile& file) {
    return std::filesystem::path(file.path()).filename().string();
}

}  // namespace

TEST_CASE("CRC-32C of the examples in RFC 3720", "[events]") {
    CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
    CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
    std::string rising;
    for (int i = 0; i < 32; ++i) {
        rising += static_cast<char>(i);
    }
    CHECK(crc32c(rising) == 0x46dd794eU);
    CHECK(crc32c("") == 0U);
    CHECK(masked_crc32c("") == 0xa282ead8U);
}

TEST_CASE("records equal those of TensorBoard's writer byte by byte", "[events]") {
    CHECK(hex(event_record(version_event(1700000000.25))) == kVersion);
    CHECK(hex(event_record(restart_event(1700000000.5, 101))) == kRestart);
    CHECK(hex(event_record(scalar_event(1700000001.0, 300, "train/loss", 2.5))) == kLoss);
    // A step of 0 is omitted, lengths over 127 take two bytes, and a loss may be NaN.
    std::string name;
    for (int i = 0; i < 200; ++i) {
        name += "78";
    }
    CHECK(hex(event_record(scalar_event(1700000001.0, 0, std::string(200, 'x'), std::nan("")))) ==
          "df000000000000005327f0710900004040fc54d9412ad3010ad0010ac801" + name + "150000c07f93146370");
    // Ten bytes for a negative step; a tag of two bytes; a double that is rounded to a float.
    CHECK(hex(event_record(scalar_event(-1.5, -1, "ä", 0.1))) ==
          "2100000000000000017becf609000000000000f8bf10ffffffffffffffffff012a0b0a090a02c3a415cdcccc3d8011ba67");
}

TEST_CASE("an event file begins with its version and grows on flush()", "[events]") {
    const TemporaryFolder folder;
    EventFile file(folder.file("deep/events"), 0, clock_of({1700000000.25, 1700000001.0}));
    CHECK(name_of(file) == "events.out.tfevents.1700000000.headscope");
    CHECK(hex(read_all(file.path())) == kVersion);
    file.scalar("train/loss", 300, 2.5);
    CHECK(hex(read_all(file.path())) == kVersion);
    file.flush();
    file.flush();
    CHECK(hex(read_all(file.path())) == kVersion + kLoss);
}

TEST_CASE("the destructor flushes", "[events]") {
    const TemporaryFolder folder;
    std::string path;
    {
        EventFile file(folder.file("run"), 0, clock_of({1700000000.25, 1700000001.0}));
        path = file.path();
        file.scalar("train/loss", 300, 2.5);
    }
    CHECK(hex(read_all(path)) == kVersion + kLoss);
}

TEST_CASE("a resumed run leaves the old file unchanged and invalidates its later steps", "[events]") {
    const TemporaryFolder folder;
    const std::string torn = folder.write("events.out.tfevents.1700000000.headscope", "cut in the middle");
    EventFile file(folder.file(""), 100, clock_of({1700000000.5}));
    CHECK(name_of(file) == "events.out.tfevents.1700000001.headscope");
    CHECK(hex(read_all(file.path())) == hex(event_record(version_event(1700000000.5))) + kRestart);
    CHECK(read_all(torn) == "cut in the middle");
}

TEST_CASE("names increase even if the clock goes back", "[events]") {
    const TemporaryFolder folder;
    folder.write("notes.txt", "");
    std::string last;
    for (const double now : {1700000000.0, 1700000000.0, 5.0, 1600000000.0, 1800000000.0}) {
        const EventFile file(folder.file(""), 0, clock_of({now}));
        CHECK(name_of(file) > last);
        last = name_of(file);
    }
    CHECK(last == "events.out.tfevents.1800000000.headscope");
}

TEST_CASE("a full disk leaves whole records, and the rest is written once there is space", "[events]") {
    const TemporaryFolder folder;
    EventFile file(folder.file(""), 0, clock_of({1700000000.25, 1700000001.0}));
    file.scalar("train/loss", 300, 2.5);
    {
        const FileSizeLimit full(60);  // of 40 there already
        CHECK_THAT(error_of([&] { file.flush(); }), Contains("events.out.tfevents.") && Contains("File too large"));
        CHECK(hex(read_all(file.path())) == kVersion);
    }
    file.flush();
    CHECK(hex(read_all(file.path())) == kVersion + kLoss);
}

TEST_CASE("an error names a folder that cannot be created", "[events]") {
    const TemporaryFolder folder;
    folder.write("file", "");
    CHECK_THAT(error_of([&] { EventFile(folder.file("file/events")); }), Contains("file/events"));
    CHECK_THAT(error_of([&] { EventFile(folder.file("file")); }), Contains("file'"));
}
