// What is left to open of a decoder's folder once its configuration is read.
#include <utility>

#include <nlohmann/json.hpp>

#include "import/hugging_face.h"

namespace headscope {

ModelDirectory open_decoder(const std::string& folder, const ForeignConfig& config, Problems& problems, ModelConfig net,
                            const DecoderRules& rules) {
    ModelDirectory model{.path = folder, .config = std::move(net)};
    open_tokenizers(folder, problems, model);
    model.config.frame.bos_id = begin_id(config, rules.begin, problems, model);
    read_generation(folder, config.json(), problems, model);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    remark_other_head(*archive, model);
    TensorMap map = rules.tensors(model.config, prefix_in(*archive, rules.prefix));
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_hugging_face(model, rules.length_key);
    return model;
}

}  // namespace headscope
