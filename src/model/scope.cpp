#include "model/scope.h"

#include <utility>

#include "support/check.h"

namespace headscope {

Scope Scope::in(const std::string& part) const {
    Scope inner = *this;
    inner.name_ += (name_.empty() ? "" : ".") + part;
    return inner;
}

Scope Scope::layer(int index) const {
    Scope inner = in("layers." + std::to_string(index));
    inner.layer_ = index + 1;
    inner.block({.kind = BlockKind::Layer});
    return inner;
}

Scope Scope::for_each(double MultiplyAdds::*token) const {
    Scope other = *this;
    other.token_ = token;
    return other;
}

Scope Scope::with_parts(std::int64_t multiplied) const {
    Scope other = *this;
    other.multiplied_parts_ = multiplied;
    return other;
}

void Scope::block(Block block) const {
    block.prefix = block.without_parameters ? "" : name_ + ".";
    block.layer = layer_;
    description_.blocks.push_back(std::move(block));
}

void Scope::multiply_adds(double MultiplyAdds::*of_each, std::int64_t count) const {
    description_.multiply_adds.*of_each += static_cast<double>(count);
}

void Scope::pairs_within(WindowedLayers MultiplyAdds::*of_stack, const WindowedLayers& layers) const {
    description_.multiply_adds.*of_stack = layers;
}

void Scope::output_cluster(std::int64_t multiply_adds) const {
    description_.output_clusters.push_back(static_cast<double>(multiply_adds));
}

Var Scope::weight(const std::vector<Rows>& parts, std::int64_t columns, Initial initial) const {
    HEADSCOPE_CHECK(token_ != nullptr, name_ + " declares a weight outside of for_each()");
    std::vector<ParameterSpec> specs;
    for (const Rows& rows : parts) {
        specs.push_back({rows.name + ".weight", {rows.count, columns}, initial, true, !specs.empty()});
        multiply_adds(token_, std::ssize(specs) > multiplied_parts_ ? 0 : rows.count * columns);
    }
    return packed(specs);
}

Var Scope::full_weight(const Rows& rows, std::int64_t columns, Initial initial) const {
    multiply_adds(token_, rows.count * columns);
    return values((rows.name + ".weight").c_str(), {rows.count, columns}, initial);
}

Var Scope::bias(const std::vector<Rows>& parts, Initial initial) const {
    std::vector<ParameterSpec> specs;
    for (const Rows& rows : parts) {
        specs.push_back({rows.name + ".bias", {rows.count}, initial, false, !specs.empty()});
    }
    return packed(specs);
}

Var Scope::table(std::int64_t rows, std::int64_t columns) const {
    return declare({"weight", {rows, columns}, Initial::Embedding, true});
}

Var Scope::values(const char* name, const Shape& shape, Initial initial) const {
    return declare({name, shape, initial});
}

Tensor Scope::buffer(const char* name, const Shape& shape, Initial initial) const {
    const Var found = declare({.name = name, .shape = shape, .initial = initial, .trained = false});
    return found.defined() ? found.value() : Tensor();
}

Tensor Scope::constants(const std::vector<std::int32_t>& numbers) const {
    return parameters_ == nullptr ? Tensor()
                                  : make_from_host(parameters_->backend(), {std::ssize(numbers)}, DType::I32, numbers);
}

Var Scope::declare(ParameterSpec spec) const {
    HEADSCOPE_CHECK(!description_.blocks.empty(), "a parameter is declared before its block");
    spec.name = name_ + "." + spec.name;
    description_.blocks.back().parameters += spec.trained ? spec.shape.elements() : 0;
    description_.parameters.push_back(spec);
    const Var found = parameters_ == nullptr ? Var() : parameters_->at(spec.name);
    HEADSCOPE_CHECK(!found.defined() || found.shape() == spec.shape, "the parameters are of another configuration");
    return found;
}

Var Scope::packed(const std::vector<ParameterSpec>& parts) const {
    Var last;
    for (const ParameterSpec& spec : parts) {
        last = declare(spec);
    }
    return parts.size() == 1 || parameters_ == nullptr
               ? last
               : parameters_->packed(name_ + "." + parts.front().name, static_cast<int>(parts.size()));
}

}  // namespace headscope
