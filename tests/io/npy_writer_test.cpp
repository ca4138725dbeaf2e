#include "io/npy_writer.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "io/npy_header.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

TEST_CASE("rows of an array are written as they come", "[npy]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("rows.npy");
    std::vector<float> expected;
    {
        NpyRows rows(path, 3);
        for (int i = 0; i < 1000; ++i) {
            const auto x = static_cast<float>(i);
            rows.add(std::vector{x, -x, 0.5F});
            expected.insert(expected.end(), {x, -x, 0.5F});
            rows.add({});
        }
        CHECK(rows.rows() == 1000);
        CHECK_FALSE(std::filesystem::exists(path));
        rows.commit();
    }
    const std::string bytes = read_all(path);
    const NpyHeader header = parse_npy_header(std::as_bytes(std::span(bytes)));
    CHECK(header.dtype == "F32");
    CHECK_FALSE(header.fortran_order);
    CHECK(header.shape == std::vector<std::int64_t>{1000, 3});
    CHECK(header.data_begin % 64 == 0);
    std::vector<float> found((bytes.size() - header.data_begin) / sizeof(float));
    std::memcpy(found.data(), bytes.data() + header.data_begin, found.size() * sizeof(float));
    CHECK(found == expected);
}

TEST_CASE("an array that is given up leaves nothing", "[npy]") {
    const TemporaryFolder folder;
    NpyRows(folder.file("rows.npy"), 2).add(std::vector{1.0F, 2.0F});
    CHECK(std::filesystem::is_empty(folder.file("")));
    CHECK_THAT(error_of([&] { NpyRows(folder.file("no/such/rows.npy"), 2); }), Catch::Contains("rows.npy"));
}
