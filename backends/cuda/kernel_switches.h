// Kernels that HEADSCOPE_CUDA_DISABLE can replace by those that every card has, so that the gain of each can be
// measured alone. Used by the program, which describes devices, and by the modules, so all of it is inline.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string>

#include "backends/cuda/long_attention.h"
#include "backends/cuda/short_attention.h"
#include "support/check.h"
#include "support/settings.h"

namespace headscope::cuda {

enum class Kernel : std::size_t {
    Attention,
    AttentionBackward,
    LayerNorm,
    LayerNormBackward,
    Loss,
    LongAttention,
    LongAttentionBackward,
    TopK,
    FewRows,
    FewRowsF32,
    Tf32Attention,
    BiasSums,
    DependentLaunch,
};

struct KernelSwitch {
    const char* name;      // the word of HEADSCOPE_CUDA_DISABLE
    const char* title;     // as `headscope devices` has it
    const char* meaning;   // as docs/environment.md has it
    int least_sm;          // of the architecture that it is compiled for
    int shared_bytes = 0;  // of its largest block; larger ones than a card has are replaced
    int least_cuda = 0;    // of driver and toolkit: 12030 for CUDA 12.3
};

// Of the most positions and columns.
constexpr int largest_short_block(bool backward, int element_bytes = 2) {
    constexpr int kTiles = row_tiles(kLongestShort);
    return ShortLayout{.query_tiles = kTiles,
                       .key_tiles = kTiles,
                       .depth = kDeepestShort,
                       .backward = backward,
                       .element = element_bytes}
        .bytes(true);
}

// By Kernel.
inline constexpr std::array kKernelSwitches{
    KernelSwitch{"attention", "short attention on tensor cores",
                 "attention of up to 128 positions in 16 bits on tensor cores, a block for each head (sm_80)", 80,
                 largest_short_block(false)},
    KernelSwitch{"attention_backward", "short attention's backward on tensor cores",
                 "the backward of the same, in one pass (sm_80)", 80, largest_short_block(true)},
    KernelSwitch{"layer_norm", "layer norm by warps",
                 "add and norm with a warp for each row (columns: a multiple of 256, up to 1,024)", 0},
    KernelSwitch{"layer_norm_backward", "layer norm's backward by warps", "the backward of the same", 0},
    KernelSwitch{"loss", "loss in one read", "cross-entropy in 16 bits that reads the logits once (up to 49,152)", 0},
    KernelSwitch{"long_attention", "long attention on tensor cores",
                 "the forward of attention of more positions in 16 bits on tensor cores (sm_80)", 80,
                 LongLayout{.depth = kDeepestShort}.bytes(true)},
    KernelSwitch{"long_attention_backward", "long attention's backward on tensor cores",
                 "the backward of the same, in two passes (sm_80)", 80,
                 LongBackLayout{.depth = kDeepestShort, .owns_keys = true}.bytes(true)},
    KernelSwitch{"top_k", "best classes in one read",
                 "the best classes of a row, which is read once, by several blocks (up to 131,072)", 0},
    KernelSwitch{"few_rows", "products of few rows on tensor cores",
                 "products of up to 16 rows with weights, bias and ReLU in 16 bits on tensor cores (sm_80)", 80},
    KernelSwitch{"few_rows_f32", "products of few rows in F32", "the same of up to 4 rows in F32", 0},
    KernelSwitch{"tf32_attention", "attention in TF32 on tensor cores",
                 "the four kernels of attention above in float32, where products may be rounded to TF32; their own "
                 "words turn these off, too (sm_80)",
                 80, largest_short_block(true, 4)},
    KernelSwitch{"bias_sums", "bias gradients with their gradient",
                 "gradients of biases summed by the kernel that writes the gradient before them", 0},
    KernelSwitch{"dependent_launch", "dependent launch",
                 "launching kernels before those in front of them are done (sm_90, CUDA 12.3)", 90, 0, 12030},
};

constexpr const char* kDisableKernels = "HEADSCOPE_CUDA_DISABLE";

class DisabledKernels {
public:
    // Error for an unknown word.
    static DisabledKernels from(const Settings& settings) {
        DisabledKernels disabled;
        std::istringstream words(settings.get(kDisableKernels));
        for (std::string word; std::getline(words, word, ',');) {
            const auto* const found = std::find_if(kKernelSwitches.begin(), kKernelSwitches.end(),
                                                   [&](const KernelSwitch& each) { return word == each.name; });
            if (found == kKernelSwitches.end()) {
                std::string known;
                for (const KernelSwitch& each : kKernelSwitches) {
                    known += (known.empty() ? "" : ", ") + std::string(each.name);
                }
                throw Error(std::string(kDisableKernels) + " names \"" + word + "\"; expected words out of " + known +
                            ", separated by commas");
            }
            disabled.off_[static_cast<std::size_t>(found - kKernelSwitches.begin())] = true;
        }
        return disabled;
    }

    bool has(std::size_t kernel) const { return off_[kernel]; }
    // Whether code compiled for sm_`compiled` uses the kernel, where driver and toolkit are of CUDA `cuda` or newer.
    bool allow(Kernel kernel, int compiled, int cuda = 0) const {
        const auto index = static_cast<std::size_t>(kernel);
        const KernelSwitch& each = kKernelSwitches[index];
        return !off_[index] && compiled >= each.least_sm && cuda >= each.least_cuda;
    }

private:
    std::array<bool, kKernelSwitches.size()> off_{};
};

}  // namespace headscope::cuda
