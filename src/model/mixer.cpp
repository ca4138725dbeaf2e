#include "model/mixer.h"

#include "model/convolution.h"
#include "model/recurrent.h"
#include "model/self_attention.h"
#include "support/check.h"

namespace headscope {

std::string mixer_part(MixerKind kind) {
    switch (kind) {
        case MixerKind::SelfAttention:
        case MixerKind::Restricted: return "self_attention";
        case MixerKind::Convolution: return "convolution";
        case MixerKind::Lstm:
        case MixerKind::Gru: return "recurrent";
    }
    check_failed(__FILE__, __LINE__, "kind", "every mixer is a part of its layer");
}

std::unique_ptr<Mixer> make_mixer(const ModelConfig& config, const Scope& scope, AttentionSite site,
                                  DropoutSites& sites) {
    switch (mixer_of(config, site.kind)) {
        case MixerKind::SelfAttention:
        case MixerKind::Restricted: return std::make_unique<SelfAttention>(config, scope, site, sites);
        case MixerKind::Convolution: return std::make_unique<Convolution>(config, scope, site);
        case MixerKind::Lstm:
        case MixerKind::Gru: return std::make_unique<Recurrent>(config, scope, site);
    }
    check_failed(__FILE__, __LINE__, "kind", "every mixer has a class");
}

}  // namespace headscope
