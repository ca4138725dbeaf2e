// headscope rank: asks a person which responses to a prompt are better, and how far two people agree.
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/complete/offered_responses.h"
#include "cli/complete/rating_file.h"
#include "eval/ratings.h"
#include "io/input_files.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

constexpr char kEndOfInput = '\4';

struct RankOptions {
    OfferOptions offer;
    std::string prompts, output;
    std::vector<std::string> agreement;
};

// Single keys of a terminal, without waiting for a line's end; or the characters of a file.
class Keys {
public:
    bool asks() const { return terminal_; }

    // While it waits, Ctrl-C is a key, so that the terminal's mode is restored; otherwise it ends the program.
    char next() const {
        constexpr char kInterrupt = '\3';
        const Mode mode(terminal_);
        char key = kEndOfInput;
        if (::read(STDIN_FILENO, &key, 1) != 1 || key == kInterrupt) {
            return kEndOfInput;
        }
        return key == '\r' ? '\n' : key;
    }

private:
    class Mode {
    public:
        explicit Mode(bool terminal) : set_(terminal && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
            if (set_) {
                termios keys = before_;
                keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
                ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
            }
        }
        Mode(const Mode&) = delete;
        Mode& operator=(const Mode&) = delete;
        ~Mode() {
            if (set_) {
                ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
            }
        }

    private:
        termios before_{};
        bool set_;
    };

    bool terminal_ = ::isatty(STDIN_FILENO) == 1;
};

enum class Wish { Rated, Back, Skip, Quit };

class Rater {
public:
    Rater(const RankOptions& options, Offers& offers, RatingFile& file)
        : options_(options), offers_(offers), file_(file) {}

    // Until all prompts are rated or the user leaves.
    void run() {
        for (std::size_t i = 0; i < offers_.prompts(); ++i) {
            if (file_.has(offers_.key(i))) {
                continue;
            }
            const Responses responses = offers_.responses(i);
            if (responses.texts.size() < 2) {
                log_line(fmt::format("headscope: {}: all responses are the same, so there is nothing to rank",
                                     offers_.place(i)));
                ++skipped_;
                continue;
            }
            switch (rate(i, responses)) {
                case Wish::Rated: ++rated_; break;
                case Wish::Skip: ++skipped_; break;
                case Wish::Quit: return;
                case Wish::Back:
                    i = *offers_.find(file_.last()) - 1;  // again
                    file_.remove_last();
                    rated_ -= rated_ > 0 ? 1 : 0;
            }
        }
    }
    std::size_t rated() const { return rated_; }
    std::size_t skipped() const { return skipped_; }

private:
    Wish rate(std::size_t number, const Responses& responses) {
        std::string text = fmt::format("\n[{} of {}] ", number + 1, offers_.prompts());
        for (const ChatMessage& message : responses.prompt) {
            text += responses.plain ? message.content + "\n"
                                    : fmt::format("{}: {}\n", name_of(message.role), message.content);
        }
        for (std::size_t i = 0; i < responses.texts.size(); ++i) {
            text += fmt::format("\n  {}  {}", i + 1, responses.texts[i]);
        }
        say(text + "\n\n");
        RankingKeys ranking(responses.texts.size());
        while (!ranking.done()) {
            say("\r\x1b[K" + ranking.keys() + " ");
            const char key = keys_.next();
            if (key == kEndOfInput || key == 'q') {
                return Wish::Quit;
            }
            if (key == 's') {
                return Wish::Skip;
            }
            if (key == 'u' && ranking.empty() && !file_.empty() && offers_.find(file_.last())) {
                return Wish::Back;
            }
            if (!ranking.press(key) && !keys_.asks() && key != '\n' && key != ' ') {
                throw Error(fmt::format("'{}' is no key here: 1 to {}, =, u, s or q", key, responses.texts.size()));
            }
        }
        say("\r\x1b[K" + ranking.keys() + "\n");
        file_.add(offers_.key(number), ranked_line(responses, ranking.groups()));
        return Wish::Rated;
    }

    void say(const std::string& text) const {
        if (keys_.asks()) {
            write_output(text);
        }
    }

    const RankOptions& options_;
    Offers& offers_;
    RatingFile& file_;
    Keys keys_;
    std::size_t rated_ = 0, skipped_ = 0;
};

void rank(const RankOptions& options) {
    if (options.prompts.empty() || options.output.empty()) {
        throw UsageError("--prompts and --output are required, unless --agreement compares two files of ratings");
    }
    InputFiles inputs(options.offer.common.open.settings);
    inputs.add(options.prompts);
    inputs.refuse(options.output);
    RatingFile file(options.output);
    Offers offers(options.offer, options.prompts);
    if (::isatty(STDIN_FILENO) == 1) {
        write_output(
            "Best first: the number of a response, = before one that is as good as the last, Enter if the rest are\n"
            "equally bad; u takes back, s skips a prompt, q ends. Each rating is saved at once.\n");
    }
    Rater rater(options, offers, file);
    rater.run();
    const nlohmann::ordered_json json{{"rated", rater.rated()},
                                      {"skipped", rater.skipped()},
                                      {"ratings", file.size()},
                                      {"prompts", offers.prompts()},
                                      {"output", options.output}};
    write_output(options.offer.common.json
                     ? json_document(json)
                     : fmt::format("{}: {} of {}\n", options.output, file.size(), counted(offers.prompts(), "prompt")));
}

void compare_raters(const RankOptions& options) {
    std::vector<std::vector<Rating>> ratings;
    for (const std::string& file : options.agreement) {
        ratings.push_back(RatingFile(file, true).ratings());
        if (ratings.back().empty()) {
            throw Error(fmt::format("'{}' has no ratings", file));
        }
    }
    const RaterAgreement found = agreement_of(ratings[0], ratings[1]);
    if (!found.different.empty()) {
        throw Error(fmt::format(
            "{} other responses in '{}' than in '{}', the first is \"{}\": raters have to see the "
            "same ones (the same --seed, model and --prompts)",
            found.different.size() == 1 ? "a prompt has" : fmt::format("{} prompts have", found.different.size()),
            options.agreement[1], options.agreement[0], found.different.front()));
    }
    if (found.pairs == 0) {
        throw Error(fmt::format("'{}' and '{}' have no prompt in common", options.agreement[0], options.agreement[1]));
    }
    nlohmann::ordered_json json{{"prompts", found.prompts},
                                {"pairs", found.pairs},
                                {"equal", found.equal},
                                {"kappa", nullptr},
                                {"alone", found.alone.size()}};
    if (found.kappa) {
        json["kappa"] = *found.kappa;
    }
    write_output(
        options.offer.common.json
            ? json_document(json)
            : fmt::format("{}, {}: {:.1f} % equal, kappa {}{}\n", counted(found.prompts, "prompt"),
                          counted(found.pairs, "pair"), 100.0 * found.equal,
                          found.kappa ? fmt::format("{:.3f}", *found.kappa) : "undefined, as both always said the same",
                          found.alone.empty()
                              ? ""
                              : fmt::format("; {} rated by one alone", counted(found.alone.size(), "prompt"))));
}

}  // namespace

void add_rank_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<RankOptions>();
    options->offer.common.open = open_options;
    options->offer.common.bundled_model = kCausalModel;
    CLI::App* command =
        app.add_subcommand("rank", "Say which responses to a prompt are better")->group("Language models");
    command->footer(
        "Writes what `headscope train --task reward` and `--task dpo` read. Goes on where --output ends.\n\n"
        "Examples:\n"
        "  headscope rank --model out/sft --prompts prompts.jsonl --output ratings.jsonl\n"
        "  headscope rank --prompts ratings.jsonl --output other.jsonl\n"
        "  headscope rank --agreement ratings.jsonl other.jsonl");
    command->option_defaults()->group("Data");
    command
        ->add_option("--prompts", options->prompts,
                     "JSON Lines {\"prompt\": ..}; those with \"ranked\" or \"chosen\" offer these responses anew")
        ->type_name("FILE");
    command->add_option("-o,--output", options->output, "JSON Lines {\"prompt\": .., \"ranked\": [best, .., worst]}")
        ->type_name("FILE");
    command->add_option("--agreement", options->agreement, "Compare two files of ratings of the same responses")
        ->type_name("FILE")
        ->expected(2);
    CLI::Option* agreement = command->get_option("--agreement");
    add_response_template(*command, options->offer.chat_template);
    options->offer.common.add_models(*command);
    options->offer.common.add_device(*command);
    options->offer.common.add_precision(*command);
    command->option_defaults()->group("Decoding");
    command->add_option("--samples", options->offer.samples, "Responses to each prompt")
        ->check(whole_number(2, kMostRanked))
        ->capture_default_str();
    add_decoding_flags(*command, options->offer.choices,
                       {"max_extra", "temperature", "top_k", "top_p", "min_p", "seed", "stop", "min_length"},
                       kCompletes);
    command->get_option("--max-tokens")->default_str(std::to_string(kMostOffered));
    for (CLI::Option* other : command->get_options({})) {
        if (other != agreement && other->get_name() != "--help") {
            agreement->excludes(other);
        }
    }
    options->offer.common.add_json(*command);
    command->callback([options] { options->agreement.empty() ? rank(*options) : compare_raters(*options); });
}

}  // namespace headscope
