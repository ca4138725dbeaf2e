// A small base model with files of responses, and trainings that go on with it.
#pragma once

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "tests/train/digits_run.h"
#include "train/text_tasks.h"
#include "train/training_job.h"

namespace headscope {

// A model of a few steps in folder/base, and files of responses to 60 prompts.
struct ResponsesFolder : TemporaryFolder {
    ResponsesFolder() {
        std::string text, pairs, ranked;
        for (const TextTaskLine& line : make_cloze_task(60, 1)) {
            text += line.text + "\n";
            const std::string prompt = line.text.substr(0, line.text.rfind(' '));
            const std::string end = line.text.substr(line.text.rfind(' ') + 1);
            pairs += fmt::format("{{\"prompt\": \"{}\", \"response\": \"{}\"}}\n", prompt, end);
            ranked += fmt::format(
                "{{\"prompt\": \"{}\", \"ranked\": [\"{}\", [\"the dogs\", \"a cat\"], \"the the the\"]}}\n", prompt,
                end);
        }
        write("text.txt", text);
        write("pairs.jsonl", pairs);
        write("ranked.jsonl", ranked);
        DigitsRun base(*this, nlohmann::json::parse(R"({
            "task": "causal",
            "model": {"decoder_layers": 1, "d_model": 16, "d_ff": 32, "heads": 2, "norm": "pre", "max_length": 32},
            "data": {"train": {"text": "text.txt"}},
            "tokenizer": {"type": "bpe", "vocabulary": 60},
            "training": {"steps": 3, "source_tokens": 256, "target_tokens": 256, "warmup_steps": 10, "max_length": 32,
                         "checkpoint_every": 10}
        })"),
                       "base");
        base.start().train();
        base.training->write_model(file("base/model"));
    }

    TrainingRequest request(Task task, const std::string& output) const {
        TrainingRequest request{.output = file(output), .from = file("base/model")};
        request.texts.text = file(traits(task).compares ? "ranked.jsonl" : "pairs.jsonl");
        request.texts.task = task;
        request.adjust = [](RunConfig& config) {
            for (const char* key : {"source_tokens", "target_tokens"}) {
                config.set(key, 256);
            }
            config.unset("epochs");
            config.set("steps", 7);
            config.set("report_every", 2);
            config.set("validate_every", 3);
            config.set("checkpoint_every", 2);
            config.set("save", "f32");
            config.set("tensorboard", true);
        };
        return request;
    }
};

inline TrainingResult run_job(TrainingRequest request, RunHooks hooks) {
    std::unique_ptr<Backend> backend;
    TrainingJob job(std::move(request), hooks.say);
    return job.run(
        [&]() -> Backend& {
            backend = open_device("cpu");
            return *backend;
        },
        [&](Backend&) { return hooks; });
}

}  // namespace headscope
