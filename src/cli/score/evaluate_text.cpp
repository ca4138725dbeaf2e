#include "cli/score/evaluate_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/evaluation_report.h"
#include "cli/score/model_family.h"
#include "infer/forced_spans.h"
#include "infer/forced_text.h"
#include "io/input_files.h"
#include "model/family.h"
#include "options/progress.h"

namespace headscope {

void evaluate_text(const CommonOptions& common, const EvaluatedText& text, std::int64_t batch_tokens,
                   const std::string& calibration, const ResultOrigin& origin) {
    const std::vector<std::string> models = common.find_models();
    InputFiles inputs(common.open.settings);
    inputs.add({text.file});
    inputs.add(models);
    inputs.refuse("-");
    inputs.refuse(calibration);
    require_files_of_family(models.front(), text.file, true);
    OpenedEngine opened(common, models);
    const ModelDirectory& model = opened.directory();
    const bool first_given = first_is_given(model.config);
    EncodedDocuments input(text.file, text.form, model.target_tokenizer, first_given);
    const bool hides_spans = traits(model.config.architecture).reads_source;
    const TextVocabulary vocabulary = text_vocabulary(*model.target_tokenizer);
    TextEvaluation evaluation;
    ProgressMeter progress("document");
    for (auto documents = input.next(); !documents.empty(); documents = input.next()) {
        std::vector<std::vector<std::int32_t>> pieces;
        std::transform(documents.begin(), documents.end(), std::back_inserter(pieces),
                       [](const EncodedDocument& document) { return document.pieces; });
        std::vector<std::vector<ForcedToken>> tokens;
        opened.run([&](const Place& place) {
            Context ctx{.backend = place.backend, .compute = place.compute};
            tokens = hides_spans ? force_spans(ctx, place.model.models(), pieces, vocabulary, evaluation.documents,
                                               {.batch_tokens = batch_tokens})
                                 : force_texts(ctx, place.model.models(), pieces, {.batch_tokens = batch_tokens});
        });
        evaluation.add(documents, tokens, model.config.frame.unk_id);
        progress.done(static_cast<std::int64_t>(evaluation.documents));
    }
    progress.clear();
    if (evaluation.documents == 0) {
        throw Error(input.name() + " has no document to evaluate");
    }
    if (!calibration.empty()) {
        write_calibration(evaluation.statistics, models, calibration);
    }
    const EvaluatedBy by{models, opened.first().info, common.precision};
    write_output(common.json ? text_evaluation_json(evaluation, model.config.architecture, origin, by)
                             : text_evaluation_table(evaluation, model.config.architecture));
    if (first_given) {
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
