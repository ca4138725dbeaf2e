#include "conformance/placement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "backend/convert.h"
#include "support/check.h"

namespace headscope::conformance {

namespace {

// NaN as F32, F16 and BF16 and a huge I32, so that an out-of-bounds read shows in the result.
constexpr std::byte kSentinelLow{0xC5};
constexpr std::byte kSentinelHigh{0x7F};
// A multiple of every vector's length but not of a descriptor's alignment (256 bytes are 64 elements of F32); and an
// odd number.
constexpr std::int64_t kGuardAligned = 80;
constexpr std::int64_t kGuardOdd = 67;
constexpr std::int64_t kGuardAfter = 41;

// Strides for memory that visits the dimensions in `order`, innermost first, with room for `members` tensors side by
// side once dimension `widened` is done.
Strides strides_in_order(const Shape& shape, const std::vector<int>& order, int widened, std::int64_t members) {
    Strides strides{};
    std::int64_t step = 1;
    for (const int dim : order) {
        strides[static_cast<std::size_t>(dim)] = step;
        step *= std::max<std::int64_t>(shape[dim], 1) * (dim == widened ? members : 1);
    }
    return strides;
}

Strides padded_strides(const Shape& shape) {
    Strides strides = contiguous_strides(shape);
    std::int64_t step = shape.rank() == 0 ? 0 : std::max<std::int64_t>(shape[-1], 1) + 3;
    for (int dim = shape.rank() - 2; dim >= 0; --dim) {
        strides[static_cast<std::size_t>(dim)] = step;
        step = step * std::max<std::int64_t>(shape[dim], 1) + 5;
    }
    return strides;
}

Strides strides_of(const Shape& shape, Layout layout, std::int64_t members) {
    std::vector<int> row_major;
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
        row_major.push_back(dim);
    }
    const int last = shape.rank() - 1;
    switch (layout) {
        case Layout::Contiguous: return contiguous_strides(shape);
        case Layout::PaddedRows: return padded_strides(shape);
        case Layout::Heads:
            return shape.rank() == 4   ? strides_in_order(shape, {3, 1, 2, 0}, last, 1)
                   : shape.rank() == 3 ? strides_in_order(shape, {2, 0, 1}, last, 1)
                                       : strides_in_order(shape, row_major, last, 1);
        case Layout::Packed:
            return shape.rank() == 4 ? strides_in_order(shape, {3, 1, 2, 0}, 1, members)
                                     : strides_in_order(shape, row_major, last, members);
    }
    HEADSCOPE_CHECK(false, "unknown layout");
}

std::int64_t reach(const Tensor& tensor) {
    std::int64_t last = tensor.elements() == 0 ? -1 : 0;
    for (int dim = 0; tensor.elements() > 0 && dim < tensor.rank(); ++dim) {
        last += (tensor.dim(dim) - 1) * tensor.stride(dim);
    }
    return last + 1;
}

void store_garbage(DType dtype, std::byte* to, Garbage garbage) {
    constexpr double kLarge = -31000.0;  // fits F16
    if (dtype == DType::I32) {
        store_as(dtype, to, garbage == Garbage::Nan ? 1234567890.0 : kLarge);
    } else {
        store_as(dtype, to, garbage == Garbage::Nan ? std::numeric_limits<double>::quiet_NaN() : kLarge);
    }
}

const char* name_of(Layout layout) {
    switch (layout) {
        case Layout::Contiguous: return "contiguous";
        case Layout::PaddedRows: return "padded rows";
        case Layout::Heads: return "heads";
        case Layout::Packed: return "packed";
    }
    return "?";
}

}  // namespace

Places::Places(const Tensor& tensor, std::int64_t begin)
    : size_(static_cast<std::size_t>(tensor.elements())), first_(static_cast<std::size_t>(tensor.offset - begin)) {
    if (tensor.contiguous()) {
        return;
    }
    listed_.reserve(size_);
    std::array<std::int64_t, kMaxRank> at{};
    std::int64_t place = tensor.offset - begin;
    for (std::int64_t count = tensor.elements(); count > 0; --count) {
        listed_.push_back(static_cast<std::size_t>(place));
        for (int dim = tensor.rank() - 1; dim >= 0; --dim) {
            std::int64_t& index = at[static_cast<std::size_t>(dim)];
            place += tensor.stride(dim);
            if (++index < tensor.dim(dim)) {
                break;
            }
            place -= index * tensor.stride(dim);
            index = 0;
        }
    }
}

std::string Variant::title() const {
    std::string text = name_of(layout);
    for (const std::string& name : accumulated) {
        text += ", " + name + " accumulated";
    }
    text += alias_output.empty() ? "" : ", " + alias_output + " is " + alias_input;
    text += packed_weights ? ", packed weights" : "";
    return misaligned ? text + ", misaligned" : text;
}

Placement::Placement(Backend& backend, const Case& stated, const Variant& variant)
    : backend_(backend), case_(stated), variant_(variant) {
    operands_.accumulated = variant.accumulated;
    std::vector<std::vector<const Operand*>> groups;
    for (const Operand& operand : stated.operands) {
        if (operand.name == variant.alias_output) {
            continue;
        }
        bool joined = false;
        if (variant.layout == Layout::Packed && operand.may_stride && operand.shape.elements() > 0) {
            for (auto& group : groups) {
                const Operand& first = *group.front();
                if (first.may_stride && first.shape == operand.shape &&
                    stated.dtype_of(first) == stated.dtype_of(operand)) {
                    group.push_back(&operand);
                    joined = true;
                    break;
                }
            }
        }
        if (!joined) {
            groups.push_back({&operand});
        }
    }
    for (const auto& group : groups) {
        place(group, group.front()->may_stride ? variant.layout : Layout::Contiguous);
    }
    if (!variant.alias_output.empty()) {
        operands_.tensors[variant.alias_output] = operands_[variant.alias_input];
        places_[variant.alias_output] = places_.at(variant.alias_input);
    }
}

void Placement::place(const std::vector<const Operand*>& group, Layout layout) {
    const Shape& shape = group.front()->shape;
    const DType dtype = case_.dtype_of(*group.front(), backend_.full_dtype());
    const auto members = static_cast<std::int64_t>(group.size());
    const Strides strides = strides_of(shape, layout, members);
    const std::int64_t columns = shape.rank() == 0 ? 1 : shape[-1];
    std::int64_t guard = variant_.misaligned ? kGuardOdd : kGuardAligned;
    std::int64_t member_step = columns;
    if (layout == Layout::Packed) {
        // The packed row begins at a multiple of its own length, as in a tensor of such rows.
        member_step = shape.rank() == 4 ? shape[1] * columns : columns;
        const std::int64_t row = std::max<std::int64_t>(member_step * members, 1);
        guard = (guard + row - 1) / row * row;
    }
    std::int64_t end = guard;
    for (std::int64_t member = 0; member < members; ++member) {
        Tensor view;
        view.shape = shape;
        view.strides = strides;
        view.offset = guard + member * member_step;
        view.dtype = dtype;
        end = std::max(end, view.offset + reach(view));
        operands_.tensors[group[static_cast<std::size_t>(member)]->name] = view;
    }
    Region region;
    region.whole = backend_.empty(Shape{end + kGuardAfter}, dtype);
    region.writable.resize(static_cast<std::size_t>(end + kGuardAfter));
    region.members = group;
    for (const Operand* operand : group) {
        Tensor& view = operands_.tensors[operand->name];
        view.buffer = region.whole.buffer;
        view.offset += region.whole.offset;
        const Places& places = places_[operand->name] = Places(view, region.whole.offset);
        for (std::size_t i = 0; i < places.size() && may_change(*operand); ++i) {
            region.writable[places[i]] = 1;
        }
    }
    regions_.push_back(std::move(region));
}

bool Placement::may_change(const Operand& operand) const {
    return operand.written() || operand.name == variant_.alias_input;
}

void Placement::fill(const HostValues& values, Garbage garbage) {
    for (Region& region : regions_) {
        const std::size_t width = size_of(region.whole.dtype);
        region.before.resize(region.writable.size() * width);
        for (std::size_t i = 0; i < region.before.size(); ++i) {
            region.before[i] = i % 2 == 0 ? kSentinelLow : kSentinelHigh;
        }
        for (const Operand* operand : region.members) {
            const bool reads = operand->role == Role::In || operand->role == Role::InOut ||
                               variant_.accumulated.count(operand->name) == 1;
            const Values& given = values.at(operand->name);
            const Places& places = places_.at(operand->name);
            for (std::size_t i = 0; i < places.size(); ++i) {
                std::byte* to = region.before.data() + places[i] * width;
                if (reads) {
                    store_as(region.whole.dtype, to, given[i]);
                } else {
                    store_garbage(region.whole.dtype, to, garbage);
                }
            }
        }
        backend_.upload(region.whole, region.before.data(), region.before.size());
    }
    if (variant_.packed_weights) {
        pack_weights();
    }
}

void Placement::pack_weights() {
    for (Region& region : regions_) {
        for (const Operand* operand : region.members) {
            if (operand->is_weight) {
                Tensor& weight = operands_.tensors[operand->name];
                weight.layout = WeightLayout::Rows;
                weight = backend_.pack(weight);
            }
        }
        backend_.download(region.whole, region.before.data(), region.before.size());
    }
}

void Placement::read() {
    for (Region& region : regions_) {
        region.after.resize(region.before.size());
        backend_.download(region.whole, region.after.data(), region.after.size());
    }
}

std::string Placement::stray_write() const {
    for (const Region& region : regions_) {
        const std::size_t width = size_of(region.whole.dtype);
        for (std::size_t element = 0; element < region.writable.size(); ++element) {
            if (region.writable[element] == 0 &&
                std::memcmp(&region.before[element * width], &region.after[element * width], width) != 0) {
                std::string text = "element " + std::to_string(element) + " of " +
                                   std::to_string(region.writable.size()) + " in the buffer of";
                for (const Operand* operand : region.members) {
                    text += " " + operand->name + " (" + operands_[operand->name].to_string() + ")";
                }
                return text + " changed but is not an element of an output";
            }
        }
    }
    return {};
}

Values Placement::values_of(const std::string& name) const {
    const Tensor& tensor = operands_[name];
    for (const Region& region : regions_) {
        if (region.whole.buffer != tensor.buffer) {
            continue;
        }
        const std::size_t width = size_of(tensor.dtype);
        const Places& places = places_.at(name);
        Values values(places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            values[i] = load_as<double>(tensor.dtype, region.after.data() + places[i] * width);
        }
        return values;
    }
    HEADSCOPE_CHECK(false, name + " lies in no buffer");
}

std::vector<std::byte> Placement::output_bytes() const {
    std::vector<std::byte> bytes;
    for (const Region& region : regions_) {
        const std::size_t width = size_of(region.whole.dtype);
        for (std::size_t element = 0; element < region.writable.size(); ++element) {
            if (region.writable[element] != 0) {
                const auto* first = region.after.data() + element * width;
                bytes.insert(bytes.end(), first, first + width);
            }
        }
    }
    return bytes;
}

}  // namespace headscope::conformance
