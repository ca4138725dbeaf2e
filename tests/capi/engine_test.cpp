// Engines, models and requests: how they begin, wait and end.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/capi/handles.h"

using namespace headscope_tests;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

Engine engine_on_cpu(const json& more = json::object()) {
    json options{{"devices", {"cpu"}}};
    options.update(more);
    Engine engine;
    REQUIRE(hs_engine_open(HS_ABI, Options(options).get(), nullptr, nullptr, &engine, nullptr) == HS_OK);
    return engine;
}

std::string refused_engine(std::uint32_t abi, const json& options, hs_status wanted) {
    Engine engine;
    Problem problem;
    CHECK(hs_engine_open(abi, Options(options).get(), nullptr, nullptr, &engine, &problem) == wanted);
    CHECK(engine.get() == nullptr);
    return message_of(problem);
}

const Texts kLong(64, "It is a very long story, which nobody wants to hear, and which we tell all the same.");

}  // namespace

TEST_CASE("the library says what it is, and which devices and models there are") {
    CHECK(hs_version() == HS_VERSION);
    Buffer about;
    REQUIRE(hs_about(&about, nullptr) == HS_OK);
    CHECK(json_of(about).at("abi") == HS_ABI);
    Buffer devices;
    REQUIRE(hs_devices(nullptr, &devices, nullptr) == HS_OK);
    CHECK(json_of(devices).back().at("id") == "cpu");
    Buffer models;
    REQUIRE(hs_models(chosen({{"path", {HEADSCOPE_SOURCE_DIR "/assets"}}}).get(), &models, nullptr) == HS_OK);
    CHECK(json_of(models).size() >= 3);
    CHECK(hs_about(nullptr, nullptr) == HS_INVALID);
}

TEST_CASE("an engine refuses a newer header, unknown devices and settings") {
    CHECK_THAT(refused_engine(HS_ABI + 1, json::object(), HS_UNSUPPORTED), Contains("install a newer libheadscope"));
    CHECK_THAT(refused_engine(HS_ABI, {{"devices", {"gpu"}}}, HS_DEVICE), Contains("gpu"));
    CHECK_THAT(refused_engine(HS_ABI, {{"settings", {{"HEADSCOPE_THREADS", 2}}}}, HS_INVALID), Contains("has texts"));
    Problem problem;
    const Options settings(json::object());
    CHECK(hs_options_set_json(settings.get(), "settings", text(R"({"HEADSCOPE_THREAD": "2"})"), &problem) ==
          HS_INVALID);
    CHECK_THAT(message_of(problem), Contains("has no \"HEADSCOPE_THREAD\": did you mean \"HEADSCOPE_THREADS\"?"));
}

TEST_CASE("a model that is not there is named with where it was looked for") {
    Model model;
    Problem problem;
    const hs_text place = text("en-fr");
    CHECK(hs_model_open(shared_engine(), &place, 1, chosen({{"path", {HEADSCOPE_SOURCE_DIR "/assets"}}}).get(), &model,
                        &problem) == HS_NOT_FOUND);
    CHECK_THAT(message_of(problem), Contains("en-fr") && Contains("assets/models") && Contains("docs/importing.md"));
    const std::pair<const char*, const char*> known[] = {
        {"gpt2", "hf download openai-community/gpt2 --local-dir gpt2"},
        {"Helsinki-NLP/opus-mt-en-de", "hf download Helsinki-NLP/opus-mt-en-de --local-dir opus-mt-en-de"}};
    for (const auto& [wanted, command] : known) {
        const hs_text other = text(wanted);
        Problem unknown;
        CHECK(hs_model_open(shared_engine(), &other, 1, nullptr, &model, &unknown) == HS_NOT_FOUND);
        CHECK_THAT(message_of(unknown), Contains("Nothing is downloaded") && Contains(command));
    }
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headscope-capi-no-model";
    std::filesystem::create_directory(folder);
    const std::string name = folder.string();
    const hs_text empty = text(name);
    Problem nothing;
    CHECK(hs_model_open(shared_engine(), &empty, 1, nullptr, &model, &nothing) == HS_NOT_FOUND);
    CHECK_THAT(message_of(nothing), Contains(name) && Contains("config.json") && Contains(".gguf") &&
                                        Contains("docs/importing.md lists those that open"));
    std::filesystem::remove(folder);
    CHECK(hs_model_open(shared_engine(), nullptr, 0, nullptr, &model, nullptr) == HS_INVALID);
    CHECK(hs_model_open(nullptr, &place, 1, nullptr, &model, nullptr) == HS_INVALID);
}

TEST_CASE("a model tells its family and sites, and is unloaded and loaded") {
    const Engine engine = engine_on_cpu();
    const Model model = opened("en-de", engine.get());
    Buffer info;
    REQUIRE(hs_model_info(model.get(), &info, nullptr) == HS_OK);
    CHECK(json_of(info).at("family") == "encoder-decoder");
    CHECK(json_of(info).at("sites").size() > 100);
    REQUIRE(hs_model_unload(model.get(), nullptr) == HS_OK);
    const Asked refused = submit(model, HS_TRANSLATE, {"a"});
    Result none;
    CHECK(hs_request_wait(refused.request.get(), -1, &none, nullptr) == HS_CLOSED);
    REQUIRE(hs_model_load(model.get(), nullptr) == HS_OK);
    CHECK(first_text(result_of(submit(model, HS_TRANSLATE, {"The cat sleeps."}))) == "Die Katze schläft.");
    Buffer statistics;
    REQUIRE(hs_engine_statistics(engine.get(), &statistics, nullptr) == HS_OK);
    CHECK(json_of(statistics).at("requests").at("answered") == 1);
}

TEST_CASE("a wait can be short, a request cancelled, and a deadline missed") {
    const Model model = opened("en-de");
    const Asked asked = submit(model, HS_TRANSLATE, kLong);
    Result result;
    CHECK(hs_request_wait(asked.request.get(), 0, &result, nullptr) == HS_AGAIN);
    hs_request_cancel(asked.request.get());
    Problem problem;
    CHECK(hs_request_wait(asked.request.get(), -1, &result, &problem) == HS_CANCELLED);
    CHECK(hs_error_status(problem.get()) == HS_CANCELLED);
    CHECK(hs_request_wait(asked.request.get(), -1, &result, nullptr) == HS_CANCELLED);
    const Asked late = submit(model, HS_TRANSLATE, kLong, {{"timeout", 0.01}});
    CHECK(hs_request_wait(late.request.get(), -1, &result, nullptr) == HS_DEADLINE);
}

TEST_CASE("a result can be had again, and outlives its request, model and engine") {
    Result result, again;
    {
        const Engine engine = engine_on_cpu();
        const Model model = opened("en-de", engine.get());
        const Asked asked = submit(model, HS_TRANSLATE, {"The cat sleeps."});
        REQUIRE(hs_request_wait(asked.request.get(), -1, &result, nullptr) == HS_OK);
        REQUIRE(hs_request_wait(asked.request.get(), 0, &again, nullptr) == HS_OK);
    }
    CHECK(first_text(result) == "Die Katze schläft.");
    CHECK(hs_result_text(result.get(), 0, 0).data == hs_result_text(again.get(), 0, 0).data);
}

TEST_CASE("done is called once, also if it is set after the end") {
    const Model model = opened("en-de");
    for (const bool late : {false, true}) {
        std::atomic<int> calls = 0;
        const auto count = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
        const Asked asked = submit(model, HS_TRANSLATE, {"The cat sleeps."});
        Result result;
        if (late) {
            REQUIRE(hs_request_wait(asked.request.get(), -1, &result, nullptr) == HS_OK);
        }
        REQUIRE(hs_request_on_done(asked.request.get(), count, &calls, nullptr) == HS_OK);
        for (int i = 0; i < 1000 && calls == 0; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        CHECK(calls == 1);
    }
}

TEST_CASE("closing an engine cancels requests, for which threads wait") {
    Engine engine = engine_on_cpu();
    const Model model = opened("en-de", engine.get());
    const Asked asked = submit(model, HS_TRANSLATE, kLong);
    REQUIRE(asked.status == HS_OK);
    hs_status status = HS_OK;
    std::thread waiting([&] {
        Result result;
        status = hs_request_wait(asked.request.get(), -1, &result, nullptr);
    });
    engine.reset();
    waiting.join();
    CHECK(status == HS_CANCELLED);
    CHECK(submit(model, HS_TRANSLATE, {"a"}).status == HS_CLOSED);
}

TEST_CASE("a drained engine finishes and takes no more") {
    const Engine engine = engine_on_cpu();
    const Model model = opened("en-de", engine.get());
    const Asked asked = submit(model, HS_TRANSLATE, {"The cat sleeps."});
    CHECK(hs_engine_drain(engine.get(), -1, nullptr) == HS_OK);
    CHECK(first_text(result_of(asked)) == "Die Katze schläft.");
    CHECK(submit(model, HS_TRANSLATE, {"a"}).status == HS_CLOSED);
}

TEST_CASE("an engine with enough to do is busy, and says until when") {
    const Engine engine = engine_on_cpu({{"max_requests", 1}});
    const Model model = opened("en-de", engine.get());
    const Asked first = submit(model, HS_TRANSLATE, {kLong.front()}, {{"stream", true}});
    const hs_text input = text("a");
    Request request;
    Problem problem;
    CHECK(hs_submit(model.get(), HS_TRANSLATE, &input, nullptr, 1, nullptr, &request, &problem) == HS_BUSY);
    CHECK(hs_error_retry_after(problem.get()) >= 0.0);
    const Texts two{kLong.front(), kLong.front()};
    CHECK(submit(model, HS_TRANSLATE, two).status == HS_BUSY);
    CHECK(submit(model, HS_ATTEND, two).status == HS_INVALID);  // never at a time
    CHECK(hs_result_count(result_of(first).get()) == 1);
}

TEST_CASE("work that could not be asked for as a whole is not done") {
    const Engine engine = engine_on_cpu({{"max_requests", 3}});
    const Model model = opened("en-de", engine.get());
    const Asked first = submit(model, HS_TRANSLATE, {kLong.front()}, {{"stream", true}});
    CHECK(submit(model, HS_ATTEND, {kLong.begin(), kLong.begin() + 3}).status == HS_BUSY);
    result_of(first);
    CHECK(hs_result_count(result_of(submit(model, HS_ATTEND, {"a", "b", "c"})).get()) == 3);
}

TEST_CASE("after fork() the child is told so, and frees without waiting") {
    Engine engine = engine_on_cpu();
    Model model = opened("en-de", engine.get());
    Asked asked = submit(model, HS_TRANSLATE, kLong);
    std::thread waiting([&] { result_of(asked); });  // while the process is copied
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        Result result;
        Buffer info;
        const hs_text input = text("a");
        Request request;
        bool told = hs_request_wait(asked.request.get(), 0, &result, nullptr) == HS_FORKED;
        told = told && hs_model_info(model.get(), &info, nullptr) == HS_FORKED;
        told =
            told && hs_submit(model.get(), HS_TRANSLATE, &input, nullptr, 1, nullptr, &request, nullptr) == HS_FORKED;
        ::alarm(20);
        asked.request.reset();
        model.reset();
        engine.reset();
        ::_exit(told ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    waiting.join();
    CHECK(hs_result_count(result_of(asked).get()) == kLong.size());
}

TEST_CASE("freeing nothing does nothing") {
    hs_options_free(nullptr);
    hs_engine_close(nullptr);
    hs_model_close(nullptr);
    hs_request_free(nullptr);
    hs_request_cancel(nullptr);
    hs_result_free(nullptr);
    hs_record_free(nullptr);
    hs_buffer_free(nullptr);
    hs_error_free(nullptr);
    CHECK(hs_result_count(nullptr) == 0);
    CHECK(hs_record_tokens(nullptr, HS_SOURCE) == 0);
    CHECK(hs_buffer_bytes(nullptr).size == 0);
}

TEST_CASE("a training tells what it does, stops on request, and leaves a model") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headscope-capi-training";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    {
        std::ofstream text(folder / "text.txt");
        for (int i = 0; i < 400; ++i) {
            text << "The cat number " << i << " sleeps, and the dog number " << i % 7 << " does not.\n";
        }
    }
    const std::string output = (folder / "run").string();
    const Options options(json{{"output", output}, {"text", (folder / "text.txt").string()}, {"device", "cpu"}});
    Training training;
    Problem problem;
    const hs_status started = hs_training_start(text(R"({"training": {"steps": 100000, "report_every": 2}})"),
                                                options.get(), &training, &problem);
    INFO(message_of(problem));
    REQUIRE(started == HS_OK);
    int reports = 0;
    json last;
    for (;;) {
        Buffer event;
        const hs_status status = hs_training_next(training.get(), -1, &event, &problem);
        INFO(message_of(problem));
        if (status == HS_END) {
            break;
        }
        REQUIRE(status == HS_OK);
        last = json_of(event);
        reports += last.at("event") == "report" ? 1 : 0;
        if (reports == 2) {
            hs_training_stop(training.get());
        }
    }
    CHECK(reports >= 2);
    CHECK(last.at("event") == "end");
    CHECK_FALSE(last.at("finished").get<bool>());
    CHECK(std::filesystem::exists(folder / "run" / "checkpoints"));

    Training again;
    CHECK(hs_training_start(text("{}"), options.get(), &again, &problem) != HS_OK);
    CHECK_THAT(message_of(problem), Contains("checkpoints"));
    CHECK(hs_training_start(text("[]"), options.get(), &again, nullptr) == HS_INVALID);
    CHECK(hs_training_start(text(""), nullptr, &again, nullptr) == HS_INVALID);
    std::filesystem::remove_all(folder);
}
