#include "viewer/session/fits.h"

#include "viewer/session/rows.h"

namespace headscope::viewer {

std::string no_attention(const Scene& scene) {
    return attentions_of(scene).empty() ? kMixesOtherwise : no_single_pass(scene);
}

std::string no_single_pass(const Scene& scene) {
    const auto& model = scene.main.model;
    return model.has_value() && model->config.generation == Generation::MaskPredict
               ? "This model fills in masks in turns: there is no single pass to look into."
               : "";
}

}  // namespace headscope::viewer
