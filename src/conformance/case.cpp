#include "conformance/case.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "backend/convert.h"
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
Operand Operand::strided() const {
    Operand changed = *this;
    changed.may_stride = true;
    return changed;
}
Operand Operand::exact() const {
    Operand changed = *this;
    changed.is_exact = true;
    return changed;
}

Operand in(std::string name, const Shape& shape) {
    return {.name = std::move(name), .shape = shape};
}
Operand out(std::string name, const Shape& shape) {
    return {.name = std::move(name), .shape = shape, .role = Role::Out};
}
Operand gradient(std::string name, const Shape& shape) {
    return {.name = std::move(name), .shape = shape, .role = Role::Gradient};
}
Operand in_out(std::string name, const Shape& shape) {
    return {.name = std::move(name), .shape = shape, .role = Role::InOut};
}
Operand indices(std::string name, const Shape& shape, Generator values) {
    return in(std::move(name), shape).typed(DType::I32).filled(std::move(values));
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
    return op + " " + name + (storage ? std::string(" stored in ") + name_of(*storage) : "");
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

Case Case::may_be(const std::string& output, const std::string& input) const {
    Case changed = *this;
    changed.aliases.emplace_back(output, input);
    return changed;
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

HostValues generate(const Case& stated) {
    HostValues values;
    for (const Operand& operand : stated.operands) {
        Random random(fnv1a(stated.op + " " + stated.name), fnv1a(operand.name));
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
        operands.push_back(indices("step", {1}, these({41})));
        operands.push_back(indices("ordinals", {batch}, these({5, 1, 1000003, 2})));
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
