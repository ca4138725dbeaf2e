// Reads values in the middle of a pass, at sites that have names ("encoder.3.self_attention.z", model/sites.h), and may
// replace them. Without hooks a site costs a comparison with null.
#pragma once

#include <string>
#include <utility>

#include "autograd/context.h"

namespace headscope {

class Hooks {
public:
    Hooks() = default;
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;
    virtual ~Hooks() = default;

    // Only such sites are reached. Attention weights are not materialised for others.
    virtual bool wants(const std::string& site) const = 0;
    // Returns the value to go on with: `value`, or a new tensor of its shape and type, which the pass may overwrite.
    // `value` is overwritten by later ops, too, so what is kept of it is a copy. It may be strided.
    virtual Tensor reach(Backend& backend, const std::string& site, const Tensor& value) = 0;
    // Whether the gradient at this site is wanted. The tape then begins here: what came before gets no gradient.
    virtual bool wants_gradient(const std::string& /*site*/) const { return false; }
    // The variable whose gradient() is that of the site after the backward pass.
    virtual void keep(const std::string& /*site*/, const Var& /*value*/) {}

    // What runs now ("encoder.0.self_attention"): the beginning of the names of its sites.
    void enter(std::string part) { part_ = std::move(part); }
    const std::string& part() const { return part_; }

private:
    std::string part_;
};

// The value to go on with at the site part.name, or just `part` if `name` is "". Replacing a value is a CheckFailure if
// a tape records how it was made.
Var at_site(Context& ctx, const std::string& part, const char* name, const Var& value);
// The same in the part that runs now.
Var at_site(Context& ctx, const char* name, const Var& value);
// Whether hooks want this site of the part that runs now.
bool wants_site(const Context& ctx, const char* name);

}  // namespace headscope
