// Another program's names and layouts of parameters, as a table that works both ways: for reading and for exporting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/tensor_archive.h"
#include "model/weight_source.h"

namespace headscope {

// One tensor of the other program.
struct TensorRow {
    std::string theirs;
    std::vector<std::string> ours;  // concatenated along their rows, in this order
    bool transposed = false;        // theirs is [in, out]
    bool flattened = false;         // theirs has a side for each of channels, rows and columns, or one of 1 before ours
    // Theirs has more rows before ours: learned positions that begin behind the pad.
    std::int64_t skipped_rows = 0;
    // From this one of `ours` on, rows alternate head by head: those of the first head of each, then those of the
    // second. 0 heads: they do not.
    std::int64_t interleaved_heads = 0;
    std::size_t interleaved_from = 0;
    // Rows of each of so many heads alternate: one of the head's first half, one of its second. 0: they do not.
    std::int64_t alternating_heads = 0;
    float first_factor = 1.0F;  // of the values of the first of `ours`
    float addend = 0.0F;        // to values: 1 if theirs are gains less 1
    bool zero_if_missing = false;
    // Names under which a file may repeat the tensor.
    std::vector<std::string> copies = {};
};

class TensorMap {
public:
    void add(TensorRow row) { rows_.push_back(std::move(row)); }
    // A weight and its bias: `theirs`.weight is `ours`.weight, `theirs`.bias is `ours`.bias. The next one likewise.
    void add_linear(const std::string& theirs, const std::string& ours, bool transposed = false);
    void add_norm(const std::string& theirs, const std::string& ours, float addend = 0.0F);
    // The tables of source and target and the weight of the output. `shared`: the name of a table that both sides have,
    // if it has one of its own.
    void add_embeddings(Tying tying, const std::string& source, const std::string& target, const std::string& output,
                        const std::string& shared = {});
    // Tensors that need not be read, such as position tables: a name, or its end after '*'.
    void ignore(std::string pattern) { ignored_.push_back(std::move(pattern)); }

    const std::vector<TensorRow>& rows() const { return rows_; }
    bool ignores(const std::string& name) const;

private:
    std::vector<TensorRow> rows_;
    std::vector<std::string> ignored_;
};

// The sides of a matrix of a file. Error for another rank.
std::vector<std::int64_t> matrix_sides(const TensorArchive& archive, const std::string& name);
// Whether two tensors of a file are equal: shapes, types and values.
bool same_values(const TensorArchive& archive, const std::string& one, const std::string& other);

// The parameters of a model in another program's file. Rows of the map for parameters that the model lacks, such as
// biases, are left out. read() throws an Error that lists all tensors that are missing, unknown or of another shape,
// and copies that differ from the original.
std::shared_ptr<const WeightSource> mapped_weights(std::shared_ptr<const TensorArchive> archive, TensorMap map);

}  // namespace headscope
