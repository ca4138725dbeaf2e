// The backend besides its ops, which tests/ops covers: missing devices, switches, limits, memory.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <catch2/catch.hpp>

#include "backend/ops/attention.h"
#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "backend/ops/matmul.h"
#include "backend/ops/optimizer.h"
#include "backend/ops/search.h"
#include "backend/precision.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "support/check.h"
#include "support/random.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::usable_device;

namespace {

std::vector<float> noise(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>(random.below(1U << 24U)) / static_cast<float>(1U << 23U) - 1.0F;
    }
    return values;
}

constexpr std::int64_t kRows = 70;
constexpr std::int64_t kColumns = 300;

// A moment of Adam's, as large as results()'s matrix.
Tensor moment(Backend& backend, std::uint64_t seed, bool positive = false) {
    std::vector<float> values = noise(kColumns * kColumns, seed);
    for (float& value : values) {
        value = positive ? std::abs(value) : value;
    }
    return make_from_host(backend, {static_cast<std::int64_t>(values.size())}, DType::F32, values);
}

// The kernels that look rows up, and Adam; appends their results to `made`.
void use_tables(Backend& b, const Tensor& x, const Tensor& w, std::vector<Tensor>& made) {
    std::vector<std::int32_t> ids(kRows);
    std::vector<std::int32_t> order(kRows);
    for (std::size_t row = 0; row < ids.size(); ++row) {
        ids[row] = static_cast<std::int32_t>(row / 2);  // sorted, each twice
        order[row] = static_cast<std::int32_t>(row);
    }
    const Tensor tokens = make_from_host(b, {1, kRows}, DType::I32, ids);
    const Tensor sorted = make_from_host(b, {kRows}, DType::I32, order);
    const Tensor embedded = b.empty(x.shape, DType::F32);
    b.run(Embed{.ids = tokens, .table = w, .out = embedded, .scale = 3.0F});
    const Tensor grad_table = b.empty(w.shape, DType::F32);
    b.run(EmbedBackward{.ids = tokens, .order = sorted, .grad_out = x, .grad_table = grad_table});
    const Tensor gathered = b.empty({kRows, kColumns}, DType::F32);
    b.run(GatherRows{w, tokens.reshape({kRows}), gathered});
    const Tensor scalars =
        make_from_host(b, {StepScalars::Count}, DType::F32,
                       std::vector<float>{0.01F, 1.0F, 0.1F, 0.02F, 0.5F, 0.0F, 1.0F, 1.0F, 0.0F, 1.0F});
    const Tensor flat = w.reshape({w.elements()});
    b.run(Adam{flat, grad_table.reshape({w.elements()}), moment(b, 4), moment(b, 5, true), scalars});
    made.insert(made.end(), {embedded, grad_table, gathered, w});
}

// A sample of every kind of kernel: element-wise, a product, reductions, two-level sums, integers.
std::vector<float> results() {
    const auto backend = open_vulkan_device(0);
    Backend& b = *backend;
    const Tensor x = make_from_host(b, {1, kRows, kColumns}, DType::F32, noise(kRows * kColumns, 1));
    const Tensor w = make_from_host(b, {kColumns, kColumns}, DType::F32, noise(kColumns * kColumns, 2));
    const Tensor gain = make_from_host(b, {kColumns}, DType::F32, noise(kColumns, 3));
    const Tensor targets = make_from_host(b, {kRows}, DType::I32, std::vector<std::int32_t>(kRows, 5));
    const Tensor y = b.empty(x.shape, DType::F32);
    const Tensor sum = b.empty(x.shape, DType::F32);
    const Tensor mean = b.empty({1, kRows}, DType::F32);
    const Tensor rstd = b.empty({1, kRows}, DType::F32);
    b.run(Matmul{x.reshape({kRows, kColumns}), w, y.reshape({kRows, kColumns}), false, true, 0.05F});
    b.run(AddLayerNorm{
        .x = x, .residual = y, .gain = gain, .bias = gain, .sum = sum, .y = y, .mean = mean, .rstd = rstd});
    b.run(MaskedSoftmax{y.reshape({1, 1, kRows, kColumns}), y.reshape({1, 1, kRows, kColumns}), {.causal = true}});
    const Tensor loss = b.empty({kRows}, DType::F32);
    const Tensor nll = b.empty({kRows}, DType::F32);
    b.run(SmoothedCrossEntropy{
        .logits = y.reshape({kRows, kColumns}), .targets = targets, .loss = loss, .nll = nll, .epsilon = 0.1F});
    const Tensor columns = b.empty({kColumns}, DType::F32);
    b.run(SumRows{y.reshape({kRows, kColumns}), columns});
    const Tensor squares = b.empty({1}, DType::F32);
    b.run(SquareSum{sum, squares});
    const Tensor values = b.empty({kRows, 4}, DType::F32);
    const Tensor indices = b.empty({kRows, 4}, DType::I32);
    b.run(LogSoftmaxTopK{sum.reshape({kRows, kColumns}), values, indices});
    std::vector<Tensor> made{y, sum, mean, rstd, loss, nll, columns, squares, values, indices};
    use_tables(b, x, w, made);
    std::vector<float> all;
    for (const Tensor& tensor : made) {
        const std::vector<float> host = to_host<float>(b, tensor);
        all.insert(all.end(), host.begin(), host.end());
    }
    b.synchronize();
    return all;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
    REQUIRE(a.size() == b.size());
    double most = 0.0;
    for (std::size_t index = 0; index < a.size(); ++index) {
        const double scale = std::max({1.0, std::abs(double{a[index]}), std::abs(double{b[index]})});
        const double difference = std::abs(double{a[index]} - double{b[index]}) / scale;
        most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    }
    return most;
}

bool equal_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("without a loader the error says what to install", "[vulkan][device]") {
    CHECK_THROWS_WITH(vulkan::Loader("libno-such-vulkan.so.1"),
                      Catch::Contains("libno-such-vulkan.so.1") && Catch::Contains("install libvulkan1"));
}

TEST_CASE("without a driver there is one rejected entry and nothing is thrown", "[vulkan][device]") {
    const Environment files("VK_ICD_FILENAMES", "/nonexistent.json");
    const Environment drivers("VK_DRIVER_FILES", "/nonexistent.json");
    const std::vector<DeviceInfo> devices = list_vulkan_devices();
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].backend == "vulkan");
    CHECK_THAT(devices[0].rejected, Catch::Contains("install"));
    CHECK_THROWS_AS(open_vulkan_device(0), Error);
}

TEST_CASE("an unknown device is an Error with the number of devices", "[vulkan][device]") {
    if (usable_device()) {
        CHECK_THROWS_WITH(open_vulkan_device(99), Catch::Contains("vulkan:99"));
        CHECK_THROWS_AS(open_vulkan_device(-1), Error);
    }
}

TEST_CASE("an invalid switch is an Error, and makes the list one rejected entry", "[vulkan][device]") {
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "subgruops");
    CHECK_THROWS_WITH(open_vulkan_device(0), Catch::Contains("subgruops"));
    const std::vector<DeviceInfo> devices = list_vulkan_devices();
    REQUIRE(devices.size() == 1);
    CHECK_THAT(devices[0].rejected, Catch::Contains("subgruops"));
}

TEST_CASE("row lanes are a power of two up to a workgroup's size", "[vulkan][device]") {
    for (const char* wrong : {"48", "512", "many"}) {
        const Environment lanes("HEADSCOPE_VULKAN_ROW_LANES", wrong);
        CHECK_THROWS_WITH(open_vulkan_device(0), Catch::Contains("HEADSCOPE_VULKAN_ROW_LANES"));
    }
}

TEST_CASE("the error of a trial is in millionths, for tiles of one side or for all", "[vulkan][device]") {
    for (const char* wrong : {"50/", "/128", "/", "few", "5/few"}) {
        const Environment error("HEADSCOPE_VULKAN_TRIAL_ERROR", wrong);
        CHECK_THROWS_WITH(open_vulkan_device(0), Catch::Contains("HEADSCOPE_VULKAN_TRIAL_ERROR"));
    }
}

TEST_CASE("the plain paths equal the fast ones", "[vulkan][device]") {
    if (!usable_device()) {
        return;
    }
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const std::vector<float> fast = results();
    REQUIRE(std::count_if(fast.begin(), fast.end(), [](float v) { return v != 0.0F; }) > 1000);
    CHECK(equal_bits(fast, results()));
    for (const char* plain : {"texel_loads", "transfers", "push_descriptors", "push_descriptors,pipeline_cache"}) {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", plain);
        CHECK(equal_bits(fast, results()));
    }
    {
        // Other kernels, in which a GPU's compiler may contract other products and sums.
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", "vector_loads");
        const std::vector<float> one_by_one = results();
        CHECK(distance(fast, one_by_one) < 1e-6);
        CHECK((equal_bits(fast, one_by_one) || !open_vulkan_device(0)->device().software));
    }
    {
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", "pipeline_threads");
        CHECK(equal_bits(fast, results()));
    }
    {
        // Sums in another order: equal to rounding.
        const Environment disable("HEADSCOPE_VULKAN_DISABLE", "subgroups");
        const std::vector<float> shared = results();
        CHECK(distance(fast, shared) < 1e-5);
        CHECK_FALSE(equal_bits(fast, shared));
    }
}

TEST_CASE("without 16-bit storage buffers f16 is an error that says what is missing and what to do",
          "[vulkan][device]") {
    if (!usable_device()) {
        return;
    }
    const Environment disable("HEADSCOPE_VULKAN_DISABLE", "storage16");
    const std::unique_ptr<Backend> device = open_vulkan_device(0);
    for (const Precision precision : {Precision::F16, Precision::BF16}) {
        const std::string storage = precision == Precision::F16 ? "F16" : "BF16";
        CHECK_THROWS_WITH(arithmetic_for(*device, precision, "--precision"),
                          Catch::Contains("--precision: " + device->device().id + " has no " + storage +
                                          " storage (no 16-bit storage buffers (storageBuffer16BitAccess))") &&
                              Catch::Contains("use f32, or choose another --device"));
    }
    const Tensor half = device->empty({16}, DType::F16);
    CHECK_THROWS_WITH(
        device->run(AddScaled{.a = half, .out = half, .alpha = 2.0F}),
        Catch::Contains("no 16-bit storage buffers (storageBuffer16BitAccess), which add_scaled of F16") &&
            Catch::Contains("use f32, or choose another --device"));
}

TEST_CASE("small bindings and small grids change only the order of sums", "[vulkan][device]") {
    if (!usable_device()) {
        return;
    }
    const std::vector<float> whole = results();
    {
        const Environment groups("HEADSCOPE_VULKAN_MAX_GROUPS", "3");
        CHECK(equal_bits(whole, results()));
    }
    const Environment binding("HEADSCOPE_VULKAN_MAX_BINDING", "8192");
    CHECK(distance(whole, results()) < 1e-5);
}

TEST_CASE("the error of a lost device names what was running", "[vulkan][device]") {
    if (!usable_device()) {
        return;
    }
    const Environment lost("HEADSCOPE_VULKAN_LOST_AT", "1");
    const std::unique_ptr<Backend> device = open_vulkan_device(0);
    const Tensor a = device->empty({16}, DType::F32);
    device->run(Fill{.out = a, .value = 1.0F});
    for (int time = 0; time < 2; ++time) {
        CHECK_THROWS_WITH(device->synchronize(), Catch::Contains("lost during vkQueueSubmit") &&
                                                     Catch::Contains("it was running fill") &&
                                                     !Catch::Contains("matmul"));
        CHECK_THROWS_AS(device->run(AddScaled{.a = a, .out = a, .alpha = 2.0F}), DeviceLost);
    }
}

TEST_CASE("a damaged pipeline cache is replaced", "[vulkan][device]") {
    if (!usable_device()) {
        return;
    }
    namespace fs = std::filesystem;
    const Environment everything("HEADSCOPE_VULKAN_DISABLE", "");
    const fs::path folder = fs::temp_directory_path() / ("headscope-vulkan-" + std::to_string(getpid()));
    const Environment cache("XDG_CACHE_HOME", folder.string());
    // Mesa's own cache is there too; it stays, so that the test need not compile everything again.
    const char* home = std::getenv("HOME");
    const Environment mesa("MESA_SHADER_CACHE_DIR", std::string(home == nullptr ? "/tmp" : home) + "/.cache");
    const std::vector<float> first = results();
    REQUIRE(fs::exists(folder / "headscope"));
    fs::path file;
    for (const auto& entry : fs::directory_iterator(folder / "headscope")) {
        file = entry.path().filename().string().starts_with("drivers-") ? file : entry.path();
    }
    CHECK(fs::file_size(file) > 24);
    fs::resize_file(file, fs::file_size(file) - 1);
    CHECK(equal_bits(first, results()));
    CHECK_FALSE(vulkan_tests::bytes_of(file).empty());
    const auto repaired = fs::file_size(file);
    CHECK(equal_bits(first, results()));
    CHECK(fs::file_size(file) == repaired);
    fs::remove_all(folder);
}

TEST_CASE("running out of memory is an Error with the requested size", "[vulkan][memory]") {
    if (!usable_device()) {
        return;
    }
    const auto backend = open_vulkan_device(0);
    const Tensor kept = make_from_host(*backend, {3}, DType::F32, std::vector<float>{1, 2, 3});
    CHECK_THROWS_WITH(backend->empty({1 << 20, 1 << 20}, DType::F32),
                      Catch::Contains("out of memory") && Catch::Contains("4194304.0 MiB"));
    CHECK(to_host<float>(*backend, kept) == std::vector<float>{1, 2, 3});
    CHECK(backend->memory().live == 12);
}

TEST_CASE("freed memory is reused at once, without reading stale contents", "[vulkan][memory]") {
    if (!usable_device()) {
        return;
    }
    const auto backend = open_vulkan_device(0);
    constexpr std::int64_t kSize = 100000;
    const Tensor total = backend->empty({kSize}, DType::F32);
    backend->run(Fill{total, 0.0F});
    for (int step = 1; step <= 50; ++step) {
        const Tensor part = backend->empty({kSize}, DType::F32);
        backend->run(Fill{part, static_cast<float>(step)});
        backend->run(AddScaled{.a = total, .b = part, .out = total});
    }
    CHECK(backend->memory().peak == 2 * kSize * sizeof(float));
    const std::vector<float> host = to_host<float>(*backend, total);
    CHECK(std::all_of(host.begin(), host.end(), [](float value) { return value == 1275.0F; }));
}

TEST_CASE("transfers larger than the staging memory are complete", "[vulkan][memory]") {
    if (!usable_device()) {
        return;
    }
    const auto backend = open_vulkan_device(0);
    constexpr std::size_t kSize = 5U << 20U;
    std::vector<std::int32_t> sent(kSize);
    for (std::size_t index = 0; index < kSize; ++index) {
        sent[index] = static_cast<std::int32_t>(index * 2654435761U);
    }
    const Tensor tensor = backend->empty({static_cast<std::int64_t>(kSize)}, DType::I32);
    backend->upload(tensor, sent.data(), kSize * sizeof(std::int32_t));
    std::vector<std::int32_t> received(kSize);
    backend->download(tensor, received.data(), kSize * sizeof(std::int32_t));
    CHECK(sent == received);
}

TEST_CASE("the validation layer's messages become Errors", "[vulkan][validation]") {
    const Environment validation("HEADSCOPE_VULKAN_VALIDATION", "1");
    const vulkan::Options options = vulkan::Options::from(environment_options());
    REQUIRE(options.validation);
    std::shared_ptr<const vulkan::Instance> instance;
    try {
        instance = std::make_shared<const vulkan::Instance>(true);
    } catch (const Error& error) {
        WARN("SKIPPED: " << error.what());
        return;
    }
    if (instance->devices().empty()) {
        WARN("SKIPPED: no Vulkan device");
        return;
    }
    const VkPhysicalDevice physical = instance->devices()[0];
    const vulkan::Device device(instance, physical, vulkan::probe(instance->functions(), physical, 0, options));
    CHECK_NOTHROW(device.check_validation());
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;  // of no bytes and no use, which is not allowed
    VkBuffer buffer = VK_NULL_HANDLE;
    (void)device.functions().vkCreateBuffer(device.handle(), &info, nullptr, &buffer);
    device.functions().vkDestroyBuffer(device.handle(), buffer, nullptr);
    CHECK_THROWS_WITH(device.check_validation(), Catch::Contains("VUID"));
    CHECK_NOTHROW(device.check_validation());
}
