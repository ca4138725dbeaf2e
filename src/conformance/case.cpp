#include "conformance/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/convert.h"
#include "backend/dropout_rule.h"
#include "support/check.h"
#include "support/hash.h"

namespace headscope::conformance {

namespace {

// In (0, 1]
double unit(Random& random) {
    constexpr double kStep = 0x1p-53;
    return static_cast<double>((random.next() >> 11U) + 1) * kStep;
}

double rounded(double value, DType dtype) {
    return dtype == DType::F32 ? static_cast<double>(static_cast<float>(value)) : rounded_to(dtype, value);
}

}  // namespace

Generator normal(double deviation) {
    return [deviation](std::int64_t count, Random& random) {
        Values values(static_cast<std::size_t>(count));
        for (double& value : values) {  // Box and Muller
            value = deviation * std::sqrt(-2 * std::log(unit(random))) * std::cos(2 * std::numbers::pi * unit(random));
        }
        return values;
    };
}

Generator uniform(double low, double high) {
    return [=](std::int64_t count, Random& random) {
        Values values(static_cast<std::size_t>(count));
        for (double& value : values) {
            value = low + (high - low) * unit(random);
        }
        return values;
    };
}

Generator integers(std::int64_t low, std::int64_t high) {
    return [=](std::int64_t count, Random& random) {
        Values values(static_cast<std::size_t>(count));
        for (double& value : values) {
            value = static_cast<double>(low + static_cast<std::int64_t>(random.below(high - low)));
        }
        return values;
    };
}

Generator these(Values given) {
    return [given](std::int64_t count, Random& /*random*/) {
        Values values(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = given[i % given.size()];
        }
        return values;
    };
}

Generator grid(bool odd) {
    return [odd](std::int64_t count, Random& random) {
        Values values = integers(-20, 20)(count, random);
        for (double& value : values) {
            value = 0.1 * value + (odd ? 0.05 : 0.0);
        }
        return values;
    };
}

Operand Operand::filled(Generator generator) const {
    Operand changed = *this;
    changed.values = std::move(generator);
    return changed;
}
Operand Operand::typed(DType type) const {
    Operand changed = *this;
    changed.dtype = type;
    return changed;
}
Operand Operand::narrow(DType type) const {
    Operand changed = typed(type);
    changed.is_narrow = true;
    return changed;
}
Operand Operand::full() const {
    Operand changed = *this;
    changed.is_full = true;
    return changed;
}
Operand Operand::sum_of_rounded() const {
    Operand changed = *this;
    changed.sums_rounded = true;
    return changed;
}

Operand Operand::exact() const {
    Operand changed = *this;
    changed.is_exact = true;
    return changed;
}

const Tensor& Operands::operator[](const std::string& name) const {
    const auto found = tensors.find(name);
    HEADSCOPE_CHECK(found != tensors.end(), "the case has no operand " + name);
    return found->second;
}

Tensor Operands::maybe(const std::string& name) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? Tensor{} : found->second;
}

Write Operands::write(const std::string& name) const {
    HEADSCOPE_CHECK(tensors.count(name) == 1, "the case has no operand " + name);
    return accumulated.count(name) == 1 ? Write::Accumulate : Write::Overwrite;
}

const Operand& Case::operand(const std::string& operand_name) const {
    for (const Operand& each : operands) {
        if (each.name == operand_name) {
            return each;
        }
    }
    HEADSCOPE_CHECK(false, title() + " has no operand " + operand_name);
}

std::string Case::title() const {
    return op_name() + " " + name + (storage ? std::string(" stored in ") + name_of(*storage) : "");
}

Case Case::stored_in(DType type) const {
    Case changed = *this;
    changed.storage = type;
    return changed;
}

DType Case::dtype_of(const Operand& operand, DType real) const {
    if (operand.dtype) {
        return *operand.dtype;
    }
    return storage && !operand.is_full && real == DType::F32 ? *storage : real;
}

Case Case::sums(double count) const {
    Case changed = *this;
    changed.terms = count;
    return changed;
}

Case Case::past_a_grid() const {
    Case same = *this;
    same.one_layout = true;
    return same;
}

Case Case::named(std::string other_name) const {
    Case changed = *this;
    changed.name = std::move(other_name);
    return changed;
}

Case Case::cancels(double size) const {
    Case changed = *this;
    changed.cancelling = size;
    return changed;
}

Case Case::holding(double value, const std::string& operand_name, std::size_t index) const {
    Case changed = *this;
    changed.name += fmt::format(" {} in {}", value, operand_name);
    for (Operand& each : changed.operands) {
        if (each.name == operand_name) {
            each.values = [value, index, inner = each.values](std::int64_t count, Random& random) {
                Values values = inner(count, random);
                values.at(index) = value;
                return values;
            };
        }
    }
    return changed;
}

namespace {

// Of a size, and nothing else.
class StandIn final : public Buffer {
public:
    explicit StandIn(std::size_t bytes) : bytes_(bytes) {}
    std::size_t bytes() const override { return bytes_; }
    Address address() const override { return {0, reinterpret_cast<std::uintptr_t>(this)}; }

private:
    std::size_t bytes_;
};

Role role_of(const Declared& declared, const Tensor& whole) {
    if (!declared.written()) {
        return Role::In;
    }
    // What lies beside a view, or is not written, has to stay.
    if (declared.access == OperandAccess::InOut || declared.is_partial ||
        declared.tensor->elements() < whole.elements()) {
        return Role::InOut;
    }
    return declared.access == OperandAccess::Gradient ? Role::Gradient : Role::Out;
}

}  // namespace

Operands Case::stand_ins() const {
    Operands made;
    for (const Operand& operand : operands) {
        const DType dtype = dtype_of(operand);
        const std::size_t bytes = static_cast<std::size_t>(operand.shape.elements()) * size_of(dtype);
        made.tensors[operand.name] = make_tensor(std::make_shared<StandIn>(bytes), operand.shape, dtype);
        made.accumulated.insert(operand.name);
    }
    return made;
}

void Case::take(const Declarations& declared, const Operands& stand_ins) {
    std::map<const Buffer*, std::string> names;
    for (Operand& operand : operands) {
        const Tensor& whole = stand_ins[operand.name];
        names[whole.buffer.get()] = operand.name;
        bool is_used = false;
        for (const Declared& one : declared) {
            if (one.tensor->buffer != whole.buffer) {
                continue;
            }
            HEADSCOPE_CHECK(one.access != OperandAccess::Gradient || one.accumulates,
                            title() + " never adds to " + operand.name + ": its op needs t.write() of it");
            operand.role = std::max(operand.role, role_of(one, whole));
            operand.may_stride = one.is_strided && (operand.may_stride || !is_used);
            is_used = true;
            operand.is_full = operand.is_full || one.type == OperandType::Full;
            operand.is_weight = one.type == OperandType::Weight;
            if (one.type == OperandType::Index) {
                operand.dtype = DType::I32;
            }
        }
        HEADSCOPE_CHECK(is_used, title() + " states the operand " + operand.name + ", which its op leaves out");
    }
    for (const Declared& output : declared) {
        for (const Tensor* other : output.aliases) {
            if (output.tensor->defined() && other != nullptr && other->defined()) {
                aliases.emplace_back(names.at(output.tensor->buffer.get()), names.at(other->buffer.get()));
            }
        }
    }
}

HostValues generate(const Case& stated) {
    HostValues values;
    for (const Operand& operand : stated.operands) {
        Random random(fnv1a(stated.op_name() + " " + stated.name), fnv1a(operand.name));
        Values made = operand.values(operand.shape.elements(), random);
        for (double& value : made) {
            value = rounded(value, stated.dtype_of(operand));
        }
        values[operand.name] = std::move(made);
    }
    return values;
}

std::vector<Operand> with_dropout(std::vector<Operand> operands, std::int64_t batch, float rate) {
    if (rate > 0.0F) {
        operands.emplace_back("step", Shape{1}, these({41}));
        operands.emplace_back("ordinals", Shape{batch}, these({5, 1, 1000003, 2}));
    }
    return operands;
}

DropoutRule rule(const Operands& operands, float rate) {
    return {.rate = rate,
            .seed = 20170612U,
            .site = 3U,
            .step = operands.maybe("step"),
            .ordinals = operands.maybe("ordinals")};
}

}  // namespace headscope::conformance
