// The CPU in float32: products through oneDNN and own small kernels, everything else in vectorised rows, over a pool
// of threads that spin only briefly.
//  - products in F32, or with operands rounded to BF16 (in the processor's own BF16 instructions where it has them)
//  - one binary runs on every x86-64: the loops exist in clones for AVX-512, AVX2 and SSE2
//  - results repeat bit for bit on one machine with one number of threads
#pragma once

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/thread_pool.h"

namespace headscope::cpu {

class CpuBackend final : public CpuReference<float> {
public:
    explicit CpuBackend(DeviceInfo info, int threads);

    Support support(OpId op, DType dtype) const override;
    Support products(Compute compute) const override;
    // In panels, unless tile registers multiply rows faster.
    Tensor pack(const Tensor& weight) override;
    void upload(const Tensor& to, const void* from, std::size_t bytes) override;
    void download(const Tensor& from, void* to, std::size_t bytes) override;
    Support key_rows(std::int64_t /*depth*/) const override { return {}; }
    int threads() const { return pool_.size(); }

    using CpuReference<float>::run;
#define HEADSCOPE_DECLARE(Op) void run(const Op& op) override;
    HEADSCOPE_CORE_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE
    void run(const Linear& op) override;
    void run(const Attention& op) override;
    void run(const AttentionBackward& op) override;

private:
    Tensor in_rows(const Tensor& weight);  // a copy

    ThreadPool pool_;
};

}  // namespace headscope::cpu
