#include "infer/loaded_model.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/ops/matmul.h"
#include "import/open_model.h"
#include "infer/ensemble.h"
#include "infer/search_session.h"
#include "support/check.h"

namespace headscope {

std::vector<SourceLine> numbered(const std::vector<std::string>& lines) {
    std::vector<SourceLine> sources;
    for (const std::string& line : lines) {
        sources.push_back({.text = line, .number = static_cast<std::uint32_t>(sources.size() + 1)});
    }
    return sources;
}

LoadedModel::LoadedModel(Backend& backend, const std::string& directory, const WeightStorage& storage)
    : LoadedModel(backend, std::vector<std::string>{directory}, storage) {}

LoadedModel::LoadedModel(Backend& backend, const std::vector<std::string>& directories, const WeightStorage& storage)
    : backend_(backend),
      model_(open_model(directories.at(0))),
      decoding_choices_(decoding_choices_of(model_)),
      longest_(model_.config.max_length) {
    const auto add = [&](const ModelDirectory& model) {
        const auto parameters = read_parameters(backend, model, storage);
        members_.push_back({parameters, make_model(model.config, *parameters)});
    };
    add(model_);
    if (directories.size() > 1 && model_.config.generation == Generation::MaskPredict) {
        throw Error(model_.path + " fills in masks (\"generation\" is \"mask_predict\"): only one --model is possible");
    }
    for (auto directory = directories.begin() + 1; directory != directories.end(); ++directory) {
        const ModelDirectory other = open_model(*directory);
        check_can_be_averaged(model_, other);
        add(other);
        longest_ = std::min(longest_, other.config.max_length);
    }
}

LoadedModel::LoadedModel(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters)
    : backend_(backend),
      model_(std::move(model)),
      decoding_choices_(decoding_choices_of(model_)),
      members_{{parameters, make_model(model_.config, *parameters)}},
      longest_(model_.config.max_length) {}

LoadedModel::LoadedModel(Backend& backend, const LoadedModel& lender)
    : backend_(backend), model_(lender.model_), decoding_choices_(lender.decoding_choices_), longest_(lender.longest_) {
    for (const Member& member : lender.members_) {
        const auto parameters = std::make_shared<const Parameters>(backend, *member.parameters);
        members_.push_back({parameters, make_model(member.model->config(), *parameters)});
    }
}

const EncoderDecoder& LoadedModel::transformer() const {
    if (const auto* found = dynamic_cast<const EncoderDecoder*>(members_.front().model.get())) {
        return *found;
    }
    require_architecture(model_, Architecture::EncoderDecoder);
    static_cast<void>(generators());
    check_failed(__FILE__, __LINE__, "transformer", "the model is not what its configuration says");
}

std::vector<const Model*> LoadedModel::models() const {
    std::vector<const Model*> all;
    std::transform(members_.begin(), members_.end(), std::back_inserter(all),
                   [](const Member& member) { return member.model.get(); });
    return all;
}

std::vector<const Generator*> LoadedModel::generators() const {
    std::vector<const Generator*> all;
    std::transform(members_.begin(), members_.end(), std::back_inserter(all),
                   [](const Member& member) { return &as_generator(*member.model); });
    return all;
}

std::unique_ptr<SearchSession> LoadedModel::begin(const std::vector<LinePart*>& parts,
                                                  const DecodingOptions& options) const {
    return std::make_unique<BatchedSearch>(backend_, *this, parts, options);
}

void LoadedModel::try_device() const {
    const DType dtype = backend_.full_dtype();
    const Tensor ones = make_from_host<float>(backend_, {2, 2}, dtype, {1.0F, 1.0F, 1.0F, 1.0F});
    const Tensor product = backend_.empty({2, 2}, dtype);
    backend_.run(Matmul{.a = ones, .b = ones, .out = product});
    if (to_host<float>(backend_, product) != std::vector<float>(4, 2.0F)) {
        throw Error(backend_.device().id + " no longer multiplies: the product of two matrices of ones is wrong");
    }
}

std::vector<TextResult> LoadedModel::translate(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                               const std::function<void()>& each_batch) const {
    TranslationWork work(model_, lines, options, longest_, TranslationWork::Order::LongestFirst);
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        if (each_batch) {
            each_batch();
        }
        finish(*begin(work.units_of(batch), options));
        work.done(batch);
    }
    return work.next();
}

}  // namespace headscope
