// headscope make-task: small tasks with a known answer, to prove that training works.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/train/pairs_output.h"
#include "cli/train/preferences_command.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "paint/png.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/digits_task.h"
#include "train/shapes_task.h"
#include "train/text_tasks.h"

namespace headscope {
namespace {

struct TaskOptions {
    CommonOptions common;
    std::string output;
    std::int64_t train = 20'000;
    std::int64_t valid = 200;
    std::int64_t test = 500;
    std::uint64_t seed = 1;

    std::int64_t all() const { return train + valid + test; }
    // The examples do not repeat, so that the parts cannot share one.
    Part part_of(std::int64_t example) const {
        return example < train ? Part::Train : example < train + valid ? Part::Valid : Part::Test;
    }
};

void commit_and_say(PairsOutput& output, const TaskOptions& options, const char* what) {
    output.commit();
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    std::string text;
    for (const Part part : {Part::Train, Part::Valid, Part::Test}) {
        files.push_back(written_file(output.path(part)));
        files.back()["lines"] = output.count(part);
        text += fmt::format("{}: {}\n", output.path(part), counted(output.count(part), what));
    }
    write_output(options.common.json ? json_document({{"files", files}}) : text);
}

void make_digits(const TaskOptions& options) {
    const auto numbers = make_digits_task(options.all(), options.seed);
    require_replaceable_pairs(options.output, {});
    PairsOutput output(options.output);
    std::int64_t done = 0;
    for (const DigitsPair& number : numbers) {
        output.write(options.part_of(done++), number.digits, number.words);
    }
    commit_and_say(output, options, "pair");
}

// Names of pictures are those that this folder has for the command, so that training finds them from the same place.
std::string write_shapes_picture(const std::string& folder, std::int64_t number, const ShapesPicture& picture) {
    Bitmap bitmap{kShapesSide, kShapesSide, {}};
    for (std::size_t at = 0; at < picture.pixels.size(); at += 3) {
        bitmap.rgba.insert(bitmap.rgba.end(),
                           {picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2], 255});
    }
    std::string path = (std::filesystem::path(folder) / fmt::format("{:06}.png", number)).string();
    atomic_write_file(path, to_png(bitmap));
    return path;
}

void make_shapes(const TaskOptions& options) {
    require_replaceable_pairs(options.output, {});
    PairsOutput output(options.output);
    const std::filesystem::path folder = std::filesystem::path(options.output) / "pictures";
    if (std::filesystem::exists(folder) && !std::filesystem::exists(output.path(Part::Train))) {
        throw Error(
            fmt::format("'{}' exists, but not the files that this command writes beside it: choose another "
                        "folder",
                        folder.string()));
    }
    MadeFolder pictures(folder.string());
    std::int64_t done = 0;
    for (const ShapesPicture& picture : make_shapes_task(options.all(), options.seed)) {
        output.write(options.part_of(done), write_shapes_picture(folder.string(), done + 1, picture), picture.caption);
        ++done;
    }
    commit_and_say(output, options, "pair");
    pictures.keep();
}

using MakeText = std::vector<TextTaskLine> (*)(std::int64_t lines, std::uint64_t seed);

void make_text(const TaskOptions& options, MakeText make) {
    constexpr PartNames kNames = {"train.txt", "valid.txt", "test.tsv"};
    const std::vector<TextTaskLine> lines = make(options.all(), options.seed);
    require_replaceable_pairs(options.output, {}, kNames);
    PairsOutput output(options.output, kNames);
    std::int64_t done = 0;
    for (const TextTaskLine& line : lines) {
        const Part part = options.part_of(done++);
        if (part == Part::Test) {
            output.write(part, line.prompt, line.answer);
        } else {
            output.write(part, line.text);
        }
    }
    commit_and_say(output, options, "line");
}

// A subcommand that generates one of the tasks.
CLI::App* add_task(CLI::App& command, const char* name, const char* description, const char* what,
                   const std::shared_ptr<TaskOptions>& options) {
    CLI::App* task = command.add_subcommand(name, description);
    task->add_option("-o,--output", options->output,
                     fmt::format("For {}; replaces only files that it generated",
                                 what == std::string("pairs") ? "train.tsv, valid.tsv and test.tsv"
                                                              : "train.txt, valid.txt and test.tsv"))
        ->type_name("FOLDER")
        ->group("Output")
        ->required();
    options->common.add_json(*task);
    task->option_defaults()->group("Sizes");
    task->add_option(fmt::format("--{}", what), options->train, fmt::format("Training {}", what))
        ->check(whole_number(1, 900'000))
        ->capture_default_str();
    task->add_option("--valid", options->valid, fmt::format("Validation {}", what))
        ->check(whole_number(0, 50'000))
        ->capture_default_str();
    task->add_option("--test", options->test, fmt::format("Test {}", what))
        ->check(whole_number(0, 50'000))
        ->capture_default_str();
    task->add_option("--seed", options->seed, "Random seed")->check(seed_number())->capture_default_str();
    return task;
}

void add_text_task(CLI::App& command, const char* name, const char* description, MakeText make, std::int64_t lines) {
    auto options = std::make_shared<TaskOptions>();
    options->train = lines;
    CLI::App* task = add_task(command, name, description, "lines", options);
    task->footer(
        fmt::format("test.tsv holds questions and their answers.\n\nExample:\n"
                    "  headscope make-task {0} --output data/{0}\n"
                    "  headscope train {0} --data data/{0} --output out/{0}",
                    name));
    task->callback([options, make] { make_text(*options, make); });
}

}  // namespace

void add_make_task_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("make-task", "Generate a small task with a known answer")->group("Train");
    command->require_subcommand(1);
    command->footer("Example:\n  headscope make-task digits --output data/digits");
    auto options = std::make_shared<TaskOptions>();
    CLI::App* digits = add_task(
        *command, "digits", "Numbers in digits to German words: 1 7 4 2, eintausendsiebenhundert...", "pairs", options);
    digits->footer(
        "Example:\n  headscope make-task digits --output data/digits\n"
        "  headscope train digits --data data/digits --output out/digits");
    digits->callback([options] { make_digits(*options); });
    auto of_shapes = std::make_shared<TaskOptions>();
    of_shapes->train = 8'000;
    CLI::App* shapes =
        add_task(*command, "shapes", "Pictures and captions: a red circle left of a blue square", "pairs", of_shapes);
    shapes->footer(
        "The pictures are PNG files in FOLDER/pictures, which the pairs name as seen from this folder.\n\n"
        "Example:\n  headscope make-task shapes --output data/shapes\n"
        "  headscope train shapes --data data/shapes --output out/shapes");
    shapes->callback([of_shapes] { make_shapes(*of_shapes); });
    add_text_task(*command, "brackets", "For causal models: balanced brackets, ( [ ] { } )", make_brackets_task,
                  20'000);
    add_text_task(*command, "cloze", "For masked models: the dogs near the cat <mask> loudly", make_cloze_task, 8'000);
    add_preferences_task(*command);
}

}  // namespace headscope
