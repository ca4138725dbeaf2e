#include "backends/cuda/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "backends/cuda/errors.h"
#include "backends/cuda/event.h"
#include "backends/cuda/fused_attention.h"
#include "support/check.h"

namespace headscope::cuda {

namespace {

// More shapes than a corpus has with lengths that are multiples of eight; each graph takes some MiB.
constexpr std::size_t kMostReplays = 128;

cudaDeviceProp select(int ordinal) {
    require(cudaSetDevice(ordinal), "use this device");
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, ordinal), "ask what the device can do");
    return properties;
}

int driver_version() {
    int driver = 0;
    require(cudaDriverGetVersion(&driver), "ask for the driver's version");
    return driver;
}

// "CUDA 12.4 driver, module of CUDA 12.4"
std::string versions() {
    const auto text = [](int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); };
    return fmt::format("CUDA {} driver, module of CUDA {}", text(driver_version()), text(CUDART_VERSION));
}

}  // namespace

CudaOptions CudaOptions::from(const OpenOptions& open_options) {
    const bool check = open_options.settings.on("HEADSCOPE_CUDA_CHECK");
    const bool graphs = open_options.settings.on("HEADSCOPE_CUDA_GRAPHS", true);
    // A graph cannot contain the wait after each op.
    return {.check_each_op = check,
            .graphs = graphs && !check,
            .disabled = DisabledKernels::from(open_options.settings),
            .nccl = open_options.settings.get("HEADSCOPE_CUDA_NCCL"),
            .diagnostics = open_options.diagnostics};
}

CudaBackend::CudaBackend(int ordinal, const CudaOptions& options)
    : properties_(select(ordinal)),
      multiprocessors_(properties_.multiProcessorCount),
      compiled_(compiled_architecture()),
      kernels_(options.disabled),
      memory_(std::make_shared<Memory>(fmt::format("cuda:{} ({})", ordinal, properties_.name),
                                       properties_.integrated != 0)),
      stream_(ordinal, options.check_each_op,
              kernels_.allow(Kernel::DependentLaunch, compiled_, std::min(driver_version(), CUDART_VERSION))),
      products_(stream_, *memory_, properties_.major * 10 + properties_.minor),
      fused_products_(stream_, products_.workspace()),
      graphs_(options.graphs),
      diagnostics_(options.diagnostics),
      replays_(kMostReplays),
      collectives_(stream_, properties_, options.nccl) {
    memory_->make_room = [this] { return make_room(); };
    info_.id = fmt::format("cuda:{}", ordinal);
    info_.backend = "cuda";
    info_.name = properties_.name;
    info_.driver = versions();
    info_.software = options.emulated;
    info_.gpu = !options.emulated;
    info_.memory_bytes = properties_.totalGlobalMem;
}

Tensor CudaBackend::empty(const Shape& shape, DType dtype) {
    return make_tensor(scratch(static_cast<std::size_t>(shape.elements()) * size_of(dtype)), shape, dtype);
}

std::shared_ptr<CudaBuffer> CudaBackend::scratch(std::size_t bytes) {
    stream_.use_device();
    return memory_->allocate(bytes);
}

bool CudaBackend::make_room() {
    if (recording()) {
        return false;  // the stream cannot be waited for; replay() runs without the graph
    }
    stream_.synchronize();
    replays_.clear();
    return true;
}

std::shared_ptr<Event> CudaBackend::record_event() {
    HEADSCOPE_CHECK(!recording(), not_in_a_replay("recorded an event"));
    stream_.use_device();
    return std::make_shared<StreamEvent>(stream_);
}

template <class Step>
auto CudaBackend::on_a_graph(const Step& step) {
    try {
        return step();
    } catch (const OutOfMemory&) {
        throw;
    } catch (const NotRecorded&) {
        throw;
    } catch (const Error& error) {
        stream_.find_fault("graph");
        if (!std::exchange(warned_not_recorded_, true)) {
            diagnostics_.warn(
                fmt::format("{} ({}): ops that cannot be recorded as a graph run one by one, with the same results but "
                            "more slowly: {}; "
                            "HEADSCOPE_CUDA_GRAPHS=0 disables recording",
                            info_.id, info_.name, error.what()));
        }
        throw NotRecorded(error.what());
    }
}

void CudaBackend::replay(const std::string& key, const std::function<void()>& body) {
    stream_.use_device();
    const auto make = [&] { return on_a_graph([&] { return Graph::record(stream_, body); }); };
    const auto launch = [&](const std::shared_ptr<const Graph>& graph) { on_a_graph([&] { graph->launch(stream_); }); };
    if (!graphs_ || recording() || !replays_.replay(key, *memory_, make, launch)) {
        body();
    }
}

void CudaBackend::synchronize() {
    HEADSCOPE_CHECK(!recording(), not_in_a_replay("waited for the device"));
    stream_.synchronize();
}

void CudaBackend::upload(const Tensor& to, const void* from, std::size_t bytes) {
    HEADSCOPE_CHECK(!recording(), not_in_a_replay("uploaded " + to.to_string()));
    HEADSCOPE_CHECK(to.contiguous() && static_cast<std::size_t>(to.elements()) * size_of(to.dtype) == bytes,
                    fmt::format("{} bytes cannot be uploaded to {}", bytes, to.to_string()));
    stream_.upload(data_of<void>(to), static_cast<const std::byte*>(from), bytes);
}

void CudaBackend::download(const Tensor& from, void* to, std::size_t bytes) {
    HEADSCOPE_CHECK(!recording(), not_in_a_replay("downloaded " + from.to_string()));
    HEADSCOPE_CHECK(from.contiguous() && static_cast<std::size_t>(from.elements()) * size_of(from.dtype) == bytes,
                    fmt::format("{} bytes cannot be downloaded from {}", bytes, from.to_string()));
    stream_.download(static_cast<std::byte*>(to), data_of<void>(from), bytes);
}

Support CudaBackend::support(OpId op, DType dtype) const {
    if ((op == OpId::Matmul || op == OpId::Linear) && dtype == DType::BF16 && !products_.has_bf16()) {
        return {SupportLevel::Composed, "multiplied in F32: products of BF16 need sm_80"};
    }
    if (dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
        (dtype == DType::I32 && op == OpId::Fill) || op == OpId::GatherRows) {
        return {};
    }
    return {SupportLevel::None, fmt::format("the cuda backend has no {} for {}", name_of(op), name_of(dtype))};
}

Support CudaBackend::products(Compute compute) const {
    if (compute == Compute::TF32 && !products_.has_tf32()) {
        return {SupportLevel::None, "products in TF32 need sm_80"};
    }
    if (compute == Compute::BF16 && !products_.has_bf16()) {
        return {SupportLevel::Composed, "multiplied in F32: products of BF16 need sm_80"};
    }
    if (compute == Compute::F16 && !products_.has_fast_f16()) {
        return {SupportLevel::Composed, "no faster than in F32: matrix cores need sm_70"};
    }
    return {};
}

Support CudaBackend::key_rows(std::int64_t depth) const {
    return depth <= DecodeTile::kDeepestNamed ? Support{} : Backend::key_rows(depth);
}

DropoutKernel dropout_kernel(const DropoutRule& rule) {
    DropoutKernel kernel;
    kernel.on = rule.rate > 0.0F;
    if (kernel.on) {
        constexpr float kBits = 65536.0F;
        kernel.threshold = dropout_threshold(rule.rate);
        kernel.seed = rule.seed;
        kernel.site = rule.site;
        kernel.scale = kBits / (kBits - static_cast<float>(kernel.threshold));
        kernel.step = data_of<const std::int32_t>(rule.step);
        kernel.ordinals = data_of<const std::int32_t>(rule.ordinals);
    }
    return kernel;
}

}  // namespace headscope::cuda
