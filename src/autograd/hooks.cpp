#include "autograd/hooks.h"

#include "support/check.h"

namespace headscope {

namespace {

std::string site_name(const std::string& part, const char* name) {
    return *name == '\0' ? part : part + "." + name;
}

}  // namespace

Var at_site(Context& ctx, const std::string& part, const char* name, const Var& value) {
    if (ctx.hooks == nullptr) {
        return value;
    }
    const std::string site = site_name(part, name);
    if (!ctx.hooks->wants(site)) {
        return value;
    }
    const Tensor& before = value.value();
    const Tensor after = ctx.hooks->reach(ctx.backend, site, before);
    HEADSCOPE_CHECK(after.shape == before.shape && after.dtype == before.dtype,
                    "a hook at " + site + " gave back " + after.to_string() + " for " + before.to_string());
    const bool same = after.buffer == before.buffer && after.offset == before.offset;
    const bool begins_tape = ctx.tape != nullptr && ctx.hooks->wants_gradient(site);
    HEADSCOPE_CHECK(!value.requires_grad() || (same && !begins_tape),
                    "a tape records how the value at " + site + " was made: it can be read, but not replaced");
    if (begins_tape) {
        const Var leaf(after, true);
        ctx.hooks->keep(site, leaf);
        return leaf;
    }
    return same ? value : Var(after);
}

Var at_site(Context& ctx, const char* name, const Var& value) {
    return ctx.hooks == nullptr ? value : at_site(ctx, ctx.hooks->part(), name, value);
}

bool wants_site(const Context& ctx, const char* name) {
    return ctx.hooks != nullptr && ctx.hooks->wants(site_name(ctx.hooks->part(), name));
}

}  // namespace headscope
