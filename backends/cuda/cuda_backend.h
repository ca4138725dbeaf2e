// The CUDA backend: every core op as a cuBLAS call or our own kernel. Each family of ops has a .cu file here.
//  - F32, F16 and BF16 tensors, I32 indices; sums are F32.
//  - Deterministic: no atomics, reductions in a fixed order, an own cuBLAS workspace.
//  - Repeated sequences of ops (Backend::replay) are launched as CUDA graphs; HEADSCOPE_CUDA_GRAPHS=0 disables that.
//  - Ranks send each other memory by NCCL; HEADSCOPE_CUDA_NCCL names its library, or is 0 to do without.
//  - HEADSCOPE_CUDA_CHECK=1 waits after every op, so that a fault names its op.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/open_options.h"
#include "backend/replays.h"
#include "backends/cuda/collectives.h"
#include "backends/cuda/dropout.h"
#include "backends/cuda/few_rows.h"
#include "backends/cuda/graph.h"
#include "backends/cuda/kernel_switches.h"
#include "backends/cuda/linear.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/products.h"
#include "backends/cuda/short_attention.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

struct CudaOptions {
    bool check_each_op = false;
    bool graphs = true;
    bool emulated = false;  // the device runs kernels on the CPU, for tests
    DisabledKernels disabled = {};
    std::string nccl = "";  // of NcclCollectives

    Diagnostics diagnostics = {};

    // Error for a setting above that is not 1 or 0.
    static CudaOptions from(const OpenOptions& open_options);
};

class CudaBackend final : public Backend {
public:
    // The device with this ordinal. Error if it cannot be opened.
    CudaBackend(int ordinal, const CudaOptions& options);

    ~CudaBackend() override { stream_.use_device(); }  // for what the members free

    const DeviceInfo& device() const override { return info_; }
    Tensor empty(const Shape& shape, DType dtype) override;
    void upload(const Tensor& to, const void* from, std::size_t bytes) override;
    void download(const Tensor& from, void* to, std::size_t bytes) override;
    void synchronize() override;
    std::shared_ptr<Event> record_event() override;
    Support events() const override { return {}; }
    bool replays() const override { return graphs_; }
    void replay(const std::string& key, const std::function<void()>& body) override;
    Collectives* collectives() override { return &collectives_; }
    MemoryUse memory() const override { return memory_->use(); }
    Support support(OpId op, DType dtype) const override;
    Support products(Compute compute) const override;
    Support key_rows(std::int64_t depth) const override;

    using Backend::run;
#define HEADSCOPE_DECLARE(Op) void run(const Op& op) override;
    HEADSCOPE_ALL_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

private:
    bool recording() const {
        return memory_->pool() == Pool::Recordings;
    }
    bool make_room();  // Memory::make_room
    // Runs `step`, which records or launches a graph. Errors after which the device still works become NotRecorded,
    // with a warning.
    template <class Step>
    auto on_a_graph(const Step& step);
    std::shared_ptr<CudaBuffer> scratch(std::size_t bytes);
    // Attention of short sentences on tensor cores; false where other kernels have to run it.
    bool run_short(const Attention& op);
    bool run_short(const AttentionBackward& op);
    // The same for sentences of any length.
    bool run_long(const Attention& op);
    bool run_long(const AttentionBackward& op, const float* delta);  // row_products()
    bool takes_short(Kernel kernel, const ShortLayout& layout, const DropoutRule& dropout,
                     std::initializer_list<const Tensor*> operands) const;
    // Whether tensor cores can read and write the operands, with so much shared memory.
    bool suits_matrix_unit(Kernel kernel, int block_bytes, std::initializer_list<const Tensor*> operands) const;
    // A product of few rows, in operands of one dtype; false where cuBLAS has to multiply.
    bool run_few_rows(const char* op, const FewRowsProduct& product);
    // A contiguous copy in another dtype.
    Tensor converted(const Tensor& x, DType dtype);

    const cudaDeviceProp properties_;
    const int multiprocessors_;
    const int compiled_;  // the architecture of the kernels
    const DisabledKernels kernels_;
    DeviceInfo info_;
    std::shared_ptr<Memory> memory_;
    Stream stream_;
    Products products_;
    FusedProducts fused_products_;
    const bool graphs_;
    const Diagnostics diagnostics_;
    bool warned_not_recorded_ = false;
    Replays<Graph> replays_;
    NcclCollectives collectives_;
};

// The address of a tensor's first element; null if undefined.
template <class T>
T* data_of(const Tensor& tensor) {
    if (!tensor.defined()) {
        return nullptr;
    }
    const auto& buffer = static_cast<const CudaBuffer&>(*tensor.buffer);
    return reinterpret_cast<T*>(buffer.data() + static_cast<std::size_t>(tensor.offset) * size_of(tensor.dtype));
}

DropoutKernel dropout_kernel(const DropoutRule& rule);

}  // namespace headscope::cuda
