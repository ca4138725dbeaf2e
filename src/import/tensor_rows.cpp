// The rows of a table of tensors, and questions about single tensors.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/common.h"
#include "import/tensor_map.h"
#include "support/check.h"

namespace headscope {

void TensorMap::add_linear(const std::string& theirs, const std::string& ours, bool transposed) {
    add({.theirs = theirs + ".weight", .ours = {ours + ".weight"}, .transposed = transposed});
    add({.theirs = theirs + ".bias", .ours = {ours + ".bias"}});
}

void TensorMap::add_norm(const std::string& theirs, const std::string& ours, float addend) {
    add({.theirs = theirs + ".weight", .ours = {ours + ".gain"}, .addend = addend});
    add({.theirs = theirs + ".bias", .ours = {ours + ".bias"}});
}

void TensorMap::add_embeddings(Tying tying, const std::string& source, const std::string& target,
                               const std::string& output, const std::string& shared) {
    TensorRow table{.theirs = target, .ours = {"target_embedding.weight"}};
    if (shares_tables(tying)) {
        table = {.theirs = shared.empty() ? target : shared, .ours = {"embedding.weight"}, .copies = {source}};
        if (!shared.empty()) {
            table.copies.push_back(target);
        }
    }
    if (ties_output(tying)) {
        table.copies.push_back(output);
    }
    add(std::move(table));
    add({.theirs = source, .ours = {"source_embedding.weight"}});
    add({.theirs = output, .ours = {"output.weight"}});
}

bool TensorMap::ignores(const std::string& name) const {
    return std::any_of(ignored_.begin(), ignored_.end(), [&](const std::string& pattern) {
        return pattern.starts_with('*') ? name.ends_with(pattern.substr(1)) : name == pattern;
    });
}

std::vector<std::int64_t> matrix_sides(const TensorArchive& archive, const std::string& name) {
    const StoredTensor& tensor = archive.entry(name);
    if (tensor.shape.size() != 2) {
        throw Error(fmt::format("{}: the tensor {} is [{}]: expected a matrix", tensor.file, name,
                                fmt::join(tensor.shape, ", ")));
    }
    return tensor.shape;
}

bool same_values(const TensorArchive& archive, const std::string& one, const std::string& other) {
    const ArchiveTensor first = archive.at(one);
    const ArchiveTensor second = archive.at(other);
    return first.dtype == second.dtype && first.shape == second.shape &&
           (first.data.data() == second.data.data() ||
            std::memcmp(first.data.data(), second.data.data(), first.data.size()) == 0);
}

}  // namespace headscope
