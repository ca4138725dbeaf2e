// Weights in blocks in numbers.
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/ops/blocks.h"
#include "conformance/case.h"
#include "registry/registry.h"
#include "tensor/dtype.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

std::vector<std::int32_t> as_numbers(const std::vector<std::uint32_t>& words) {
    return {words.begin(), words.end()};
}

}  // namespace

TEST_CASE("a code of 4 bits is half a byte, and one of 8 a byte with a sign", "[blocks][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const std::uint32_t scales = to_f16(0.5F) | std::uint32_t{to_f16(-3.0F)} << 16U;
    const auto row = [&](const std::vector<std::uint32_t>& words) {
        const Tensor codes = make_from_host(*oracle, {1, std::ssize(words)}, DType::I32, as_numbers(words));
        const Tensor out = oracle->empty({1, 1, kBlockColumns}, oracle->full_dtype());
        oracle->run(BlockEmbed{
            .codes = codes, .scales = make_from_host(*oracle, {1, 1}, DType::I32, as_numbers({scales})), .out = out});
        return to_host<double>(*oracle, out);
    };
    const Values four = row({0x000000f1, 0, 0, 0xa0000000});
    CHECK(four[0] == 0.5 * 1 - 3);
    CHECK(four[1] == -3);
    CHECK(four[16] == 0.5 * 15 - 3);
    CHECK(four[15] == -3);
    CHECK(four[31] == 0.5 * 10 - 3);
    const Values eight = row({0x0000ff80, 0, 0, 0, 0, 0, 0, 0x7f000000});
    CHECK(eight[0] == 0.5 * -128 - 3);
    CHECK(eight[1] == 0.5 * -1 - 3);
    CHECK(eight[31] == 0.5 * 127 - 3);
}

TEST_CASE("each half of a block may have factors", "[blocks][by_hand]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const std::uint32_t scale = to_f16(0.5F) | std::uint32_t{to_f16(-3.0F)} << 16U;
    const std::uint32_t factors = 0x8001fe03;  // 3 and -2 of the scale, 1 and -128 of the least value
    const Tensor scales = make_from_host(*oracle, {1, 2}, DType::I32, as_numbers({scale, factors}));
    for (const std::int64_t words : {4, 8}) {
        const Tensor codes = make_from_host(*oracle, {1, words}, DType::I32,
                                            std::vector<std::int32_t>(static_cast<std::size_t>(words), 0x01010101));
        const Tensor out = oracle->empty({1, 1, kBlockColumns}, oracle->full_dtype());
        oracle->run(BlockEmbed{.codes = codes, .scales = scales, .out = out});
        const Values found = to_host<double>(*oracle, out);
        CHECK(found[0] == 1.5 - 3);
        CHECK(found[15] == found[0]);
        CHECK(found[16] == (words == 8 ? -1.0 : 0.0) + 384);
        CHECK(found[31] == found[16]);
    }
}

TEST_CASE("numbers are quantised to the nearest code of their block", "[blocks]") {
    std::vector<float> row(70);
    for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = std::sin(static_cast<float>(i)) * (i < 32 ? 1.0F : 40.0F);
    }
    for (const int bits : {4, 8}) {
        for (std::size_t first = 0; first < row.size(); first += kBlockColumns) {
            const std::span<const float> values(row.data() + first,
                                                std::min<std::size_t>(kBlockColumns, row.size() - first));
            const CodedBlock block = quantise_block(values, bits);
            CHECK((bits == 4 || block.least == 0));
            std::vector<std::uint32_t> words(static_cast<std::size_t>(code_words(kBlockColumns, bits)));
            pack_codes(block, bits, words.data());
            const std::uint32_t scales = scales_of(block);
            std::vector<float> back(values.size());
            unpack_row(words.data(), &scales, {.bits = bits}, back);
            const auto [low, high] = std::ranges::minmax(values);
            // Half a step, and the rounding of scale and least value to 11 bits.
            const float most = (bits == 4 ? (high - low) / 15.0F : std::fmax(-low, high) / 127.0F) / 2.0F +
                               2.0F * std::fmax(-low, high) / 2048.0F;
            for (std::size_t i = 0; i < back.size(); ++i) {
                INFO(bits << " bits, " << first + i);
                CHECK(std::abs(back[i] - values[i]) <= most);
            }
        }
    }
    CHECK(quantise_block(std::vector<float>(32, 0.0F), 8).scale == 0);
}
