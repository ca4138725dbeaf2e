#include "infer/loaded_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "backend/ops/matmul.h"
#include "import/open_model.h"
#include "infer/beam_search.h"
#include "infer/continuation.h"
#include "infer/ensemble.h"
#include "infer/mask_predict.h"
#include "support/check.h"

namespace headscope {

std::vector<SourceLine> numbered(const std::vector<std::string>& lines) {
    std::vector<SourceLine> sources;
    for (const std::string& line : lines) {
        sources.push_back({.text = line, .number = static_cast<std::uint32_t>(sources.size() + 1)});
    }
    return sources;
}

LoadedModel::LoadedModel(Backend& backend, const std::string& directory, DType storage)
    : LoadedModel(backend, std::vector<std::string>{directory}, storage) {}

LoadedModel::LoadedModel(Backend& backend, const std::vector<std::string>& directories, DType storage)
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

namespace {

// All at once.
class WholeSearch final : public SearchSession {
public:
    WholeSearch(const LoadedModel& model, std::vector<LinePart*> parts, const DecodingOptions& options)
        : model_(model), waiting_(std::move(parts)), options_(options) {}

    bool step() override {
        if (!waiting_.empty()) {
            options_.search = *waiting_.front()->search;
            model_.translate_units(waiting_, options_);
            for (const LinePart* part : waiting_) {
                tokens_ += std::ssize(part->sentence.source_ids) + std::ssize(part->sentence.target_ids);
            }
            done_.insert(done_.end(), waiting_.begin(), waiting_.end());
            waiting_.clear();
        }
        return false;
    }
    std::int64_t tokens() const override { return tokens_; }
    std::vector<LinePart*> take_done() override { return std::exchange(done_, {}); }
    std::vector<TextEvent> take_events() override { return {}; }
    void leave(const LinePart& part) override { std::erase(waiting_, &part); }
    bool joins(const LinePart&) const override { return false; }
    void join(const std::vector<LinePart*>& parts) override {
        waiting_.insert(waiting_.end(), parts.begin(), parts.end());
    }

private:
    const LoadedModel& model_;
    std::vector<LinePart*> waiting_, done_;
    DecodingOptions options_;
    std::int64_t tokens_ = 0;
};

}  // namespace

std::unique_ptr<SearchSession> LoadedModel::begin(const std::vector<LinePart*>& parts,
                                                  const DecodingOptions& options) const {
    return std::make_unique<WholeSearch>(*this, parts, options);
}

void LoadedModel::translate_units(const std::vector<LinePart*>& units, const DecodingOptions& options) const {
    std::map<std::size_t, std::vector<LinePart*>> by_prompt;  // prompts of other lengths need another cache
    for (LinePart* unit : units) {
        by_prompt[unit->task.prompt.size()].push_back(unit);
    }
    for (const auto& [length, same] : by_prompt) {
        translate_together(same, options);
    }
}

void LoadedModel::translate_together(const std::vector<LinePart*>& units, const DecodingOptions& options) const {
    try {
        search_units(units, options);
    } catch (const OutOfMemory&) {
        if (units.size() < 2) {
            throw;
        }
        const auto middle = units.begin() + static_cast<std::ptrdiff_t>(units.size() / 2);
        translate_together({units.begin(), middle}, options);
        translate_together({middle, units.end()}, options);
    }
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

std::vector<std::vector<Hypothesis>> LoadedModel::search(const std::vector<std::vector<std::int32_t>>& sources,
                                                         const std::vector<SearchTask>& tasks,
                                                         const DecodingOptions& options) const {
    Context ctx{.backend = backend_, .observer = options.observer, .compute = options.compute};
    TokenRules rules = token_rules(model_.config, *model_.target_tokenizer, options.search);
    rules.text_of = [this](const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& tokens) {
        return decode_after(*model_.target_tokenizer, prompt, tokens);
    };
    if (model_.config.generation == Generation::LeftToRight) {
        const std::unique_ptr<Scorer> scorer = make_scorer(ctx, generators(), sources);
        return search_tasks(*scorer, tasks, model_.config.frame.bos_id, rules, options.search);
    }
    std::vector<std::vector<Hypothesis>> found;
    for (Hypothesis& best : mask_predict(ctx, as_mask_predict(network()), sources, tasks, options.search)) {
        if (!best.tokens.empty()) {  // it is usable, and ends
            best.text = rules.text_of({}, {best.tokens.begin(), best.tokens.end() - 1});
        }
        found.push_back({std::move(best)});
    }
    return found;
}

void LoadedModel::search_units(const std::vector<LinePart*>& units, const DecodingOptions& options) const {
    std::vector<std::vector<std::int32_t>> sources;
    std::vector<SearchTask> tasks;
    for (const LinePart* unit : units) {
        sources.push_back(unit->sentence.source_ids);
        tasks.push_back(unit->task);
    }
    auto found = search(sources, tasks, options);
    for (std::size_t i = 0; i < units.size(); ++i) {
        take_hypotheses(units[i]->sentence, std::move(found[i]));
    }
}

std::vector<TextResult> LoadedModel::translate_sources(const std::vector<SourceLine>& lines,
                                                       const DecodingOptions& options) const {
    TranslationWork work(model_, lines, options, longest_, TranslationWork::Order::LongestFirst);
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        translate_units(work.units_of(batch), options);
        work.done(batch);
    }
    return work.next();
}

std::vector<TextResult> LoadedModel::translate(const std::vector<std::string>& lines,
                                               const DecodingOptions& options) const {
    return translate_sources(numbered(lines), options);
}

void LoadedModel::translate_in_order(const std::vector<std::string>& lines, const DecodingOptions& options,
                                     const ResultSink& sink) const {
    translate_in_order(numbered(lines), options, sink);
}

void LoadedModel::translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                     const ResultSink& sink) const {
    TranslationWork work(model_, lines, options, longest_, TranslationWork::Order::SoonestFirst);
    work_in_order(
        work, [&](const std::vector<LinePart*>& units) { translate_units(units, options); }, sink);
}

TextResult LoadedModel::translate_line(const std::string& line, const DecodingOptions& options) const {
    TextResult sentence = translate(std::vector<std::string>{line}, options).front();
    if (!sentence.problem.empty()) {
        throw Error(sentence.problem);
    }
    return sentence;
}

}  // namespace headscope
