// Records and replaces the values at sites, for one text on the host.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "autograd/hooks.h"
#include "explore/hooked_run.h"

namespace headscope {

// Whether the positions of a site's values are those of what an encoder reads.
bool counts_source_tokens(const std::string& site);

class SiteHooks final : public Hooks {
public:
    // Error for sites that the model does not have. `source` and `target` are the lengths of what its stacks read,
    // without padding; of a language model both are that of its text.
    SiteHooks(const ModelConfig& config, const HookedRequest& request, std::int64_t source, std::int64_t target);

    bool wants(const std::string& site) const override { return sites_.contains(site); }
    Tensor reach(Backend& backend, const std::string& site, const Tensor& value) override;

    std::vector<SiteValues> take() { return std::move(recorded_); }

private:
    struct Actions {
        bool record = false;
        std::vector<const SitePatch*> patches = {};
        std::vector<const SiteFunction*> functions = {};
    };
    Shape shape_at(const std::string& site, const Shape& padded) const;

    std::int64_t source_, target_;
    std::map<std::string, Actions> sites_;
    std::vector<SiteValues> recorded_;
};

}  // namespace headscope
