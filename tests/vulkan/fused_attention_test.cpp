// Attention over sequences whose weights would not fit memory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"
#include "support/random.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;
using headscope::vulkan_tests::limit_of;
using headscope::vulkan_tests::usable_device;

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

struct Sequence {
    std::int64_t heads, length, depth;
    Shape operand() const { return {1, heads, length, depth}; }
    std::size_t weights_bytes() const { return static_cast<std::size_t>(heads * length * length) * sizeof(float); }
};

Tensor random_heads(Backend& backend, const Shape& shape, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    for (float& value : values) {
        value = static_cast<float>(random.below(2001)) / 1000.0F - 1.0F;
    }
    return make_from_host(backend, shape, DType::F32, values);
}

// Over values that are all 1, so that each entry of out is 1 whatever the weights.
Attention over_ones(Backend& backend, const Sequence& size) {
    const Tensor ones = backend.empty(size.operand(), DType::F32);
    backend.run(Fill{.out = ones, .value = 1.0F});
    return {.q = random_heads(backend, size.operand(), 1),
            .k = random_heads(backend, size.operand(), 2),
            .v = ones,
            .out = backend.empty(size.operand(), DType::F32),
            .log_sums = backend.empty({1, size.heads, size.length}, DType::F32),
            .scale = 1.0F / std::sqrt(static_cast<float>(size.depth))};
}

bool all_near(const std::vector<float>& values, float wanted) {
    return std::all_of(values.begin(), values.end(),
                       [wanted](float value) { return std::abs(value - wanted) < 1e-4F; });
}

struct Attended {
    std::vector<float> out;
    std::string kernels;
};

AttentionBackward way_back(Backend& backend, const Attention& op) {
    return {.q = op.q,
            .k = op.k,
            .v = op.v,
            .out = op.out,
            .grad_out = op.v,
            .log_sums = op.log_sums,
            .grad_q = backend.empty(op.q.shape, DType::F32),
            .grad_k = backend.empty(op.k.shape, DType::F32),
            .grad_v = backend.empty(op.v.shape, DType::F32),
            .scale = op.scale};
}

// Few queries with 37 keys, of which each sees some.
Attended attend_few(Backend& device, std::int64_t queries, std::int64_t depth, std::int64_t value_depth) {
    constexpr std::int64_t kKeys = 37;
    const Attention op{
        .q = random_heads(device, {2, 3, queries, depth}, 1),
        .k = random_heads(device, {2, 3, kKeys, depth}, 2),
        .v = random_heads(device, {2, 3, kKeys, value_depth}, 3),
        .out = device.empty({2, 3, queries, value_depth}, DType::F32),
        .mask = {.key_lengths = make_from_host(device, {2}, DType::I32, std::vector<std::int32_t>{37, 5})},
        .scale = 0.5F};
    device.drain_kernel_names();
    device.run(op);
    Attended result{to_host<float>(device, op.out), {}};
    for (const std::string& kernel : device.drain_kernel_names()) {
        result.kernels += kernel + "; ";
    }
    return result;
}

bool near(const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](float x, float y) { return std::abs(x - y) < 1e-5F * (1.0F + std::abs(y)); });
}

}  // namespace

TEST_CASE("invocations that share the keys of few queries give the same as single ones", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const VulkanDevices devices(environment_options());
    const auto shared = devices.open(0, "fused-attention");
    const auto apart = devices.open(0, "no-subgroups");
    const auto composed = devices.open(0, "no-fused-attention");
    // Depths whose vec4s all, some or none of the neighbours have; and a row's end.
    for (const auto& [queries, depth, value_depth] : {std::tuple{1, 64, 64}, {3, 20, 12}, {1, 8, 33}, {2, 30, 7}}) {
        INFO(queries << " queries of " << depth << " columns, values of " << value_depth);
        const Attended wanted = attend_few(*composed, queries, depth, value_depth);
        CHECK_THAT(wanted.kernels, !Catch::Contains("attend_few"));
        for (const auto* device : {&shared, &apart}) {
            const Attended got = attend_few(**device, queries, depth, value_depth);
            CHECK_THAT(got.kernels, Catch::Contains("attend_few"));
            CHECK(near(got.out, wanted.out));
        }
    }
    const int share = std::min(8, std::stoi(limit_of(shared->device(), "subgroup size")));
    CHECK_THAT(attend_few(*shared, 1, 64, 64).kernels,
               Catch::Contains("constants 64 64 0 33 1 " + std::to_string(share)));
}

TEST_CASE("attention in 16 bits is unsupported without such storage, forward and backward", "[vulkan][attention]") {
    for (const bool storage16 : {false, true}) {
        FakeLoader fake({.devices = 1, .storage16 = storage16, .opens = true});
        for (const char* path : {"", "no-fused-attention"}) {
            const auto device = VulkanDevices(environment_options()).open(0, path);
            for (const OpId op : {OpId::Attention, OpId::AttentionBackward}) {
                INFO(name_of(op) << " by " << path);
                CHECK((device->support(op, DType::BF16).level == SupportLevel::None) == !storage16);
            }
        }
    }
}

// Fused on every device: if registers are shared, deeper heads are not.
constexpr std::int64_t kShallow = 16;

TEST_CASE("attention over 4,096 positions needs no memory for its weights", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const auto device = open_vulkan_device(0);
    const Sequence size{.heads = 8, .length = 4096, .depth = kShallow};
    REQUIRE(size.weights_bytes() == 512 * kMebibyte);
    const Attention op = over_ones(*device, size);
    device->run(op);
    CHECK(all_near(to_host<float>(*device, op.out), 1.0F));
    CHECK(device->memory().peak < 32 * kMebibyte);
}

TEST_CASE("the backward over 4,096 positions needs no memory for weights", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const auto device = open_vulkan_device(0);
    const Sequence size{.heads = 8, .length = 2048, .depth = kShallow};
    REQUIRE(size.weights_bytes() == 128 * kMebibyte);
    const Attention op = over_ones(*device, size);
    device->run(op);
    const AttentionBackward back = way_back(*device, op);
    device->run(back);
    // With equal values no weight has an effect; the gradient of a value is its weights.
    CHECK(all_near(to_host<float>(*device, back.grad_q), 0.0F));
    CHECK(all_near(to_host<float>(*device, back.grad_k), 0.0F));
    double flow = 0.0;
    for (const float value : to_host<float>(*device, back.grad_v)) {
        flow += double{value};
    }
    CHECK(flow == Approx(static_cast<double>(size.operand().elements())).epsilon(1e-5));
    CHECK(device->memory().peak < 32 * kMebibyte);
}

TEST_CASE("deep heads are composed only as long as their weights fit a binding", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const Environment small("HEADSCOPE_VULKAN_MAX_BINDING", std::to_string(kMebibyte / 4));
    const auto device = open_vulkan_device(0);
    const Sequence size{.heads = 2, .length = 400, .depth = 64};
    const Attention op = over_ones(*device, size);
    const std::size_t before = device->memory().live;
    device->run(op);
    CHECK(all_near(to_host<float>(*device, op.out), 1.0F));
    CHECK(device->memory().peak < before + size.weights_bytes() / 2);
}

namespace {

// The result, behind it the log-sums if they are wanted, of a step of six hypotheses that share the keys of one layer,
// which are `heads` of the 8 heads of a cache of 384 KiB.
Attended attend_by_rows(Backend& backend, std::int64_t heads, bool wants_sums = false) {
    constexpr std::int64_t kBeam = 6, kKeys = 64, kDepth = 32;
    const auto of_layer = [&](std::uint64_t seed) {
        return random_heads(backend, {kBeam, 8, kKeys, kDepth}, seed).narrow(1, 8 - heads, heads);
    };
    std::vector<std::int32_t> rows;
    Random random(5);
    for (std::int64_t i = 0; i < kKeys * kBeam; ++i) {
        rows.push_back(static_cast<std::int32_t>(random.below(kBeam)));
    }
    const Attention op{.q = random_heads(backend, {kBeam, heads, 1, kDepth}, 3),
                       .k = of_layer(1),
                       .v = of_layer(2),
                       .out = backend.empty({kBeam, heads, 1, kDepth}, DType::F32),
                       .log_sums = wants_sums ? backend.empty({kBeam, heads, 1}, DType::F32) : Tensor{},
                       .key_rows = make_from_host(backend, {kKeys, kBeam}, DType::I32, rows),
                       .scale = 0.2F};
    backend.drain_kernel_names();
    backend.run(op);
    Attended attended{.out = to_host<float>(backend, op.out), .kernels = {}};
    const std::vector<float> sums = wants_sums ? to_host<float>(backend, op.log_sums) : std::vector<float>();
    attended.out.insert(attended.out.end(), sums.begin(), sums.end());
    for (const std::string& kernel : backend.drain_kernel_names()) {
        attended.kernels += kernel.substr(0, kernel.find(',')) + " ";
    }
    return attended;
}

}  // namespace

TEST_CASE("a cache larger than a binding is read by a table", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    for (const std::int64_t heads : {2, 7}) {  // one layer fits a binding, or only a part of it
        INFO(heads << " heads");
        const Attended whole = attend_by_rows(*open_vulkan_device(0), heads);
        const Environment small("HEADSCOPE_VULKAN_MAX_BINDING", std::to_string(kMebibyte / 4));
        const Attended split = attend_by_rows(*open_vulkan_device(0), heads);
        CHECK(split.out == whole.out);
        CHECK(split.kernels.find("attend_few") != std::string::npos);
        CHECK(split.kernels.find("gather") == std::string::npos);
    }
}

// Its heads would be copied a few at a time, while the log-sums are of all.
TEST_CASE("attention by a table whose log-sums are wanted is composed if its cache is larger than a binding",
          "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    for (const std::int64_t heads : {2, 7}) {
        INFO(heads << " heads");
        const Attended whole = attend_by_rows(*open_vulkan_device(0), heads, true);
        CHECK(whole.kernels.find("gather") == std::string::npos);
        const Environment small("HEADSCOPE_VULKAN_MAX_BINDING", std::to_string(kMebibyte / 4));
        const Attended composed = attend_by_rows(*open_vulkan_device(0), heads, true);
        CHECK(composed.kernels.find("gather") != std::string::npos);
        REQUIRE(composed.out.size() == whole.out.size());
        for (std::size_t i = 0; i < whole.out.size(); ++i) {
            CHECK(composed.out[i] == Approx(whole.out[i]).margin(1e-5));
        }
    }
}

TEST_CASE("on GPUs the gradients of deep heads' keys and values are computed one after the other",
          "[vulkan][attention]") {
    struct Gpu {
        std::uint32_t least_subgroup;  // with one, several sizes share its registers
        std::int64_t deepest;
    };
    for (const Gpu& gpu : {Gpu{0, 32}, Gpu{8, 16}}) {
        for (const std::int64_t depth : {gpu.deepest, gpu.deepest + 4}) {
            INFO("heads of " << depth << " columns, subgroups of " << gpu.least_subgroup << " or more");
            FakeLoader fake({.devices = 2,
                             .least_subgroup = gpu.least_subgroup,
                             .most_subgroup = gpu.least_subgroup == 0 ? 0U : 32U,
                             .opens = true});
            const Environment small("HEADSCOPE_VULKAN_MAX_BINDING", std::to_string(kMebibyte / 4));
            const auto device = open_vulkan_device(0);
            const Attention op = over_ones(*device, {.heads = 2, .length = 400, .depth = depth});
            device->drain_kernel_names();
            device->run(way_back(*device, op));
            const std::vector<std::string> kernels = device->drain_kernel_names();
            CHECK(std::count_if(kernels.begin(), kernels.end(), [](const std::string& kernel) {
                      return kernel.find("attend_backward_keys") == 0;
                  }) == (depth > gpu.deepest ? 2 : 1));
        }
    }
}

TEST_CASE("fused attention can be disabled", "[vulkan][attention]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const auto level = [](OpId op) { return open_vulkan_device(0)->support(op, DType::F32).level; };
    CHECK(level(OpId::Attention) == SupportLevel::Native);
    CHECK(level(OpId::AttentionBackward) == SupportLevel::Native);
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "fused_attention");
    CHECK(level(OpId::Attention) == SupportLevel::Composed);
    CHECK(level(OpId::AttentionBackward) == SupportLevel::Composed);
    const std::vector<std::string> paths = list_vulkan_devices()[0].paths;
    CHECK(std::count(paths.begin(), paths.end(), "no-fused-attention") == 0);
}
