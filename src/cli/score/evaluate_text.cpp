#include "cli/score/evaluate_text.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/evaluation_report.h"
#include "cli/score/model_family.h"
#include "engine/in_order.h"
#include "infer/forced_spans.h"
#include "infer/forced_text.h"
#include "io/input_files.h"
#include "model/family.h"
#include "options/progress.h"

namespace headscope {

namespace {

using Forced = std::vector<std::vector<ForcedToken>>;  // of some documents

// Documents that are read at a time.
struct SomeDocuments {
    std::vector<EncodedDocument> documents;
    std::vector<std::vector<std::int32_t>> pieces;  // of each
    std::vector<TextBlock> blocks;
    std::int64_t first = 0;  // its number in the file
};

// Some of their blocks.
struct TextPart {
    std::shared_ptr<const SomeDocuments> some;
    std::vector<TextBlock> blocks = {};
    std::int64_t tokens = 0;
    bool ends = false;  // no more follow
};

// Cuts a text into parts for the devices. Long documents have several.
class TextParts {
public:
    TextParts(EncodedDocuments& input, const OpenModel& model, const ForcedLimits& limits)
        : input_(input),
          config_(model.directory().config),
          longest_(model.longest()),
          vocabulary_(text_vocabulary(*model.directory().target_tokenizer)),
          limits_(limits) {}

    std::optional<TextPart> next() {
        if (some_ == nullptr && !read()) {
            return std::nullopt;
        }
        TextPart part{.some = some_};
        PartSize size(limits_.batch_tokens);
        for (; next_ < some_->blocks.size() && !size.full(); ++next_) {
            const TextBlock& block = some_->blocks[next_];
            const auto length = static_cast<std::int64_t>(block.end - block.begin);
            size.add(length * (traits(config_.architecture).fills_masks ? length : 1));  // a copy for each piece
            part.blocks.push_back(block);
        }
        part.tokens = size.tokens();
        part.ends = next_ == some_->blocks.size();
        if (part.ends) {
            some_ = nullptr;
        }
        return part;
    }

    // The part outlives it.
    RunRequest<Forced> request_of(const TextPart& part) const {
        return {.run = [this, &part](const Place& place) { return force(place, part); }, .tokens = part.tokens};
    }

private:
    bool hides_spans() const { return traits(config_.architecture).reads_source; }

    bool read() {
        SomeDocuments some{.documents = input_.next(), .pieces = {}, .blocks = {}, .first = read_};
        for (const EncodedDocument& document : some.documents) {
            some.pieces.push_back(document.pieces);
        }
        some.blocks = hides_spans() ? span_blocks(vocabulary_, longest_, some.pieces)
                                    : text_blocks(config_, longest_, some.pieces);
        read_ += std::ssize(some.documents);
        next_ = 0;
        some_ = some.documents.empty() ? nullptr : std::make_shared<const SomeDocuments>(std::move(some));
        return some_ != nullptr;
    }

    Forced force(const Place& place, const TextPart& part) const {
        Context ctx{.backend = place.backend, .compute = place.compute};
        const SomeDocuments& some = *part.some;
        if (hides_spans()) {
            return force_spans(ctx, place.model.models(), some.pieces, part.blocks, vocabulary_, some.first, limits_);
        }
        ForcedTexts session(ctx, place.model.models(), some.pieces, part.blocks, limits_);
        finish(session);
        return session.take();
    }

    EncodedDocuments& input_;
    const ModelConfig& config_;
    const std::int64_t longest_;
    const TextVocabulary vocabulary_;
    const ForcedLimits limits_;
    std::shared_ptr<const SomeDocuments> some_;
    std::size_t next_ = 0;   // of its blocks
    std::int64_t read_ = 0;  // documents
};

}  // namespace

TextEvaluation force_documents(OpenedEngine& opened, const EvaluatedText& text, const ForcedLimits& limits) {
    const ModelDirectory& model = opened.directory();
    EncodedDocuments input(text.file, text.form, model.target_tokenizer, first_is_given(model.config));
    TextParts parts(input, *opened.model, limits);
    TextEvaluation evaluation;
    ProgressMeter progress("document");
    ask_in_order(
        opened.engine, opened.model, [&] { return parts.next(); },
        [&](const TextPart& part) { return parts.request_of(part); },
        [&](const TextPart& part, const Forced& tokens) {
            evaluation.add(part.ends ? part.some->documents : std::vector<EncodedDocument>(), tokens,
                           model.config.frame.unk_id);
            progress.done(evaluation.documents);
        });
    progress.clear();
    if (evaluation.documents == 0) {
        throw Error(input.name() + " has no document to evaluate");
    }
    return evaluation;
}

void evaluate_text(const CommonOptions& common, const EvaluatedText& text, std::int64_t batch_tokens,
                   const std::string& calibration, const ResultOrigin& origin) {
    const std::vector<std::string> models = common.find_models();
    InputFiles inputs(common.open.settings);
    inputs.add({text.file});
    inputs.add(models);
    inputs.refuse("-");
    inputs.refuse(calibration);
    require_files_of_family(models.front(), text.file, true);
    OpenedEngine opened(common, models, log_of_command);
    const ModelDirectory& model = opened.directory();
    const TextEvaluation evaluation = force_documents(opened, text, {.batch_tokens = batch_tokens});
    opened.tell_idle();
    if (!calibration.empty()) {
        write_calibration(evaluation.statistics, models, calibration);
    }
    const EvaluatedBy by{models, opened.engine.devices(), common.precision};
    write_output(common.json ? text_evaluation_json(evaluation, model.config.architecture, origin, by)
                             : text_evaluation_table(evaluation, model.config.architecture));
    if (first_is_given(model.config)) {
        log_line("headscope: " + first_given_note("document") + ": its bytes and its word are left out");
    }
    if (evaluation.unknown > 0) {
        log_line(
            fmt::format("headscope: {} of {} pieces are missing from the vocabulary: each counts as one unknown "
                        "piece, which is easier to predict than its text",
                        evaluation.unknown, evaluation.pieces));
    }
}

}  // namespace headscope
