#include "model/block_forms.h"

#include <algorithm>
#include <span>

namespace headscope {

namespace {

BlockForm form_of(const ParameterSpec& spec, const WeightStorage& storage, const BlocksInFile& in_file) {
    if (!spec.multiplied || spec.shape.rank() != 2) {
        return {};
    }
    const auto found = in_file.find(spec.name);
    const BlockForm there = found == in_file.end() ? BlockForm{} : found->second;
    if (storage.block_bits == 0) {
        return storage.keeps_blocks ? there : BlockForm{};
    }
    const bool kept = there.bits > 0 && there.bits <= storage.block_bits;
    return kept ? there : BlockForm{.bits = storage.block_bits};
}

// What holds the rows of all.
BlockForm common_form(std::span<const BlockForm> forms) {
    BlockForm all;
    for (const BlockForm& form : forms) {
        if (form.bits == 0) {
            return {};
        }
        all = {.bits = std::max(all.bits, form.bits), .factors = all.factors || form.factors};
    }
    return all;
}

}  // namespace

std::vector<BlockForm> block_forms(const std::vector<ParameterSpec>& table, const WeightStorage& storage,
                                   const BlocksInFile& in_file) {
    std::vector<BlockForm> forms;
    for (const ParameterSpec& spec : table) {
        forms.push_back(form_of(spec, storage, in_file));
    }
    for (std::size_t first = 0, end = 0; first < table.size(); first = end) {
        for (end = first + 1; end < table.size() && table[end].follows;) {
            ++end;
        }
        const auto group = std::span(forms).subspan(first, end - first);
        std::ranges::fill(group, common_form(group));
    }
    return forms;
}

}  // namespace headscope
