// headscope make-task preferences: answers that are judged by hidden rules, for each stage of alignment.
#include "cli/train/preferences_command.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/written_record.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/terminal.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"
#include "train/preferences_task.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct PreferencesOptions {
    CommonOptions common;
    std::string output, rate;
    std::int64_t questions = 2'500, test = 500;
    std::uint64_t seed = 1;
};

struct TaskFile {
    const char* name;
    bool of_test;
    std::string (*line)(const PreferenceExample& example);
};

Json ranked_of(const PreferenceExample& example) {
    Json ranked = Json::array();
    for (const std::vector<std::string>& group : example.ranked) {
        ranked.push_back(group.size() == 1 ? Json(group.front()) : Json(group));
    }
    return {{"prompt", example.prompt}, {"ranked", std::move(ranked)}};
}

// A question with each of its ranked answers, none of which is better in this text.
std::string text_of(const PreferenceExample& example) {
    std::string text;
    for (const std::vector<std::string>& group : example.ranked) {
        for (const std::string& answer : group) {
            text += fmt::format("{}{} {}", text.empty() ? "" : "\n", example.prompt, answer);
        }
    }
    return text;
}

constexpr TaskFile kFiles[] = {
    {"text.txt", false, text_of},
    {"sft.jsonl", false,
     [](const PreferenceExample& one) {
         return Json{{"prompt", one.prompt}, {"response", one.response}}.dump();
     }},
    {"ranked.jsonl", false, [](const PreferenceExample& one) { return ranked_of(one).dump(); }},
    {"prompts.jsonl", false,
     [](const PreferenceExample& one) {
         return Json{{"prompt", one.prompt}}.dump();
     }},
    {"test.jsonl", true, [](const PreferenceExample& one) { return ranked_of(one).dump(); }},
    {"test-prompts.txt", true, [](const PreferenceExample& one) { return one.prompt; }},
};

void make_preferences(const PreferencesOptions& options) {
    const std::vector<PreferenceExample> examples =
        make_preferences_task(options.questions + options.test, options.seed);
    std::vector<std::string> names;
    for (const TaskFile& file : kFiles) {
        names.emplace_back(file.name);
    }
    const WrittenRecord record(options.output);
    record.require_own(names);
    MadeFolder made(options.output);
    std::vector<std::unique_ptr<AtomicFile>> files;
    std::vector<AtomicFile*> all;
    std::vector<std::int64_t> lines;
    std::string said;
    for (const TaskFile& file : kFiles) {
        files.push_back(std::make_unique<AtomicFile>((fs::path(options.output) / file.name).string()));
        all.push_back(files.back().get());
        const auto first = file.of_test ? examples.begin() + options.questions : examples.begin();
        const auto last = file.of_test ? examples.end() : examples.begin() + options.questions;
        std::string text;
        for (auto one = first; one != last; ++one) {
            text += file.line(*one) + "\n";
        }
        files.back()->write(text);
        lines.push_back(std::ranges::count(text, '\n'));
        said +=
            fmt::format("{}: {}\n", files.back()->path(), counted(static_cast<std::size_t>(last - first), "question"));
    }
    record.commit(all);
    made.keep();
    Json json = Json::array();
    for (std::size_t i = 0; i < files.size(); ++i) {
        json.push_back(written_file(files[i]->path()));
        json.back()["lines"] = lines[i];
    }
    write_output(options.common.json ? json_document({{"files", json}}) : said);
}

// Of what `headscope complete --json` wrote.
void rate(const PreferencesOptions& options) {
    std::int64_t count = 0, polite = 0, clean = 0, brief = 0, good = 0;
    std::set<std::string> different;
    LineReader lines(options.rate);
    for (std::string line; lines.next(line);) {
        const Json parsed = Json::parse(line, nullptr, false);
        if (!parsed.is_object() || !parsed.contains("completion") || !parsed["completion"].is_string()) {
            throw Error(fmt::format("{} line {}: expected what `headscope complete --json` writes, with \"completion\"",
                                    lines.name(), lines.number()));
        }
        const auto answer = parsed["completion"].get<std::string>();
        const AnswerRules rules = rules_of(answer);
        ++count;
        polite += rules.polite ? 1 : 0;
        clean += rules.clean ? 1 : 0;
        brief += rules.brief ? 1 : 0;
        good += rules.kept() == 3 ? 1 : 0;
        different.insert(answer);
    }
    if (count == 0) {
        throw Error(fmt::format("'{}' has no answers", options.rate));
    }
    const auto share = [&](std::int64_t part) { return static_cast<double>(part) / static_cast<double>(count); };
    const double distinct = share(static_cast<std::int64_t>(different.size()));
    write_output(options.common.json
                     ? json_document({{"answers", count},
                                      {"all_rules", share(good)},
                                      {"polite", share(polite)},
                                      {"clean", share(clean)},
                                      {"brief", share(brief)},
                                      {"distinct", distinct}})
                     : fmt::format("{}: {:.1f} % keep all rules ({:.1f} % polite, {:.1f} % clean, {:.1f} % brief), "
                                   "{:.1f} % are different\n",
                                   counted(static_cast<std::size_t>(count), "answer"), 100.0 * share(good),
                                   100.0 * share(polite), 100.0 * share(clean), 100.0 * share(brief),
                                   100.0 * distinct));
}

}  // namespace

void add_preferences_task(CLI::App& make_task) {
    auto options = std::make_shared<PreferencesOptions>();
    CLI::App* task = make_task.add_subcommand(
        "preferences", "Questions with answers that keep hidden rules or not, for sft, reward, dpo and ppo");
    task->footer(
        "An answer should end politely (thanks, please, sir), avoid four words (maybe, whatever, dunno, stuff) and\n"
        "have 4 to 8 words. About half of the demonstrations in sft.jsonl keep all three rules.\n\n"
        "Examples:\n"
        "  headscope make-task preferences --output data/preferences\n"
        "  headscope train --text data/preferences/text.txt --output out/base\n"
        "  headscope train --task sft --from out/base --text data/preferences/sft.jsonl --output out/sft\n"
        "  headscope complete --model out/sft --sample --json --file data/preferences/test-prompts.txt > "
        "answers.jsonl\n"
        "  headscope make-task preferences --rate answers.jsonl");
    auto* output = task->add_option("-o,--output", options->output,
                                    "For text.txt, sft.jsonl, ranked.jsonl, prompts.jsonl, test.jsonl and "
                                    "test-prompts.txt; replaces only files that it generated")
                       ->type_name("FOLDER")
                       ->group("Output");
    task->add_option("--rate", options->rate, "Say how many answers keep the rules, of a file of complete --json")
        ->type_name("FILE")
        ->excludes(output)
        ->group("Output");
    options->common.add_json(*task);
    task->option_defaults()->group("Sizes");
    task->add_option("--questions", options->questions, "Training questions")
        ->check(whole_number(1, 100'000))
        ->capture_default_str();
    task->add_option("--test", options->test, "Test questions")->check(whole_number(0, 100'000))->capture_default_str();
    task->add_option("--seed", options->seed, "Random seed")->check(seed_number())->capture_default_str();
    task->callback([options] {
        if (options->output.empty() && options->rate.empty()) {
            throw UsageError("name a folder with --output, or answers to rate with --rate");
        }
        options->rate.empty() ? make_preferences(*options) : rate(*options);
    });
}

}  // namespace headscope
