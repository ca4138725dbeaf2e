// How many rows of logits are computed at a time.
#include <catch2/catch.hpp>

#include "model/output_loss.h"

using namespace headscope;

namespace {

DeviceInfo device(bool gpu, double gibibytes) {
    DeviceInfo info;
    info.gpu = gpu;
    info.memory_bytes = static_cast<std::uint64_t>(gibibytes * 0x1p30);
    return info;
}

std::int64_t rows(const DeviceInfo& info, DType dtype = DType::BF16, std::int64_t classes = 37000) {
    return output_rows_at_once(info, classes, dtype);
}

}  // namespace

TEST_CASE("logits are computed in chunks that suit the device", "[output]") {
    CHECK(rows(device(false, 512)) == 512);
    CHECK(rows(device(true, 8)) == 3627);     // 256 MiB
    CHECK(rows(device(true, 15.9)) == 3627);  // a P100
    CHECK(rows(device(true, 23.6)) == 14464);
    CHECK(rows(device(true, 141)) == 14464);  // the most whole tiles of 128 rows in 1 GiB
    CHECK(rows(device(true, 80), DType::F32) == 7168);
    CHECK(rows(device(true, 80), DType::F32, 10000000) == 512);
    CHECK(rows(device(true, 8), DType::F32, 10000000) == 512);
}
