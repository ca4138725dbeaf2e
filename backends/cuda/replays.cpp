#include "backends/cuda/replays.h"

#include <fmt/format.h>

#include "backends/cuda/memory.h"

namespace headscope::cuda {

std::string replay_key(const std::string& name, const std::vector<Tensor>& operands) {
    std::string key = name;
    for (const Tensor& operand : operands) {
        if (!operand.defined()) {
            key += ";";
            continue;
        }
        const auto& buffer = static_cast<const CudaBuffer&>(*operand.buffer);
        const std::byte* address = buffer.data() + static_cast<std::size_t>(operand.offset) * size_of(operand.dtype);
        key += fmt::format(";{}{}", fmt::ptr(address), name_of(operand.dtype));
        for (int dim = 0; dim < operand.rank(); ++dim) {
            key += fmt::format(",{}:{}", operand.dim(dim), operand.stride(dim));
        }
    }
    return key;
}

}  // namespace headscope::cuda
