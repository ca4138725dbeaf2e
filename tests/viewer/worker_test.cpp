// The thread behind the window: newest requests win, and nothing that goes wrong there leaves it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "explore/explorer.h"
#include "tests/train/digits_run.h"
#include "tests/viewer/worker_desk.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

TEST_CASE("A model is opened and asked, and the answer grows", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Trouble trouble;
    trouble.milliseconds = 20;  // each token's state is worth showing
    Desk desk(trouble);
    const Opened opened = desk.open(model + "/");
    CHECK(opened.name == "first");
    CHECK(opened.path == model + "/");
    CHECK(opened.device == "cpu");
    CHECK(opened.config.heads == 4);
    CHECK(opened.parameters == count_parameters(opened.config));
    CHECK(opened.arithmetic == "F32");
    CHECK(opened.run == nullptr);
    CHECK_FALSE(opened.checkpoint);

    const Tag tag = desk.worker.explore(request());
    const std::shared_ptr<const Exploration> whole = desk.finished(tag);
    CHECK(whole->problem.empty());
    std::size_t shown = 0;
    for (const News& news : desk.heard) {
        if (const auto* explored = std::get_if<Explored>(&news)) {
            CHECK(explored->tag == tag);
            CHECK_FALSE(explored->exploration->record.sites.empty());
            ++shown;
        }
    }
    CHECK(shown > whole->steps.size() / 2);
    CHECK(desk.wakes >= static_cast<int>(shown));
}

TEST_CASE("What a worker finds is what an explorer finds", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Desk desk;
    desk.open(model);
    const ExploreRequest asked = request();
    const Tag tag = desk.worker.explore(asked);
    const Tag original = desk.worker.explore_original(request("a cat sleeps"));
    const std::shared_ptr<const Exploration> found = desk.finished(tag);
    CHECK(desk.finished(original)->source == "a cat sleeps");
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const Translator translator(*backend, model);
    const Explorer explorer(*backend, translator, Compute::F32);
    CHECK(found->translation == explorer.explore(asked).translation);

    const ExploreRequest given = with_target(asked, *found);
    const Tag neuron = desk.worker.look_at_neuron({.explore = given, .site = {AttentionKind::Cross, 1}, .head = 2});
    const Tag measure = desk.worker.measure(given);
    std::size_t heads = 0;
    bool seen = false;
    REQUIRE(desk.wait([&](const News& news) {
        if (const auto* view = std::get_if<NeuronSeen>(&news)) {
            CHECK(view->tag == neuron);
            CHECK(view->view->q == explorer.neuron(given, {AttentionKind::Cross, 1}, 2).q);
            seen = true;
        }
        const auto* measured = std::get_if<Measured>(&news);
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
    const Tag empty = desk.worker.explore(request(""));
    CHECK_THAT(desk.finished(empty)->problem, Contains("no text"));
}

TEST_CASE("Of hundreds of quick requests the newest is answered", "[worker]") {
    const TemporaryFolder folder;
    Trouble trouble;
    trouble.milliseconds = 5;
    Desk desk(trouble);
    desk.open(write_model(folder, "first", 3));
    Tag last = 0;
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text = "the cat " + std::to_string(i);
        last = desk.worker.explore(request(text));
        if (i % 10 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        for (const News& news : desk.worker.poll()) {
            const auto* explored = std::get_if<Explored>(&news);
            REQUIRE(explored != nullptr);
            CHECK(explored->tag == last);
        }
    }
    CHECK(desk.finished(last)->source == text);
    for (const News& news : desk.heard) {
        if (const auto* explored = std::get_if<Explored>(&news)) {
            CHECK(explored->tag == last);
        }
    }
    CHECK(trouble.steps < 300 * 10);  // most were not even begun
}

TEST_CASE("A newer request stops a running one, and the end does not wait", "[worker]") {
    const TemporaryFolder folder;
    Trouble trouble;
    int begun = 0;
    {
        Desk desk(trouble);
        desk.open(write_model(folder, "first", 3));
        trouble.milliseconds = 100;  // a whole search takes seconds
        const Tag old = desk.worker.explore(request());
        REQUIRE(desk.wait([&](const News& news) { return std::holds_alternative<Explored>(news); }));
        const int before = trouble.steps;
        ExploreRequest given = request();
        given.target = "die katze";
        const Tag newer = desk.worker.explore(given);
        CHECK(desk.finished(newer)->forced);
        CHECK(trouble.steps <= before + 2);
        for (const News& news : desk.heard) {
            const auto* explored = std::get_if<Explored>(&news);
            CHECK((explored == nullptr || explored->tag != old || !explored->exploration->finished));
        }
        desk.worker.explore(request());
        REQUIRE(desk.wait([&](const News& news) { return std::holds_alternative<Explored>(news); }));
        begun = trouble.steps;
    }
    CHECK(trouble.steps <= begun + 2);  // stopped between two steps
}

TEST_CASE("A new sentence ends the measuring of the old one", "[worker]") {
    const TemporaryFolder folder;
    Desk desk;
    desk.open(write_model(folder, "first", 3));
    ExploreRequest given = request();
    given.target = "die katze";
    desk.worker.measure(given);
    desk.finished(desk.worker.explore(request()));
    desk.wait([](const News&) { return false; }, 0.3);
    CHECK(std::none_of(desk.heard.begin(), desk.heard.end(),
                       [](const News& news) { return std::holds_alternative<Measured>(news); }));
}

TEST_CASE("News of what was asked before is not told", "[worker]") {
    const TemporaryFolder folder;
    Trouble trouble;
    Desk desk(trouble);
    desk.open(write_model(folder, "first", 3));
    trouble.milliseconds = 200;
    const int before = desk.wakes;
    desk.worker.explore(request());
    while (desk.wakes == before) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    desk.worker.explore(request("a cat sleeps"));
    CHECK(desk.worker.poll().empty());
}

TEST_CASE("What cannot be opened is told, and the model from before stays", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Desk desk;
    CHECK_THAT(desk.failure(desk.worker.explore(request())), Contains("no model is open"));
    CHECK_THAT(desk.failure(desk.worker.read_run()), Contains("no training is open"));
    CHECK_THAT(desk.failure(desk.worker.open({.model = folder.file("nowhere")})), Contains("does not exist"));
    desk.open(model);
    CHECK_THAT(desk.failure(desk.worker.open({.model = folder.file("nowhere")})), Contains("does not exist"));
    CHECK_THAT(desk.failure(desk.worker.open({.model = model, .device = "gpu9"})), Contains("gpu9"));
    folder.write("first/model.safetensors", "no tensors");
    CHECK_THAT(desk.failure(desk.worker.open({.model = model, .device = "cpu"})), Contains("model.safetensors"));
    CHECK(desk.finished(desk.worker.explore(request()))->problem.empty());
}

TEST_CASE("Opening ends what was asked before", "[worker]") {
    const TemporaryFolder folder;
    Trouble trouble;
    Desk desk(trouble);
    const std::string model = write_model(folder, "first", 3);
    desk.open(model);
    trouble.milliseconds = 50;
    const Tag old = desk.worker.explore(request());
    const Tag original = desk.worker.explore_original(request());
    desk.heard.clear();
    desk.open(model);
    trouble.milliseconds = 0;
    const Tag now = desk.worker.explore(request());
    desk.finished(now);
    for (const News& news : desk.heard) {
        const Tag tag = std::visit([](const auto& one) { return one.tag; }, news);
        CHECK(tag != old);
        CHECK(tag != original);
    }
    CHECK(trouble.opened == 1);  // the device was there already
}

TEST_CASE("A lost device is reopened and the request answered there", "[worker]") {
    const TemporaryFolder folder;
    Trouble trouble;
    Desk desk([&trouble](const std::string&) {
        ++trouble.opened;
        trouble.lost = false;
        return std::make_unique<TroubledBackend>(trouble);
    });
    desk.open(write_model(folder, "first", 3));
    const double before = desk.finished(desk.worker.explore(request()))->log_probability;
    trouble.lost = true;
    CHECK_THAT(desk.failure(desk.worker.open({.model = folder.file("nowhere"), .device = "cpu"})),
               Contains("does not exist") && !Contains("open the model again"));
    CHECK(desk.finished(desk.worker.explore(request()))->log_probability == before);
    CHECK(trouble.opened == 2);
    CHECK(std::count_if(desk.heard.begin(), desk.heard.end(), [](const News& news) {
              const auto* warned = std::get_if<Warned>(&news);
              return warned != nullptr && warned->message == "cpu was opened again and goes on: the device is lost";
          }) == 1);
}

TEST_CASE("A device is reopened a limited number of times", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Trouble trouble;
    Desk desk([&trouble](const std::string&) {
        trouble.lost = false;
        return std::make_unique<TroubledBackend>(trouble);
    });
    desk.open(model);
    for (int i = 0; i < SecondChance::kMost; ++i) {
        trouble.lost = true;
        desk.finished(desk.worker.explore(request()));
    }
    trouble.lost = true;
    CHECK_THAT(desk.failure(desk.worker.open({.model = model, .device = "cpu"})),
               Contains("the device is lost; open the model again"));
    desk.open(model);
    CHECK(desk.finished(desk.worker.explore(request()))->problem.empty());
}

TEST_CASE("Reopening a lost device does not load another checkpoint", "[worker]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "run");
    run.start().run();
    Trouble trouble;
    Desk desk(trouble);
    CHECK(desk.open(folder.file("run")).checkpoint == 24);
    std::filesystem::remove(folder.file("run/checkpoints/step-00000024.safetensors"));
    trouble.lost = true;
    CHECK_THAT(desk.failure(desk.worker.explore(request("1 7"))), Contains("the device is lost") &&
                                                                      Contains("no checkpoint after step 24") &&
                                                                      Contains("; open the model again"));
}

TEST_CASE("After a device that stays lost, or an error, the model has to be opened again", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Trouble trouble;
    Desk desk(trouble);
    desk.open(model);
    trouble.lost = true;
    CHECK_THAT(desk.failure(desk.worker.explore(request())), Contains("the device is lost; open the model again"));
    CHECK_THAT(desk.failure(desk.worker.explore(request())), Contains("no model is open"));
    CHECK(trouble.opened == 2);
    trouble.lost = false;
    desk.open(model);
    trouble.lost = true;
    CHECK_THAT(desk.failure(desk.worker.open({.model = model, .device = "cpu"})),
               Contains("the device is lost; open the model again"));
    CHECK(trouble.opened == 4);
    trouble.lost = false;
    desk.open(model);
    CHECK(trouble.opened == 5);
    CHECK(desk.finished(desk.worker.explore(request()))->problem.empty());
    trouble.broken = true;
    CHECK_THAT(desk.failure(desk.worker.explore(request())), Contains("the search failed; open the model again"));
    trouble.broken = false;
    desk.open(model);
    CHECK(trouble.opened == 6);
}

TEST_CASE("A model that has no memory beside the previous one replaces it", "[worker]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3), second = write_model(folder, "second", 4);
    Trouble trouble;
    Desk desk(trouble);
    desk.open(first);
    trouble.full = 1;
    CHECK(desk.open(second).name == "second");
    trouble.full = 2;
    CHECK_THAT(desk.failure(desk.worker.open({.model = first, .device = "cpu"})),
               Contains("the device is full; open the model again"));
    CHECK(trouble.opened == 1);
    desk.open(first);
    CHECK(desk.finished(desk.worker.explore(request()))->problem.empty());
}

TEST_CASE("A model that is replaced on disk stays as it was until it is opened again", "[worker]") {
    const TemporaryFolder folder;
    const std::string model = write_model(folder, "first", 3);
    Desk desk;
    desk.open(model);
    const std::shared_ptr<const Exploration> before = desk.finished(desk.worker.explore(request()));
    write_model(folder, "first", 4);
    CHECK(desk.finished(desk.worker.explore(request()))->log_probability == before->log_probability);
    desk.open(model);
    CHECK(desk.finished(desk.worker.explore(request()))->log_probability != before->log_probability);
    std::filesystem::remove_all(model);
    CHECK(desk.finished(desk.worker.explore(request()))->problem.empty());
}

TEST_CASE("Two workers work at once", "[worker]") {
    const TemporaryFolder folder;
    const std::string first = write_model(folder, "first", 3);
    const std::string second = write_model(folder, "second", 4);
    Desk one;
    Desk two;
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
