// Reinforcement learning on a model's own responses.
#include "train/rollouts.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/model_directory.h"
#include "tests/ops/devices.h"
#include "tests/train/responses_folder.h"
#include "train/advantages.h"
#include "train/dry_run.h"
#include "train/first_model.h"
#include "train/overfit.h"
#include "train/step_options.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// A base model, a reward model in folder/reward/model and prompts.
struct RolloutsFolder : ResponsesFolder {
    RolloutsFolder() {
        run_job(request(Task::Reward, "reward"), {});
        std::string prompts;
        for (int i = 0; i < 24; ++i) {
            prompts += fmt::format("{{\"prompt\": \"the dog {}\"}}\n", i);
        }
        write("prompts.jsonl", prompts);
    }

    TrainingRequest rollouts(const std::string& output, const json& options = json::object()) const {
        TrainingRequest made = request(Task::Ppo, output);
        made.texts.text = file("prompts.jsonl");
        made.adjust = [this, options, change = made.adjust](RunConfig& config) {
            change(config);
            config.set("validate_every", 0);
            config.set_at("data.reward", file("reward/model"));
            json all{{"prompts", 6}, {"epochs", 2}, {"minibatches", 2}, {"max_tokens", 5}, {"least_distinct", 0.0}};
            all.update(options);
            config.set_at("rollouts", all);
        };
        return made;
    }
};

// A training of its own steps, whose responses a rule judges.
class JudgedRun {
public:
    using Rule = std::function<double(const Response&)>;

    JudgedRun(const RolloutsFolder& folder, const json& options, std::int64_t seed, Rule rule,
              const std::string& device = "cpu")
        : backend_(open_device(device)),
          job_(request_of(folder, options, seed), [](const std::string&) {}),
          learner_(make_learner(*backend_, prepared(folder), job_.data(), {})),
          rule_(std::move(rule)) {
        load_first_model(learner_, job_.config(), folder.file("base/model"));
        rollouts_ =
            std::make_unique<Rollouts>(learner_, job_.config(), job_.data(),
                                       [this](const std::vector<Response>& responses) { return judged(responses); });
    }

    // The loss of the last of them.
    double take(std::int64_t steps) {
        const TrainingOptions& t = job_.config().training;
        double loss = 0.0;
        for (std::int64_t i = 0; i < steps; ++i) {
            const TrainingStep taken = rollouts_->next();
            ++step_;
            learner_.step(micro_batches(taken.examples, job_.data().frame, step_budget(t).padding(), part_budget(t)),
                          step_, job_.config().schedule(learner_.model_config())(step_, 0.0), taken.divisor);
            loss = learner_.take_history().back().loss / *taken.divisor;
        }
        return loss;
    }
    const Rollouts& rollouts() const { return *rollouts_; }
    // The ids of the newest responses with their prompts.
    const std::vector<std::vector<std::int32_t>>& newest() const { return newest_; }

private:
    const TrainConfig& prepared(const RolloutsFolder& folder) {
        job_.use(*backend_);
        job_.choose_config(folder.file("judged"));
        job_.prepare_data(folder.file("judged/tokenizer"));
        return job_.config();
    }

    std::vector<double> judged(const std::vector<Response>& responses) {
        std::vector<double> rewards;
        newest_.clear();
        for (const Response& response : responses) {
            rewards.push_back(rule_(response));
            newest_.push_back(response.example.target);
        }
        return rewards;
    }

    static TrainingRequest request_of(const RolloutsFolder& folder, const json& options, std::int64_t seed) {
        TrainingRequest request = folder.rollouts("judged", options);
        request.adjust = [seed, change = request.adjust](RunConfig& config) {
            change(config);
            config.set("seed", seed);
            config.set("learning_rate_scale", 0.4);
        };
        return request;
    }

    std::unique_ptr<Backend> backend_;
    TrainingJob job_;
    Learner learner_;
    Rule rule_;
    std::unique_ptr<Rollouts> rollouts_;
    std::int64_t step_ = 0;
    std::vector<std::vector<std::int32_t>> newest_;
};

constexpr std::int32_t kArms = 8;

double best_of_eight(const Response& response) {
    return static_cast<double>(response.example.target.back() % kArms) / (kArms - 1);
}

}  // namespace

TEST_CASE("rollouts that are stopped and resumed end with the weights of an uninterrupted training", "[rollouts]") {
    const RolloutsFolder folder;
    std::string said;
    const auto say = [&](const std::string& line) { said += line + "\n"; };
    const json adaptive{{"kl_target", 0.01}};
    CHECK(run_job(folder.rollouts("whole", adaptive), {.say = say}).step ==
          8);  // 7, and the rest of the second rollout
    CHECK_THAT(said, Contains("24 prompts"));
    CHECK(run_job(folder.rollouts("broken", adaptive), {.stop_requested = stop_after(2)}).end == RunEnd::Stopped);
    TrainingRequest more{.config = RunConfig::of_run(folder.file("broken")), .output = folder.file("broken")};
    more.resume = true;
    CHECK(run_job(std::move(more), {.say = say}).step == 8);
    CHECK_THAT(said, Contains("resuming after step 4"));
    const auto backend = open_device("cpu");
    CHECK(weights_of_model(*backend, folder.file("broken/model")) ==
          weights_of_model(*backend, folder.file("whole/model")));
    CHECK(weights_of_model(*backend, folder.file("whole/model")) !=
          weights_of_model(*backend, folder.file("base/model")));
    const json report = logged(folder.file("whole"), "train").back();
    CHECK(report["learning_rate"] > 0.0);
    CHECK(report["kl_weight"] != 0.05);
    for (const char* measure : {"reward", "kl", "length", "distinct", "cut", "clipped", "value_loss"}) {
        INFO(measure);
        CHECK(report.contains(measure));
    }
}

TEST_CASE("of eight arms the best one is found", "[rollouts]") {
    const RolloutsFolder folder;
    const std::int64_t seed = GENERATE(range(1, 11));
    json options = GENERATE(json{{"advantage", "gae"}}, json{{"advantage", "leave_one_out"}, {"samples", 4}});
    INFO(options.dump() << " seed " << seed);
    options.update({{"max_tokens", 1}, {"prompts", 32}, {"kl", 0.0}, {"missing_end_penalty", 0.0}});
    JudgedRun run(folder, options, seed, best_of_eight);
    run.take(200);
    const auto best = std::ranges::count_if(
        run.newest(), [](const std::vector<std::int32_t>& ids) { return ids.back() % kArms == kArms - 1; });
    CHECK(static_cast<double>(best) / static_cast<double>(run.newest().size()) >= 0.95);
}

TEST_CASE("a rule with a hole collapses the responses, which ends the training", "[rollouts]") {
    const RolloutsFolder folder;
    const json options{{"max_tokens", 6}, {"prompts", 24}, {"kl", 0.0}, {"least_distinct", 0.5}};
    JudgedRun run(folder, options, 1, [](const Response& response) {  // a polite word is worth more the more often
        return static_cast<double>(std::ranges::count(response.example.target, 20));
    });
    CHECK_THROWS_WITH(run.take(1000), Contains("the model has collapsed") && Contains("\"rollouts.kl\""));
}

TEST_CASE("a reward that is not finite names the response and its prompt", "[rollouts]") {
    const RolloutsFolder folder;
    JudgedRun run(folder, json::object(), 1,
                  [](const Response& response) { return response.prompt == 3 ? std::nan("") : 0.0; });
    CHECK_THROWS_WITH(run.take(16), Contains("a response to prompt 4, is nan") && Contains("the reward of \""));
}

TEST_CASE("the price of leaving the reference follows its target", "[rollouts]") {
    const RolloutsFolder folder;
    const json options{{"max_tokens", 4}, {"prompts", 24}, {"kl", 0.1}, {"kl_target", 0.01}};
    JudgedRun run(folder, options, 1, best_of_eight);
    double before = 0.1;
    for (int rollout = 0; rollout < 6; ++rollout) {
        run.take(4);
        const std::map<std::string, double> measures = run.rollouts().measures();
        CHECK(measures.at("kl_weight") == before);
        CHECK(measures.at("kl_k3") >= 0.0);
        before = run.rollouts().state().at("kl_weight").get<double>();
        CHECK(before == adapted_weight(measures.at("kl_weight"), measures.at("kl"), 0.01));
    }
    CHECK(before > 0.1);
}

TEST_CASE("a model that moves too far ends its rollout", "[rollouts]") {
    const RolloutsFolder folder;
    json options{{"max_tokens", 4}, {"prompts", 24}, {"kl", 0.0}, {"epochs", 8}};
    const auto rollouts_of = [&](const json& changed) {
        JudgedRun run(folder, changed, 1, best_of_eight);
        run.take(16);
        return run.rollouts().state().at("rollout").get<int>();
    };
    CHECK(rollouts_of(options) == 1);
    options["most_kl"] = 1e-7;
    CHECK(rollouts_of(options) > 1);
    options.update({{"epochs", 2}, {"most_kl", 1e-9}});
    CHECK(run_job(folder.rollouts("ended", options), {}).end == RunEnd::Finished);
    CHECK(logged(folder.file("ended"), "train").back()["step"] <= 11);
}

TEST_CASE("every device samples the same responses and takes the same steps", "[rollouts]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const RolloutsFolder folder;
    const json options{{"max_tokens", 8}, {"prompts", 64}};
    JudgedRun here(folder, options, 1, best_of_eight);
    JudgedRun there(folder, options, 1, best_of_eight, device);
    for (int step = 0; step < 20; ++step) {
        INFO("step " << step);
        CHECK(there.take(1) == Approx(here.take(1)).margin(1e-3));
        CHECK(there.newest() == here.newest());
    }
}

TEST_CASE("rehearsals of preferences and rollouts take their steps, and run no reference", "[rollouts]") {
    const RolloutsFolder folder;
    const std::string form = GENERATE("dpo", "reward", "gae", "leave_one_out");
    INFO(form);
    const bool rolls_out = form == "gae" || form == "leave_one_out";
    TrainingRequest request = rolls_out ? folder.rollouts("rehearsed", {{"advantage", form}, {"samples", 2}})
                                        : folder.request(form == "dpo" ? Task::Dpo : Task::Reward, "rehearsed");
    const auto backend = open_device("cpu");
    std::string said;
    TrainingJob job(std::move(request), [&](const std::string& line) { said += line + "\n"; });
    job.use(*backend);
    job.choose_config(folder.file("rehearsed"));
    job.prepare_data(folder.file("rehearsed/tokenizer"));
    const DescribedTraining described = describe_training(*backend, job.config(), &job.data(), "rehearsed");
    CHECK_THAT(said, !Contains("log-probabilities"));
    CHECK(described.bytes > 0);
    CHECK(described.seconds_per_step > 0.0);
    CHECK(std::isfinite(described.steps_per_epoch));
    if (rolls_out) {
        CHECK_THAT(described.text, Contains("steps: 4 after each rollout of 12 responses, 6 in each"));
        CHECK(described.steps_per_epoch == 16.0);
    }
    const auto line = described.text.find("reference, reward model and model of values");
    CHECK((line != std::string::npos) == (form == "gae"));
    CHECK((described.text.find("reference and reward model") != std::string::npos) == (form == "leave_one_out"));
}

TEST_CASE("corpora of prompts have no weights", "[rollouts]") {
    const RolloutsFolder folder;
    TrainingRequest request = folder.rollouts("weighed");
    request.adjust = [change = request.adjust](RunConfig& config) {
        change(config);
        config.set_at("data.train.weight", 2);
    };
    CHECK_THROWS_WITH(run_job(std::move(request), {}), Contains("\"weight\" of a corpus must be 1 for rollouts"));
}

TEST_CASE("one batch of rollouts cannot be overfitted", "[rollouts]") {
    const RolloutsFolder folder;
    const auto backend = open_device("cpu");
    TrainingJob job(folder.rollouts("overfitted"), [](const std::string&) {});
    job.use(*backend);
    job.choose_config(folder.file("overfitted"));
    job.prepare_data(folder.file("overfitted/tokenizer"));
    CHECK_THROWS_WITH(overfit_one_batch(*backend, job.config(), job.data(), folder.file("base/model"), 3, {}),
                      Contains("whose texts have no labels"));
}

TEST_CASE("rollouts refuse what they cannot use", "[rollouts]") {
    const RolloutsFolder folder;
    const auto refused = [&](const json& options) {
        static int number = 0;
        run_job(folder.rollouts(fmt::format("refused{}", ++number), options), {});
    };
    CHECK_THROWS_WITH(refused({{"advantage", "leave_one_out"}}), Contains("\"rollouts.samples\" must be at least 2"));
    CHECK_THROWS_WITH(refused({{"minibatches", 7}}), Contains("must be at most the responses of a rollout (6)"));
    CHECK_THROWS_WITH(refused({{"max_tokens", 40}}), Contains("leaves no room for a prompt"));
    CHECK_THROWS_WITH(refused({{"clipp", 1}}), Contains("clipp"));
    TrainingRequest any_batch = folder.rollouts("any_batch");
    any_batch.adjust = [change = any_batch.adjust](RunConfig& config) {
        change(config);
        config.set_by("--batch", "training.source_tokens", "auto");
        config.set_by("--batch", "training.target_tokens", "auto");
    };
    CHECK_THROWS_WITH(run_job(std::move(any_batch), {}),
                      Contains("(--batch) cannot be \"auto\"") && Contains("\"rollouts.minibatches\""));
    CHECK_THROWS_WITH(refused({{"least_distinct", 1.0}, {"max_tokens", 1}, {"prompts", 24}}),
                      Contains("\"rollouts.least_distinct\""));
    TrainingRequest vocabulary = folder.rollouts("vocabulary");
    vocabulary.adjust = [&folder, change = vocabulary.adjust](RunConfig& config) {
        change(config);
        config.set_at("data.reward", folder.file("base/model"));
    };
    CHECK_THROWS_WITH(run_job(std::move(vocabulary), {}), Contains("gives no scores") && Contains("--task reward"));
}
