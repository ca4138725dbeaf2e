#include "import/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/convert.h"
#include "import/common.h"
#include "import/problems.h"
#include "support/check.h"

namespace headscope {

namespace {

// The sides of a matrix; a vector is a matrix with one column. Sides of 1 of a vector do not matter: Marian's are [1,
// n].
struct Sides {
    std::int64_t rows = 0, columns = 1;
    bool operator==(const Sides&) const = default;
};

Sides sides_of(const Shape& shape) {
    return shape.rank() == 1 ? Sides{shape[0], 1}
                             : Sides{shape[0], shape.elements() / std::max<std::int64_t>(shape[0], 1)};
}

// Part of a row: a parameter of the model, and where its rows begin among those of the row.
struct Part {
    const ParameterSpec* spec = nullptr;
    std::int64_t first = 0;
};

struct Assembly {
    const TensorRow* row = nullptr;
    std::vector<Part> parts;
    Sides sides;  // of theirs, as ours is laid out
};

bool is_vector(const std::vector<std::int64_t>& shape, std::int64_t elements) {
    std::int64_t product = 1;
    bool one_side = false;
    for (const std::int64_t side : shape) {
        one_side = one_side || side == elements;
        product *= side;
    }
    return one_side && product == elements;
}

// Of a convolution that reads patches, [out, channels, height, width], the matrix [out, in]; of a batch of one matrix,
// the matrix.
std::vector<std::int64_t> flattened(std::vector<std::int64_t> shape) {
    if (shape.size() > 2 && shape.front() == 1) {
        shape.erase(shape.begin());
    }
    for (; shape.size() > 2; shape.pop_back()) {
        shape[shape.size() - 2] *= shape.back();
    }
    return shape;
}

// Whether a tensor of the file has the shape that the model needs.
bool fits(const std::vector<std::int64_t>& shape, const Assembly& assembly) {
    const auto [rows, columns] = assembly.sides;
    if (assembly.parts.front().spec->shape.rank() == 1) {
        return is_vector(shape, rows);
    }
    const std::vector<std::int64_t> wanted =
        assembly.row->transposed ? std::vector{columns, rows} : std::vector{rows, columns};
    return (assembly.row->flattened ? flattened(shape) : shape) == wanted;
}

std::string needed(const Assembly& assembly) {
    const auto [rows, columns] = assembly.sides;
    if (assembly.parts.front().spec->shape.rank() == 1) {
        return fmt::format("[{}]", rows);
    }
    return assembly.row->transposed ? fmt::format("[{}, {}]", columns, rows) : fmt::format("[{}, {}]", rows, columns);
}

// Fills `to` [to_sides.rows, to_sides.columns] from its transpose, whose rows are `stride` bytes apart.
template <std::size_t size>
void transpose(std::span<const std::byte> from, std::size_t stride, const Sides& to_sides, std::span<std::byte> to) {
    constexpr std::size_t kTile = 64;  // rows, few enough that a cache line of each stays in the first-level cache
    const auto rows = static_cast<std::size_t>(to_sides.rows);
    const auto columns = static_cast<std::size_t>(to_sides.columns);
    for (std::size_t first = 0; first < rows; first += kTile) {
        for (std::size_t column = 0; column < columns; ++column) {
            for (std::size_t row = first; row < std::min(first + kTile, rows); ++row) {
                std::memcpy(to.data() + (row * columns + column) * size, from.data() + column * stride + row * size,
                            size);
            }
        }
    }
}

std::vector<float> floats_of(const WeightValues& stored) {
    std::vector<float> values(static_cast<std::size_t>(stored.shape.elements()));
    visit_stored(stored.dtype, [&](auto one) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::memcpy(&one, stored.data.data() + i * sizeof(one), sizeof(one));
            values[i] = static_cast<float>(one);
        }
    });
    return values;
}

class MappedWeights final : public WeightSource {
public:
    MappedWeights(std::shared_ptr<const TensorArchive> archive, TensorMap map)
        : archive_(std::move(archive)), map_(std::move(map)) {}

    void read(const std::vector<ParameterSpec>& table, const TakeWeight& take) const override {
        const std::vector<Assembly> assemblies = assemble(table);
        check(assemblies);
        std::map<const ParameterSpec*, std::pair<const Assembly*, const Part*>> places;
        for (const Assembly& assembly : assemblies) {
            for (const Part& part : assembly.parts) {
                places[part.spec] = {&assembly, &part};
            }
        }
        for (const ParameterSpec& spec : table) {
            const auto [assembly, part] = places.at(&spec);
            take_part(*assembly, *part, take);
        }
    }

    std::map<std::string, const GgufType*> in_blocks(const std::vector<ParameterSpec>& table) const override {
        std::map<std::string, const GgufType*> found;
        for (const Assembly& assembly : assemble(table)) {
            for (const Part& part : assembly.parts) {
                if (const GgufType* blocks = blocks_of(assembly, part); blocks != nullptr) {
                    found.emplace(part.spec->name, blocks);
                }
            }
        }
        return found;
    }

private:
    // The name under which the file has the tensor of a row; empty if it has none.
    std::string name_of(const TensorRow& row) const {
        if (archive_->contains(row.theirs)) {
            return row.theirs;
        }
        const auto copy = std::find_if(row.copies.begin(), row.copies.end(),
                                       [&](const std::string& name) { return archive_->contains(name); });
        return copy == row.copies.end() ? "" : *copy;
    }

    // The rows that the model's parameters need. Several may give the same parameter; the file's own comes first.
    std::vector<Assembly> assemble(const std::vector<ParameterSpec>& table) const {
        std::map<std::string, const ParameterSpec*> wanted;
        for (const ParameterSpec& spec : table) {
            wanted[spec.name] = &spec;
        }
        std::vector<Assembly> assemblies;
        for (const bool missing : {false, true}) {
            for (const TensorRow& row : map_.rows()) {
                if (name_of(row).empty() != missing) {
                    continue;
                }
                Assembly assembly{.row = &row, .parts = {}, .sides = {row.skipped_rows, 1}};
                for (const std::string& name : row.ours) {
                    if (const auto found = wanted.find(name); found != wanted.end()) {
                        const Sides own = sides_of(found->second->shape);
                        assembly.parts.push_back({found->second, assembly.sides.rows});
                        assembly.sides = {assembly.sides.rows + own.rows, own.columns};
                        wanted.erase(found);
                    }
                }
                if (!assembly.parts.empty()) {
                    assemblies.push_back(std::move(assembly));
                }
            }
        }
        HEADSCOPE_CHECK(wanted.empty(), wanted.empty() ? "" : "no row gives " + wanted.begin()->first);
        return assemblies;
    }

    void check(const std::vector<Assembly>& assemblies) const {
        Problems problems(archive_->path());
        std::set<std::string> known;
        for (const Assembly& assembly : assemblies) {
            const TensorRow& row = *assembly.row;
            const std::string name = name_of(row);
            known.insert(row.theirs);
            if (name.empty() && row.zero_if_missing) {
                continue;
            }
            if (name.empty()) {
                problems.add(row.theirs,
                             fmt::format("the tensor {} is missing, but the configuration needs it", needed(assembly)));
                continue;
            }
            const std::vector<std::int64_t>& shape = archive_->entry(name).shape;
            if (!fits(shape, assembly)) {
                problems.add(row.theirs, fmt::format("the tensor is [{}], but the configuration needs {}",
                                                     fmt::join(shape, ", "), needed(assembly)));
            }
            for (const std::string& copy : row.copies) {
                known.insert(copy);
                if (copy != name && archive_->contains(copy) && !same_values(*archive_, name, copy)) {
                    problems.add(copy, fmt::format("differs from {}, though the configuration ties them", row.theirs));
                }
            }
        }
        for (const std::string& name : archive_->names()) {
            if (!known.contains(name) && !map_.ignores(name)) {
                problems.add(name, "the tensor is not a parameter of the configuration");
            }
        }
        problems.finish();
    }

    static float factor_of(const Assembly& assembly, const Part& part) {
        return &part == &assembly.parts.front() ? assembly.row->first_factor : 1.0F;
    }

    // Whether a part's values are those of the file.
    static bool keeps_values(const Assembly& assembly, const Part& part) {
        return factor_of(assembly, part) == 1.0F && assembly.row->addend == 0.0F;
    }

    // The blocks in which the file has the rows of a part, if they need only be copied; else null.
    const GgufType* blocks_of(const Assembly& assembly, const Part& part) const {
        const std::string name = name_of(*assembly.row);
        if (name.empty() || assembly.row->transposed || !keeps_values(assembly, part)) {
            return nullptr;
        }
        const GgufType* blocks = archive_->entry(name).blocks;
        const bool whole = blocks != nullptr && part.spec->shape.rank() == 2 &&
                           part.spec->shape[1] % static_cast<std::int64_t>(blocks->elements) == 0;
        return whole ? blocks : nullptr;
    }

    // As the file has it, or times the factor of the row and with its addend.
    void take_part(const Assembly& assembly, const Part& part, const TakeWeight& take) const {
        const float factor = factor_of(assembly, part);
        const float addend = assembly.row->addend;
        if (keeps_values(assembly, part)) {
            take_stored(assembly, part, take);
            if (const std::string name = name_of(*assembly.row); !name.empty()) {
                archive_->release(name);
            }
            return;
        }
        take_stored(assembly, part, [&](const ParameterSpec& spec, const WeightValues& stored) {
            std::vector<float> values = floats_of(stored);
            std::transform(values.begin(), values.end(), values.begin(),
                           [=](float value) { return value * factor + addend; });
            take(spec, {DType::F32, stored.shape, std::as_bytes(std::span(values)), stored.file, stored.name});
        });
    }

    void take_stored(const Assembly& assembly, const Part& part, const TakeWeight& take) const {
        const TensorRow& row = *assembly.row;
        const std::string name = name_of(row);
        if (name.empty()) {
            const std::vector<float> zeros(static_cast<std::size_t>(part.spec->shape.elements()));
            take(*part.spec,
                 {DType::F32, part.spec->shape, std::as_bytes(std::span(zeros)), archive_->path(), row.theirs});
            return;
        }
        const GgufType* blocks = blocks_of(assembly, part);
        const ArchiveTensor theirs =
            blocks == nullptr
                ? archive_->at(name)
                : ArchiveTensor{.shape = part.spec->shape, .data = archive_->entry(name).data.bytes, .owner = archive_};
        WeightValues values{theirs.dtype, part.spec->shape, theirs.data, archive_->place_of(name), name, blocks};
        const Sides own = sides_of(part.spec->shape);
        const std::size_t size = size_of(theirs.dtype);
        const std::size_t row_bytes = blocks == nullptr
                                          ? static_cast<std::size_t>(own.columns) * size
                                          : static_cast<std::size_t>(own.columns) / blocks->elements * blocks->bytes;
        const bool turned = row.transposed && part.spec->shape.rank() > 1;
        if (!turned && row.interleaved_heads == 0 && row.alternating_heads == 0) {
            values.data = theirs.data.subspan(static_cast<std::size_t>(part.first) * row_bytes,
                                              static_cast<std::size_t>(own.rows) * row_bytes);
            if (const StoredTensor& entry = archive_->entry(name); entry.data.bytes.data() == theirs.data.data()) {
                values.release = entry.release;
            }
            take(*part.spec, values);
            return;
        }
        std::vector<std::byte> copied(static_cast<std::size_t>(own.rows) * row_bytes);
        if (turned) {
            const auto stride = static_cast<std::size_t>(assembly.sides.rows) * size;
            // A constant size spares a call for each element.
            const auto turn = size == 4 ? transpose<4> : size == 2 ? transpose<2> : transpose<1>;
            turn(theirs.data.subspan(static_cast<std::size_t>(part.first) * size), stride, own, copied);
        } else {
            for (std::int64_t i = 0; i < own.rows; ++i) {
                const auto from = static_cast<std::size_t>(row_of(assembly, part, i));
                std::memcpy(copied.data() + static_cast<std::size_t>(i) * row_bytes,
                            theirs.data.data() + from * row_bytes, row_bytes);
            }
        }
        values.data = copied;
        take(*part.spec, values);
    }

    // The row of theirs that is row `i` of a part.
    static std::int64_t row_of(const Assembly& assembly, const Part& part, std::int64_t i) {
        const TensorRow& row = *assembly.row;
        if (row.alternating_heads > 0) {
            const std::int64_t depth = sides_of(part.spec->shape).rows / row.alternating_heads;
            const std::int64_t in_head = i % depth;
            return part.first + i - in_head + 2 * in_head % depth + 2 * in_head / depth;
        }
        const std::int64_t start =
            row.interleaved_from < assembly.parts.size() ? assembly.parts[row.interleaved_from].first : part.first + 1;
        if (row.interleaved_heads == 0 || part.first < start) {
            return part.first + i;
        }
        const std::int64_t depth = sides_of(part.spec->shape).rows / row.interleaved_heads;
        const std::int64_t group = (assembly.sides.rows - start) / row.interleaved_heads;  // rows of a head of all
        return start + i / depth * group + (part.first - start) / row.interleaved_heads + i % depth;
    }

    std::shared_ptr<const TensorArchive> archive_;
    TensorMap map_;
};

}  // namespace

std::shared_ptr<const WeightSource> mapped_weights(std::shared_ptr<const TensorArchive> archive, TensorMap map) {
    return std::make_shared<MappedWeights>(std::move(archive), std::move(map));
}

}  // namespace headscope
