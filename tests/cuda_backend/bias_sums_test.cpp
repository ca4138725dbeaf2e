// Column sums in the pass that writes what they are sums of, and without.
#include <catch2/catch.hpp>

#include "backend/ops/bias.h"
#include "backend/ops/layer_norm.h"
#include "backends/cuda/cuda_backend.h"
#include "emulator.h"

using namespace headscope;
using namespace headscope::cuda;

namespace {

struct Passes {
    int launches;
    double sum;
    bool operator==(const Passes&) const = default;
};

template <class Run>
Passes passes(const std::string& disabled, const Run& run) {
    Settings settings;
    settings.set(kDisableKernels, disabled);
    CudaBackend backend(0, {.disabled = DisabledKernels::from(settings)});
    const auto make = [&](const Shape& shape, DType dtype) {
        return make_from_host(backend, shape, dtype,
                              std::vector<double>(static_cast<std::size_t>(shape.elements()), 1.0));
    };
    const Tensor sums = make({256}, DType::F32);
    const int before = cuda_emulation::launches();
    run(backend, make, sums);
    return {cuda_emulation::launches() - before, to_host<double>(backend, sums)[255]};
}

Passes of_activation(const std::string& disabled) {
    return passes(disabled, [](Backend& backend, const auto& make, const Tensor& sums) {
        const Tensor grad = make({2, 3, 256}, DType::F16);
        backend.run(BiasActivationBackward{.x = make({2, 3, 256}, DType::F16),
                                           .grad_y = grad,
                                           .grad_x = grad,
                                           .activation = Activation::Relu,
                                           .sums = sums,
                                           .write_sums = Write::Accumulate});
    });
}

Passes of_norm(const std::string& disabled) {
    return passes(disabled, [](Backend& backend, const auto& make, const Tensor& sums) {
        const Shape shape{2, 3, 256};
        backend.run(AddLayerNormBackward{.sum = make(shape, DType::F16),
                                         .gain = make({256}, DType::F32),
                                         .mean = make({2, 3}, DType::F32),
                                         .rstd = make({2, 3}, DType::F32),
                                         .grad_sum_out = make(shape, DType::F16),
                                         .grad_x = make(shape, DType::F16),
                                         .grad_gain = make({256}, DType::F32),
                                         .grad_x_sums = sums});
    });
}

}  // namespace

TEST_CASE("column sums take no pass of their own, unless that is asked for", "[bias_sums]") {
    CHECK(of_activation("") == Passes{2, 7.0});  // the pass, and the sum of its parts
    CHECK(of_activation("bias_sums") == Passes{3, 7.0});
    CHECK(of_norm("") == Passes{2, 6.0});
    CHECK(of_norm("bias_sums") == Passes{4, 6.0});
}
