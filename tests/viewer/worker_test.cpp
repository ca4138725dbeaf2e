// The worker thread: the newest request wins, and no exception leaves it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "explore/explorer.h"
#include "tests/train/digits_run.h"
#include "tests/viewer/worker_client.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

TEST_CASE("A model is opened, and its result is reported while it grows", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Faults faults;
    faults.milliseconds = 20;  // each token's state is worth showing
    WorkerClient client(faults);
    const Opened opened = client.open(model + "/");
    CHECK(opened.name == "first");
    CHECK(opened.path == model + "/");
    CHECK(opened.device == "cpu");
    CHECK(opened.config.attention.heads == 4);
    CHECK(opened.parameters == count_parameters(opened.config));
    CHECK(opened.arithmetic == "F32");
    CHECK(opened.run == nullptr);
    CHECK_FALSE(opened.checkpoint);

    const Tag tag = client.worker.explore(request());
    const std::shared_ptr<const Exploration> whole = client.finished(tag);
    CHECK(whole->problem.empty());
    std::size_t shown = 0;
    for (const WorkerEvent& event : client.received) {
        if (const auto* explored = std::get_if<Explored>(&event)) {
            CHECK(explored->tag == tag);
            CHECK_FALSE(explored->exploration->record.sites.empty());
            ++shown;
        }
    }
    CHECK(shown > whole->steps.size() / 2);
    CHECK(client.wakes >= static_cast<int>(shown));
}

TEST_CASE("A worker reports what an explorer finds", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    WorkerClient client;
    client.open(model);
    const ExploreRequest asked = request();
    const Tag tag = client.worker.explore(asked);
    const Tag original = client.worker.explore_original(request("a cat sleeps"));
    const std::shared_ptr<const Exploration> found = client.finished(tag);
    CHECK(client.finished(original)->source == "a cat sleeps");
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const LoadedModel translator(*backend, model);
    const Explorer explorer(*backend, translator, Compute::F32);
    CHECK(found->translation == explorer.explore(asked).translation);

    const ExploreRequest given = with_target(asked, *found);
    const Tag neuron = client.worker.look_at_neuron({.explore = given, .site = {AttentionKind::Cross, 1}, .head = 2});
    const Tag measure = client.worker.measure(given);
    std::size_t heads = 0;
    bool seen = false;
    REQUIRE(client.wait([&](const WorkerEvent& event) {
        if (const auto* view = std::get_if<NeuronSeen>(&event)) {
            CHECK(view->tag == neuron);
            CHECK(view->view->q == explorer.neuron(given, {AttentionKind::Cross, 1}, 2).q);
            seen = true;
        }
        const auto* measured = std::get_if<Measured>(&event);
        if (measured == nullptr) {
            return false;
        }
        CHECK(measured->tag == measure);
        CHECK(measured->importance->heads.size() > heads);
        heads = measured->importance->heads.size();
        return measured->importance->finished;
    }));
    CHECK(seen);
    CHECK(heads == 6 * 4);
    const Tag empty = client.worker.explore(request(""));
    CHECK_THAT(client.finished(empty)->problem, Contains("source sentence is empty"));
}

TEST_CASE("Of hundreds of quick requests only the newest is answered", "[worker]") {
    const TemporaryFolder folder;
    Faults faults;
    faults.milliseconds = 5;
    WorkerClient client(faults);
    client.open(write_model(folder, "first", 3));
    Tag last = 0;
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text = "the cat " + std::to_string(i);
        last = client.worker.explore(request(text));
        if (i % 10 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        for (const WorkerEvent& event : client.worker.poll()) {
            const auto* explored = std::get_if<Explored>(&event);
            REQUIRE(explored != nullptr);
            CHECK(explored->tag == last);
        }
    }
    CHECK(client.finished(last)->source == text);
    for (const WorkerEvent& event : client.received) {
        if (const auto* explored = std::get_if<Explored>(&event)) {
            CHECK(explored->tag == last);
        }
    }
    CHECK(faults.steps < 300 * 10);  // most were not even begun
}

TEST_CASE("A newer request and the destructor stop a running request", "[worker]") {
    const TemporaryFolder folder;
    Faults faults;
    int begun = 0;
    {
        WorkerClient client(faults);
        client.open(write_model(folder, "first", 3));
        faults.milliseconds = 100;  // a whole search takes seconds
        const Tag old = client.worker.explore(request());
        REQUIRE(client.wait([&](const WorkerEvent& event) { return std::holds_alternative<Explored>(event); }));
        const int before = faults.steps;
        ExploreRequest given = request();
        given.target = "die katze";
        const Tag newer = client.worker.explore(given);
        CHECK(client.finished(newer)->forced);
        CHECK(faults.steps <= before + 2);
        for (const WorkerEvent& event : client.received) {
            const auto* explored = std::get_if<Explored>(&event);
            CHECK((explored == nullptr || explored->tag != old || !explored->exploration->finished));
        }
        client.worker.explore(request());
        REQUIRE(client.wait([&](const WorkerEvent& event) { return std::holds_alternative<Explored>(event); }));
        begun = faults.steps;
    }
    CHECK(faults.steps <= begun + 2);  // stopped between two steps
}

TEST_CASE("A new sentence cancels measuring the old one", "[worker]") {
    const TemporaryFolder folder;
    WorkerClient client;
    client.open(write_model(folder, "first", 3));
    ExploreRequest given = request();
    given.target = "die katze";
    client.worker.measure(given);
    client.finished(client.worker.explore(request()));
    client.wait([](const WorkerEvent&) { return false; }, 0.3);
    CHECK(std::none_of(client.received.begin(), client.received.end(),
                       [](const WorkerEvent& event) { return std::holds_alternative<Measured>(event); }));
}

TEST_CASE("Events of a replaced request are not reported", "[worker]") {
    const TemporaryFolder folder;
    Faults faults;
    WorkerClient client(faults);
    client.open(write_model(folder, "first", 3));
    faults.milliseconds = 200;
    const int before = client.wakes;
    client.worker.explore(request());
    while (client.wakes == before) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    client.worker.explore(request("a cat sleeps"));
    CHECK(client.worker.poll().empty());
}

TEST_CASE("A failed open is reported, and the previous model stays", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    WorkerClient client;
    CHECK_THAT(client.failure(client.worker.explore(request())), Contains("no model is open"));
    CHECK_THAT(client.failure(client.worker.read_run()), Contains("no training is open"));
    CHECK_THAT(client.failure(client.worker.open({.model = folder.file("nowhere")})), Contains("does not exist"));
    client.open(model);
    CHECK_THAT(client.failure(client.worker.open({.model = folder.file("nowhere")})), Contains("does not exist"));
    CHECK_THAT(client.failure(client.worker.open({.model = model, .device = "gpu9"})), Contains("gpu9"));
    folder.write("first/model.safetensors", "no tensors");
    CHECK_THAT(client.failure(client.worker.open({.model = model, .device = "cpu"})), Contains("model.safetensors"));
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
}

TEST_CASE("Opening cancels earlier requests", "[worker]") {
    const TemporaryFolder folder;
    Faults faults;
    WorkerClient client(faults);
    const std::string model = write_model(folder, "first", 3);
    client.open(model);
    faults.milliseconds = 50;
    const Tag old = client.worker.explore(request());
    const Tag original = client.worker.explore_original(request());
    client.received.clear();
    client.open(model);
    faults.milliseconds = 0;
    const Tag now = client.worker.explore(request());
    client.finished(now);
    for (const WorkerEvent& event : client.received) {
        const Tag tag = std::visit([](const auto& one) { return one.tag; }, event);
        CHECK(tag != old);
        CHECK(tag != original);
    }
    CHECK(faults.opened == 1);  // the device was there already
}

TEST_CASE("A lost device is reopened and the request answered there", "[worker]") {
    const TemporaryFolder folder;
    Faults faults;
    WorkerClient client([&faults](const std::string&) {
        ++faults.opened;
        faults.lost = false;
        return std::make_unique<FaultyBackend>(faults);
    });
    client.open(write_model(folder, "first", 3));
    const double before = client.finished(client.worker.explore(request()))->log_probability;
    faults.lost = true;
    CHECK_THAT(client.failure(client.worker.open({.model = folder.file("nowhere"), .device = "cpu"})),
               Contains("does not exist") && !Contains("open the model again"));
    CHECK(client.finished(client.worker.explore(request()))->log_probability == before);
    CHECK(faults.opened == 2);
    CHECK(std::count_if(client.received.begin(), client.received.end(), [](const WorkerEvent& event) {
              const auto* warned = std::get_if<Warned>(&event);
              return warned != nullptr && warned->message == "reopened cpu after a failure: the device is lost";
          }) == 1);
}

TEST_CASE("Remarks on another program's model are reported once, when it opens", "[worker]") {
    const TemporaryFolder folder;
    for (const char* name : {"config.json", "model.safetensors"}) {  // without a tokenizer
        std::filesystem::copy(std::string(HEADSCOPE_SOURCE_DIR "/tests/import/models/hf-gpt2/") + name,
                              folder.file(name));
    }
    WorkerClient client;
    client.open(folder.file(""));
    CHECK(std::count_if(client.received.begin(), client.received.end(), [](const WorkerEvent& event) {
              const auto* warned = std::get_if<Warned>(&event);
              return warned != nullptr && warned->message.find("has no tokenizer") != std::string::npos;
          }) == 1);
}

TEST_CASE("A device is reopened a limited number of times", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Faults faults;
    WorkerClient client([&faults](const std::string&) {
        faults.lost = false;
        return std::make_unique<FaultyBackend>(faults);
    });
    client.open(model);
    for (int i = 0; i < SecondChance::kMost; ++i) {
        faults.lost = true;
        client.finished(client.worker.explore(request()));
    }
    faults.lost = true;
    CHECK_THAT(client.failure(client.worker.open({.model = model, .device = "cpu"})),
               Contains("the device is lost; open the model again"));
    client.open(model);
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
}

TEST_CASE("Reopening a lost device does not load another checkpoint", "[worker]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "run");
    run.start().train();
    Faults faults;
    WorkerClient client(faults);
    CHECK(client.open(folder.file("run")).checkpoint == 24);
    std::filesystem::remove(folder.file("run/checkpoints/step-00000024.safetensors"));
    faults.lost = true;
    CHECK_THAT(client.failure(client.worker.explore(request("1 7"))), Contains("the device is lost") &&
                                                                          Contains("no checkpoint after step 24") &&
                                                                          Contains("; open the model again"));
}

TEST_CASE("After a device that stays lost the model has to be opened again, after an error it is there", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Faults faults;
    WorkerClient client(faults);
    client.open(model);
    faults.lost = true;
    CHECK_THAT(client.failure(client.worker.explore(request())), Contains("the device is lost; open the model again"));
    CHECK_THAT(client.failure(client.worker.explore(request())), Contains("no model is open"));
    CHECK(faults.opened == 2);
    faults.lost = false;
    client.open(model);
    faults.lost = true;
    CHECK_THAT(client.failure(client.worker.open({.model = model, .device = "cpu"})),
               Contains("the device is lost; open the model again"));
    CHECK(faults.opened == 4);
    faults.lost = false;
    client.open(model);
    CHECK(faults.opened == 5);
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
    faults.broken = true;
    CHECK(client.failure(client.worker.explore(request())) == "the search failed");
    faults.broken = false;
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
    CHECK(faults.opened == 5);
}

TEST_CASE("A model that has no memory beside the previous one replaces it", "[worker]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Faults faults;
    WorkerClient client(faults);
    client.open(first);
    faults.full = 1;
    CHECK(client.open(second).name == "second");
    faults.full = 2;
    CHECK_THAT(client.failure(client.worker.open({.model = first, .device = "cpu"})),
               Contains("the device is full; open the model again"));
    CHECK(faults.opened == 1);
    client.open(first);
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
}

TEST_CASE("A model on another device, which shares its memory, replaces the previous one", "[worker]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Faults faults;
    WorkerClient client(faults);
    client.open(first);
    faults.full = 1;
    CHECK(client.open(second, "another").name == "second");
    CHECK(faults.opened == 2);
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
    faults.full = 2;
    const Tag third = client.worker.open({.model = first, .device = "third"});
    CHECK_THAT(client.failure(third), Contains("the device is full"));
    CHECK_THAT(client.failure(client.worker.explore(request())), Contains("no model is open"));
}

TEST_CASE("A device that does not answer after an error of any kind is closed", "[worker]") {
    const TemporaryFolder folder;
    Faults faults;
    WorkerClient client(faults);
    client.open(write_model(folder, "first", 3));
    const OpenRequest missing{.model = folder.file("nowhere"), .device = "cpu"};
    CHECK_THAT(client.failure(client.worker.open(missing)), !Contains("open the model again"));
    faults.dead = true;
    CHECK_THAT(client.failure(client.worker.open(missing)), Contains("; open the model again"));
}

TEST_CASE("A model replaced on disk stays unchanged until it is opened again", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    WorkerClient client;
    client.open(model);
    const std::shared_ptr<const Exploration> before = client.finished(client.worker.explore(request()));
    write_model(folder, "first", 4);
    CHECK(client.finished(client.worker.explore(request()))->log_probability == before->log_probability);
    client.open(model);
    CHECK(client.finished(client.worker.explore(request()))->log_probability != before->log_probability);
    std::filesystem::remove_all(model);
    CHECK(client.finished(client.worker.explore(request()))->problem.empty());
}

TEST_CASE("Two workers work at once", "[worker]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3);
    const std::string second = write_model(folder, "second", 4);
    WorkerClient one;
    WorkerClient two;
    one.open(first);
    two.open(second);
    const std::shared_ptr<const Exploration> alone = one.finished(one.worker.explore(request()));
    for (int i = 0; i < 20; ++i) {
        const Tag a = one.worker.explore(request());
        const Tag b = two.worker.explore(request());
        const std::shared_ptr<const Exploration> of_two = two.finished(b);
        const std::shared_ptr<const Exploration> of_one = one.finished(a);
        CHECK(of_one->translation == alone->translation);
        CHECK(of_one->log_probability == alone->log_probability);
        CHECK(of_two->log_probability != alone->log_probability);
    }
}
