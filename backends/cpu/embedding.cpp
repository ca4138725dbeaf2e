// Rule: out is overwritten; grad_table is added to with Write::Accumulate, else rows without an id become 0. Nothing is
// in place. The gradients of one id are added in the order of its positions: no atomics, equal bits each time.
#include <algorithm>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/halves.h"
#include "backends/cpu/weight_panels.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 16384;  // elements

HEADSCOPE_CLONES void embed_row(const float* entry, const float* position, float scale, float* out,
                                std::int64_t columns) {
    if (position == nullptr) {
        for (std::int64_t d = 0; d < columns; ++d) {
            out[d] = scale * entry[d];
        }
        return;
    }
    for (std::int64_t d = 0; d < columns; ++d) {
        out[d] = scale * entry[d] + position[d];
    }
}

HEADSCOPE_CLONES void add_scaled_row(const float* x, float scale, float* to, std::int64_t columns) {
    for (std::int64_t d = 0; d < columns; ++d) {
        to[d] += scale * x[d];
    }
}

HEADSCOPE_CLONES void widen_row(const std::int8_t* entry, float* to, std::int64_t columns) {
    for (std::int64_t d = 0; d < columns; ++d) {
        to[d] = static_cast<float>(entry[d]);
    }
}

// The table in any storage.
class TableRows {
public:
    explicit TableRows(const Embed& op)
        : table_(op.table),
          columns_(op.table.dim(1)),
          bytes_(first_byte(op.table)),
          scales_(data_of<const float>(op.table_scales)) {}

    // A row as float: in place, or converted into `wide`.
    const float* at(std::int64_t row, float* wide) const {
        if (row == Embed::kNoToken) {
            std::fill_n(wide, columns_, 0.0F);
            return wide;
        }
        if (table_.layout == WeightLayout::Panels) {
            row_of_panels(table_, row, wide);
            return wide;
        }
        const std::byte* from = bytes_ + row * columns_ * static_cast<std::int64_t>(size_of(table_.dtype));
        if (table_.dtype == DType::F32) {
            return reinterpret_cast<const float*>(from);
        }
        if (table_.dtype == DType::I8) {
            widen_row(reinterpret_cast<const std::int8_t*>(from), wide, columns_);
        } else {
            widen_halves(table_.dtype, reinterpret_cast<const std::uint16_t*>(from), columns_, wide);
        }
        return wide;
    }
    float scale(std::int64_t row) const { return scales_ == nullptr || row == Embed::kNoToken ? 1.0F : scales_[row]; }

private:
    const Tensor& table_;
    std::int64_t columns_;
    const std::byte* bytes_;
    const float* scales_;
};

bool all_exist(const std::int32_t* ids, std::int64_t count, std::int64_t vocabulary) {
    return std::all_of(ids, ids + count, [&](std::int32_t id) { return id >= Embed::kNoToken && id < vocabulary; });
}

}  // namespace

void CpuBackend::run(const Embed& op) {
    const std::int32_t* ids = data_of<std::int32_t>(op.ids);
    const std::int64_t length = op.ids.dim(1);
    const std::int64_t rows = op.ids.dim(0) * length;
    const std::int64_t first = scalar_of(op.first, 0);
    const bool placed = !op.positions.defined() || (first >= 0 && first + length <= op.positions.dim(0));
    if (!placed || !all_exist(ids, rows, op.table.dim(0))) {
        Embed plain = op;
        plain.table = op.table.layout == WeightLayout::Panels ? in_rows(op.table) : op.table;
        CpuReference<float>::run(plain);  // writes NaN for an id or position out of range
        return;
    }
    const std::int64_t d_model = op.table.dim(1);
    const TableRows table(op);
    const float* positions = data_of<const float>(op.positions);
    float* out = data_of<float>(op.out);
    pool_.for_ranges(
        rows, kWorthAThread / std::max<std::int64_t>(d_model, 1), [&](std::int64_t begin, std::int64_t end) {
            std::vector<float> wide(static_cast<std::size_t>(d_model));
            for (std::int64_t row = begin; row < end; ++row) {
                const float* position =
                    positions == nullptr ? nullptr : positions + (first + row % length) * op.positions.stride(0);
                embed_row(table.at(ids[row], wide.data()), position, op.scale * table.scale(ids[row]),
                          out + row * d_model, d_model);
            }
        });
}

// Threads split the sorted positions where the id changes, so that one thread writes a row.
void CpuBackend::run(const EmbedBackward& op) {
    const std::int64_t d_model = op.grad_table.dim(1);
    const std::int64_t positions = op.ids.elements();
    const std::int64_t vocabulary = op.grad_table.dim(0);
    const std::int32_t* ids = data_of<std::int32_t>(op.ids);
    const std::int32_t* order = data_of<std::int32_t>(op.order);
    const float* grad_out = data_of<const float>(op.grad_out);
    float* grad_table = data_of<float>(op.grad_table);
    if (op.write == Write::Overwrite) {
        run(Fill{.out = op.grad_table, .value = 0.0F});
    }
    const auto id_at = [&](std::int64_t i) -> std::int64_t {
        return order[i] < 0 || order[i] >= positions ? -1 : ids[order[i]];
    };
    const auto start_of_id = [&](std::int64_t i) {
        while (i > 0 && i < positions && id_at(i) == id_at(i - 1)) {
            ++i;
        }
        return i;
    };
    pool_.for_ranges(
        positions, kWorthAThread / std::max<std::int64_t>(d_model, 1), [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t last = start_of_id(end);
            for (std::int64_t i = start_of_id(begin); i < last; ++i) {
                const std::int64_t id = id_at(i);
                if (id >= 0 && id < vocabulary) {
                    add_scaled_row(grad_out + order[i] * d_model, op.scale, grad_table + id * d_model, d_model);
                }
            }
        });
}

}  // namespace headscope::cpu
