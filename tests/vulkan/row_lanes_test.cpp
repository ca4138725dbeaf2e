// Kernels with a workgroup for each row, with as many invocations as on a GPU.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/ops/layer_norm.h"
#include "backend/ops/loss.h"
#include "environment.h"
#include "registry/registry.h"
#include "support/random.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::usable_device;

namespace {

std::vector<float> noise(std::int64_t count) {
    Random random(5);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::generate(values.begin(), values.end(),
                  [&] { return static_cast<float>(random.below(8001)) / 1000.0F - 4.0F; });
    return values;
}

// loss, nll and gradients of three rows, of which the second is a pad.
std::vector<float> losses(Backend& backend, std::int64_t classes) {
    constexpr std::int64_t kRows = 3;
    const Tensor logits = make_from_host(backend, {kRows, classes}, DType::F32, noise(kRows * classes));
    const Tensor loss = backend.empty({kRows}, DType::F32);
    const Tensor nll = backend.empty({kRows}, DType::F32);
    backend.run(SmoothedCrossEntropy{
        .logits = logits,
        .targets = make_from_host(backend, {kRows}, DType::I32,
                                  std::vector<std::int32_t>{7, -1, static_cast<std::int32_t>(classes - 1)}),
        .loss = loss,
        .nll = nll,
        .grad_logits = logits,
        .epsilon = 0.1F});
    std::vector<float> all = to_host<float>(backend, loss);
    for (const Tensor& tensor : {nll, logits}) {
        const std::vector<float> values = to_host<float>(backend, tensor);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

std::string kernels_of_layer_norm(Backend& backend, std::int64_t columns) {
    const Shape shape{1, 2, columns};
    const Tensor x = make_from_host(backend, shape, DType::F32, noise(2 * columns));
    const Tensor ones = make_from_host(backend, {1, 2}, DType::F32, std::vector<float>{1.0F, 1.0F});
    const auto row = [&] { return make_from_host(backend, {columns}, DType::F32, noise(columns)); };
    backend.drain_kernel_names();
    backend.run(AddLayerNormBackward{.sum = x,
                                     .gain = row(),
                                     .mean = ones,
                                     .rstd = ones,
                                     .grad_y = x,
                                     .grad_x = backend.empty(shape, DType::F32),
                                     .grad_gain = row(),
                                     .grad_bias = row()});
    backend.synchronize();
    std::string names;
    for (const std::string& kernel : backend.drain_kernel_names()) {
        names += kernel.substr(0, kernel.find(',')) + " ";
    }
    return names;
}

}  // namespace

TEST_CASE("a row of the loss is kept by up to 512 invocations, and a longer one read again", "[vulkan][loss]") {
    if (!usable_device()) {
        return;
    }
    const Environment as_on_gpus("HEADSCOPE_VULKAN_ROW_LANES", "256");
    const auto backend = open_vulkan_device(0);
    const auto cpu = open_device("cpu");
    for (const std::int64_t classes : {8192, 8196, 12000, 16384, 16388, 16387}) {
        INFO(classes << " classes");
        const std::vector<float> wanted = losses(*cpu, classes);
        const std::vector<float> got = losses(*backend, classes);
        REQUIRE(got.size() == wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (got[i] != Approx(wanted[i]).epsilon(1e-4).margin(1e-8)) {
                FAIL_CHECK("at " << i << ": " << got[i] << ", wanted " << wanted[i]);
                break;
            }
        }
    }
}

TEST_CASE("a layer norm's backward sums columns as it goes if its invocations have room for the sums",
          "[vulkan][layer_norm]") {
    if (!usable_device()) {
        return;
    }
    const Environment lanes("HEADSCOPE_VULKAN_ROW_LANES", "32");
    const auto backend = open_vulkan_device(0);
    CHECK_THAT(kernels_of_layer_norm(*backend, 1024), !Catch::Contains("layer_norm_gain"));  // eight vec4s each
    CHECK_THAT(kernels_of_layer_norm(*backend, 2048), Catch::Contains("layer_norm_gain"));
}
