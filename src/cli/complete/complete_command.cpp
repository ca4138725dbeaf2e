// headscope complete: continues text with a causal language model.
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/text_json.h"
#include "cli/command.h"
#include "cli/input_descriptor.h"
#include "cli/opened_engine.h"
#include "cli/translate/unknown_note.h"
#include "cli/unsure_flags.h"
#include "engine/text_translator.h"
#include "engine/translation_stream.h"
#include "infer/masked_text.h"
#include "io/input_files.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

struct CompleteOptions {
    CommonOptions common;
    std::optional<std::string> prompt;  // empty is a prompt, too
    std::string file;
    DecodingChoices choices;  // over the model's
    int samples = 1;
    UnsureFlags unsure;
};

// One line for each completion, or a JSON object for each prompt.
std::string format_prompt(const CompleteOptions& options, const Tokenizer& tokenizer, std::int64_t number,
                          const std::string& prompt, const TextResult& found) {
    std::string text;
    if (options.common.json) {
        const bool n_best = options.choices.n_best.value_or(1) > 1;
        return json_row(completion_json(tokenizer, number, prompt, found, n_best, options.unsure.rule));
    }
    for (std::size_t rank = 0; rank < found.n_best.size(); ++rank) {
        const bool doubted = options.unsure.rule.holds(confidence_of(found, rank));
        if (doubted && options.unsure.rule.leaves_out) {
            text += "\n";
            continue;
        }
        text += (doubted ? UnsureRule::kMark : "") + prompt + found.n_best[rank].text;
        text += options.unsure.words ? words_column(word_probabilities(tokenizer, found, rank)) : "";
        text += "\n";
    }
    return found.problem.empty() ? text : "\n";
}

class Completion {
public:
    Completion(const CompleteOptions& options, const DecodingOptions& decoding, OpenedEngine& opened)
        : options_(options), decoding_(decoding), tokenizer_(*opened.directory().target_tokenizer), opened_(opened) {}

    // A single completion is written as it grows, if no later token changes earlier ones.
    void complete(const std::string& prompt) {
        warn_of_mask(prompt);
        constexpr std::size_t kOpen = 1024;  // requests at a time, far fewer than an engine takes
        const bool streams = options_.samples == 1 && decoding_.search.beam == 1 && !options_.common.json &&
                             options_.unsure.rule.least == 0.0 && !options_.unsure.words;
        const std::int64_t line = number_ / options_.samples + 1;
        std::deque<Ticket<TextRequest>> tickets;
        bool unknown = false;
        const auto write_first = [&] {
            TextRequest::Event so_far;  // the prompt and what follows
            so_far.text = prompt;
            std::size_t written = 0;
            const auto write_rest = [&](const std::string& text) {  // a repeated search tells the same again
                write_output(text.substr(std::min(written, text.size())));
                written = std::max(written, text.size());
            };
            while (std::optional<TextRequest::Event> event = streams ? tickets.front().next() : std::nullopt) {
                event->kept_bytes += prompt.size();
                so_far.add(std::move(*event));
                write_rest(so_far.text);
            }
            const TextResult found = tickets.front().get();
            tickets.pop_front();
            if (!found.problem.empty()) {
                throw Error(found.problem);
            }
            unknown = found.unknown;
            unsure_.add(options_.unsure.rule, found);
            if (streams) {
                write_rest(prompt + found.text);
            }
            write_output(streams ? "\n" : format_prompt(options_, tokenizer_, line, prompt, found));
        };
        for (int sample = 0; sample < options_.samples; ++sample) {
            if (tickets.size() == kOpen) {
                write_first();
            }
            tickets.push_back(opened_.engine.submit(
                opened_.model, TextRequest{.line = {.text = prompt, .prefix = {}, .number = ++number_},
                                           .options = decoding_,
                                           .streams = streams}));
        }
        while (!tickets.empty()) {
            write_first();
        }
        if (unknown) {
            log_line("headscope: the prompt has characters that are not in the model's vocabulary");
        }
    }

    // One prompt a line, batched.
    void complete_lines(int descriptor, const std::string& name) {
        LineSource input(descriptor, name);
        const StreamSinks sinks{.translated =
                                    [&](const std::vector<StreamedLine>& lines) {
                                        std::string text;
                                        for (const StreamedLine& line : lines) {
                                            warn_of_mask(line.source.value_or(""));
                                            unsure_.add(options_.unsure.rule, line.sentence);
                                            text += format_prompt(options_, tokenizer_, line.number,
                                                                  line.source.value_or(""), line.sentence);
                                        }
                                        write_output(text);
                                    },
                                .warning = [](const std::string& message) { log_line("headscope: " + message); }};
        const StreamTotals totals = translate_stream(TextTranslator(opened_.engine, opened_.model), input, sinks,
                                                     decoding_, {}, options_.samples);
        if (totals.unknown > 0) {
            log_line("headscope: " + unknown_note(totals.unknown / options_.samples, totals.lines / options_.samples,
                                                  "prompts", "read as the unknown piece"));
        }
        if (totals.problems > 0) {
            throw Error(fmt::format("{} of {} prompts were not completed", totals.problems, totals.lines));
        }
    }

    void converse() {
        for (std::string prompt;;) {
            write_output("> ");
            if (!std::getline(std::cin, prompt)) {
                write_output("\n");
                return;
            }
            try {
                complete(prompt);
            } catch (const Error& error) {
                log_error(fmt::format("headscope: {}", error.what()));
            }
        }
    }

    void tell_unsure() const {
        if (const std::string note = unsure_.note(options_.unsure.rule, "completions"); !note.empty()) {
            log_line("headscope: " + note);
        }
    }

private:
    void warn_of_mask(const std::string& prompt) {
        if (!warned_of_mask_ && prompt.find(kMaskText) != std::string::npos) {
            log_line(fmt::format("headscope: a causal model reads {} as characters; to fill it in, use headscope fill",
                                 kMaskText));
            warned_of_mask_ = true;
        }
    }

    const CompleteOptions& options_;
    const DecodingOptions& decoding_;
    const Tokenizer& tokenizer_;
    OpenedEngine& opened_;
    std::uint32_t number_ = 0;  // of the last request: the key of its random numbers
    UnsureCount unsure_;
    bool warned_of_mask_ = false;
};

void complete(const CompleteOptions& options) {
    const CommonOptions& common = options.common;
    const std::vector<std::string> models = common.find_models();
    InputFiles inputs(common.open.settings);
    inputs.add({options.file});
    inputs.add(models);
    inputs.refuse("-");
    check_choices(options.choices);  // before the model is opened
    static_cast<void>(completion_options(options.choices, default_decoding_options(Architecture::CausalLm)));
    if (options.choices.max_extra == 0) {
        throw UsageError("--max-tokens must be 1 or more: a completion has at least one token");
    }
    if (options.samples > 1 && !options.choices.sample) {
        throw UsageError("--samples needs --sample: without it, all samples would be the same");
    }
    OpenedEngine opened(common, models, log_of_command);
    require_architecture(opened.directory(), Architecture::CausalLm);
    check_choices(options.choices, opened.directory().config);
    const DecodingOptions decoding = completion_options(
        options.choices, opened.model->choices().applied_to(default_decoding_options(Architecture::CausalLm)));
    Completion completion(options, decoding, opened);
    if (options.prompt) {
        completion.complete(*options.prompt);
    } else if (options.file.empty() && ::isatty(STDIN_FILENO) == 1) {
        completion.converse();
    } else {
        const InputDescriptor file(options.file.empty() ? "-" : options.file);
        completion.complete_lines(file.get(), file.name());
    }
    completion.tell_unsure();
}

}  // namespace

void add_complete_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<CompleteOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kCausalModel;
    CLI::App* command =
        app.add_subcommand("complete", "Continue text with a causal language model")->group("Language models");
    command->footer(
        "With a PROMPT, writes it and its continuation as it grows. Without one, reads a prompt from each line of\n"
        "--file or standard input, in batches, and writes one line for each; on a terminal it asks for prompts.\n"
        "A completion does not depend on its batch. It ends at the model's end of text, after --max-tokens, at a\n"
        "--stop text, or where the model's context is full. The model's author may have set defaults, as for "
        "translate.\n\n"
        "Examples:\n"
        "  headscope complete 'Could you please'\n"
        "  headscope complete --model out/lm --sample --temperature 0.8 --top-p 0.9 --samples 3 'The weather'\n"
        "  headscope complete --least-confidence 0.3 --word-probabilities 'The weather'\n"
        "  headscope complete --model out/lm --stop . --json < prompts.txt");
    command->option_defaults()->group("Data");
    CLI::Option* prompt = command->add_option("PROMPT", options->prompt, "The text to continue");
    command->add_option("--file", options->file, "A prompt on each line; - is standard input")
        ->type_name("FILE")
        ->excludes(prompt);
    options->common.add_models(*command);
    options->common.add_device_list(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Decoding");
    add_decoding_flags(*command, options->choices, kCompletes, true);
    command->add_option("--samples", options->samples, "Completions of each prompt, with different random numbers")
        ->check(whole_number(1, 10'000))
        ->capture_default_str();
    add_output(*command);
    options->common.add_json(*command);
    add_unsure_flags(*command, options->unsure);
    command->callback([options] { complete(*options); });
}

}  // namespace headscope
