#include "model/block_bits.h"

#include <algorithm>

namespace headscope {

namespace {

int bits_of(const ParameterSpec& spec, const WeightStorage& storage, const BlocksInFile& in_file) {
    if (!spec.multiplied || spec.shape.rank() != 2) {
        return 0;
    }
    const auto found = in_file.find(spec.name);
    const int there = found == in_file.end() ? 0 : found->second;
    if (storage.block_bits == 0) {
        return storage.keeps_blocks ? there : 0;
    }
    return there == 0 ? storage.block_bits : std::min(there, storage.block_bits);
}

}  // namespace

std::vector<int> block_bits(const std::vector<ParameterSpec>& table, const WeightStorage& storage,
                            const BlocksInFile& in_file) {
    std::vector<int> bits;
    for (const ParameterSpec& spec : table) {
        bits.push_back(bits_of(spec, storage, in_file));
    }
    for (std::size_t first = 0, end = 0; first < table.size(); first = end) {
        for (end = first + 1; end < table.size() && table[end].follows;) {
            ++end;
        }
        const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(first);
        const auto behind = bits.begin() + static_cast<std::ptrdiff_t>(end);
        const auto [least, most] = std::minmax_element(begin, behind);
        std::fill(begin, behind, *least == 0 ? 0 : *most);
    }
    return bits;
}

}  // namespace headscope
