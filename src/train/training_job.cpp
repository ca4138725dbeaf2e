#include "train/training_job.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "model/model_chat.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/batch_size.h"
#include "train/default_config.h"
#include "train/first_model.h"
#include "train/labelled_parts.h"
#include "train/ranked_start.h"
#include "train/references.h"
#include "train/response_parts.h"
#include "train/rollouts.h"
#include "train/sampled_translations.h"
#include "train/step_rehearsal.h"
#include "train/text_parts.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSplitSeed = 1;

}  // namespace

void require_output(const std::string& output, bool resume, Purpose purpose) {
    if (purpose == Purpose::Finish && !holds_checkpoints(output)) {
        throw Error(fmt::format("'{}' holds no checkpoint to make a model from: train first", output));
    }
    if (!resume && purpose == Purpose::Train) {
        require_unused(output);
    }
}

TrainingJob::TrainingJob(TrainingRequest request, Log say) : request_(std::move(request)), say_(std::move(say)) {
    HEADSCOPE_CHECK(request_.config.has_value() != request_.texts.given(), "a training has a configuration or texts");
    if (request_.texts.given()) {
        require_from(request_.texts.what());
    }
    if (request_.config) {
        request_.adjust(*request_.config);
        take(*std::exchange(request_.config, std::nullopt));
    }
}

void TrainingJob::use(Backend& backend) {
    backend_ = &backend;
    if (has_config()) {
        check_device();
    }
}

TrainingResult TrainingJob::run(const std::function<Backend&()>& open, const std::function<RunHooks(Backend&)>& hooks) {
    if (!leads()) {
        return follow(open, hooks);
    }
    request_.ranks->announce("reading the configuration and the texts", Communicator::Takes::Long);
    const std::string& output = request_.output;
    require_output(output, request_.resume, request_.purpose);
    refuse_inputs(output, inputs());
    if (!holds_checkpoints(output)) {
        require_own_files(output);
    }
    use(open());
    RunFolder folder(output, say_);
    require_output(output, request_.resume, request_.purpose);  // nobody else can write there now
    const bool resumed = holds_checkpoints(output);
    if (request_.resume && !resumed && traits(config_.task).reads_replies) {
        throw Error(
            fmt::format("'{}' holds no checkpoint to go on from: start again, in another folder or after "
                        "removing it, with --from",
                        output));
    }
    if (request_.resume && !resumed) {
        say_(fmt::format("'{}' holds no checkpoint yet: starting from the beginning", output));
    }
    if (!has_config()) {
        choose_config(output);
        given_->save(output);  // so that a training that is killed now can be resumed
    }
    if (resumed && config_.training.find_batch) {
        set_batch(folder.recorded("source_tokens", config_.training.source_tokens));
    }
    choose_shards(resumed ? &folder : nullptr);
    if (request_.ranks->size() > 1) {
        tell_start(*request_.ranks, {{"config", given_->json()}, {"file", given_->file()}, {"resumed", resumed}},
                   output);
    }
    // Without a checkpoint nothing proves that a tokenizer there belongs to this configuration.
    prepare_data((fs::path(output) / "tokenizer").string(), resumed ? &folder : nullptr);
    return train(folder, resumed, hooks(*backend_));
}

// The same on other ranks than 0, which write nothing.
TrainingResult TrainingJob::follow(const std::function<Backend&()>& open,
                                   const std::function<RunHooks(Backend&)>& hooks) {
    use(open());
    const std::string& output = request_.output;
    const nlohmann::json told = tell_start(*request_.ranks, {}, output);
    take(RunConfig(told.at("config"), told.at("file").get<std::string>()));
    check_device();
    prepare_data((fs::path(output) / "tokenizer").string());
    return train(
        output, [] {}, told.at("resumed").get<bool>(), hooks(*backend_));
}

// A step's shards are those of the run, or else enough for the ranks.
void TrainingJob::choose_shards(const RunFolder* resumed) {
    const int ranks = request_.ranks->size();
    if (!given_->has("shards")) {
        const std::int64_t shards = resumed != nullptr ? resumed->recorded("shards", 1) : shards_for(ranks);
        if (shards > 1) {
            RunConfig config = *given_;
            config.set("shards", shards);
            take(std::move(config));
        }
    }
    require_divisible(config_, ranks, config_.training.shards);
}

void TrainingJob::choose_config(const std::string& folder) {
    const TrainingTexts& texts = request_.texts;
    const std::string data = (fs::path(folder) / "data").string();
    nlohmann::json json = texts.text.empty() ? config_for_pairs(data) : config_for_text(data);
    if (!request_.from.empty()) {
        json = config_from(std::move(json), request_.from, texts.languages);
    }
    const std::string file = RunConfig::file_in(request_.output);
    say_(fmt::format(
        "chosen by the {}amount of text: {}{}", request_.from.empty() ? "" : "model and the ", describe(json),
        folder == request_.output ? fmt::format("; saved in {}, which you can edit and use again", file) : ""));
    RunConfig config(json, file);
    request_.adjust(config);
    take(std::move(config));
    check_device();
}

nlohmann::json TrainingJob::config_for_pairs(const std::string& folder) const {
    const TextParts text = split_texts(request_.texts.source, request_.texts.target, folder, kSplitSeed);
    say_(fmt::format(
        "{} pairs for training, {} for validation; left out: {} that share a side with validation pairs, {} "
        "with an empty side",
        text.train, text.valid, text.shared, text.empty));
    warn_of(text.unlearnable);
    return default_config(text, request_.texts.of_pairs, *backend_);
}

nlohmann::json TrainingJob::config_for_text(const std::string& folder) const {
    if (traits(request_.texts.task).reads_replies) {
        const DocumentParts text = split_responses(request_.texts.text, request_.texts.task, folder, kSplitSeed);
        say_(fmt::format("{} for training, {} for validation; left out: {} of prompts that are validated",
                         counted(text.train, "line"), text.valid, text.shared));
        return default_config(text, request_.texts.task, *backend_);
    }
    if (traits(request_.texts.task).reads_labels) {
        const DocumentParts text = split_labelled(request_.texts.text, folder, kSplitSeed);
        say_(fmt::format("{} for training, {} for validation; left out: {} of texts that are validated",
                         counted(text.train, "line"), text.valid, text.shared));
        return default_config(text, request_.texts.task, *backend_);
    }
    const DocumentParts text = split_documents(request_.texts.text, request_.texts.documents, folder, kSplitSeed);
    say_(fmt::format("{} documents for training, {} for validation; skipped {} duplicates of validation documents",
                     text.train, text.valid, text.shared));
    warn_of(text.unlearnable);
    return default_config(text, request_.texts.task, *backend_);
}

void TrainingJob::warn_of(const UnlearnableLines& lines) const {
    if (lines.count() > 0 && request_.from.empty()) {
        say_(lines.warning());
    }
}

TokenizerOrigin TrainingJob::tokenizers(bool reuse) const {
    TokenizerOrigin origin{.reuse = reuse, .given = request_.tokenizers, .warned = request_.texts.given()};
    if (!origin.given && !request_.from.empty()) {
        const ModelDirectory model = open_model(request_.from);
        for (const std::string& remark : model.remarks) {
            say_(remark);
        }
        if (traits(config_.task).reads_replies && config_.data.chat == kNoTemplate && model.decoding &&
            model.decoding->contains(kChatKey)) {
            say_(
                fmt::format("warning: '{}' has a chat template that is not used: a response just follows its prompt; "
                            "--template names one",
                            request_.from));
        }
        origin.given = {model.source_tokenizer, model.target_tokenizer};
    }
    return origin;
}

void TrainingJob::prepare_data(const std::string& folder, const RunFolder* resumed) {
    TokenizerOrigin origin = leads() ? tokenizers(resumed != nullptr) : TokenizerOrigin{};
    origin.ranks = request_.ranks;
    data_ = prepare_training_data(config_, folder, origin, say_);
    if (config_.training.find_batch) {
        request_.ranks->announce("finding the largest batch", Communicator::Takes::Long);
        const std::int64_t tokens =
            resumed != nullptr ? resumed->recorded("source_tokens", config_.training.source_tokens) : find_batch();
        set_batch(tokens);
    }
    request_.ranks->announce("starting");
}

void TrainingJob::set_batch(std::int64_t tokens) {
    RunConfig config = *given_;
    config.set("source_tokens", tokens);
    config.set("target_tokens", tokens);
    take(std::move(config));
}

TrainingResult TrainingJob::train(RunFolder& folder, bool resumed, const RunHooks& hooks) {
    return train(
        folder.path(), [&folder] { folder.keep(); }, resumed, hooks);
}

TrainingResult TrainingJob::train(const std::string& folder, const std::function<void()>& keep, bool resumed,
                                  const RunHooks& given_hooks) {
    RunHooks hooks = given_hooks;
    hooks.ranks = request_.ranks;
    if (request_.purpose == Purpose::Train) {
        hooks.ranks->announce("measuring with the reference", Communicator::Takes::Long);
        add_references(*backend_, config_, data_, say_);
        hooks.ranks->announce("starting");
    }
    Learner learner = make_learner(*backend_, config_, data_, hooks);
    std::unique_ptr<StepSource> source = request_.source ? request_.source(data_) : nullptr;
    if (!source && traits(config_.task).rolls_out && request_.purpose == Purpose::Train) {
        source = std::make_unique<Rollouts>(learner, config_, data_);
    }
    if (!source && traits(config_.task).scores_samples && request_.purpose == Purpose::Train) {
        source = std::make_unique<SampledTranslations>(learner, config_, data_);
    }
    if (hooks.ranks->size() > 1) {
        require_same(*hooks.ranks, {{"program", request_.program},
                                    {"configuration", config_.identity()},
                                    {"data", data_.fingerprint()},
                                    {"arithmetic", name_of(learner.options().arithmetic)}});
    }
    Run run(learner, config_, std::exchange(data_, {}), folder, hooks, std::move(source));
    if (!request_.from.empty()) {
        run.begin_from(request_.from);
    }
    if (resumed) {
        hooks.ranks->announce("reading the checkpoint", Communicator::Takes::Long);
        given_->naming_options([&] { run.resume(request_.purpose); });
        hooks.ranks->announce("starting");
    }
    keep();
    if (leads()) {
        hooks.ranks->begin();
    }
    TrainingResult result;
    if (request_.purpose == Purpose::Train) {
        if (leads()) {
            given_->save(folder);
        }
        result.end = run.train();
    }
    result.step = run.step();
    result.minutes = run.minutes();
    result.ended_by = given_->with_options(run.ended_by());
    if (result.end == RunEnd::Finished) {
        run.write_model((fs::path(folder) / "model").string());
    }
    return result;
}

RunInputs TrainingJob::inputs() const {
    RunInputs inputs = request_.inputs;
    inputs.splits_texts = request_.texts.given();
    inputs.files.add({request_.texts.source, request_.texts.target, request_.texts.text, request_.from});
    inputs.files.add({config_.data.reference, config_.data.reward});
    for (const CorpusFiles& corpus : config_.data.corpora()) {
        inputs.files.add(corpus.all());
    }
    return inputs;
}

bool TrainingJob::lacks_data() const {
    const std::vector<CorpusFiles> corpora = config_.data.corpora();
    return !config_.training.find_batch && std::all_of(corpora.begin(), corpora.end(), [](const CorpusFiles& corpus) {
        const std::vector<std::string> files = corpus.all();
        return std::none_of(files.begin(), files.end(), [](const std::string& file) { return fs::exists(file); });
    });
}

void TrainingJob::take(RunConfig config) {
    config_ = config.parsed();
    given_ = std::move(config);
}

void TrainingJob::require_from(Task task) const {
    const bool begins = !request_.resume && request_.purpose == Purpose::Train;
    if (begins && request_.from.empty() && (traits(task).reads_replies || traits(task).scores_samples)) {
        throw Error(fmt::format("the \"task\" \"{}\" goes on with a model: name it with --from", name_of(task)));
    }
}

void TrainingJob::check_device() const {
    static_cast<void>(arithmetic_of(config_, *backend_));
    require_from(config_.task);
    if (!request_.from.empty()) {
        require_first_model(config_, request_.from);
    }
}

std::int64_t TrainingJob::find_batch() const {
    const ModelConfig model = config_.model_config(*data_.source_tokenizer, *data_.target_tokenizer);
    StepRehearsal rehearsal(*backend_, config_, model, arithmetic_of(config_, *backend_));
    const FoundBatch found = headscope::find_batch(rehearsal, config_, memory_limit(*backend_));
    std::int64_t least = found.tokens;
    for (const std::string& of_rank : request_.ranks->gather(std::to_string(found.tokens))) {
        least = std::min(least, static_cast<std::int64_t>(std::stoll(of_rank)));
    }
    say_(least == found.tokens ? found.how : fmt::format("steps of {} tokens per side: what fits on all ranks", least));
    return least;
}

}  // namespace headscope
