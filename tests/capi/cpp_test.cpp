// headscope.hpp
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <headscope/headscope.hpp>
#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

hs::Options of(const json& values) {
    hs::Options options;
    for (const auto& [key, value] : values.items()) {
        options.json(key.c_str(), value.dump());
    }
    return options;
}

class Opened {
public:
    double log_probability(const hs::Options& options) {
        return model.submit(HS_RUN, {"A house."}, {"Ein Haus."}, options).wait().number(HS_LOG_PROBABILITY);
    }
    hs::Engine engine = hs::Engine(of({{"devices", {"cpu"}}}));
    hs::Model model = engine.open("en-de", of({{"path", {HEADSCOPE_SOURCE_DIR "/assets"}}}));
};

hs_status status_of(const std::function<void()>& failing) {
    try {
        failing();
    } catch (const hs::Failure& failure) {
        return failure.status();
    }
    return HS_OK;
}

const char* const kSite = "encoder.0.residual_out";

}  // namespace

TEST_CASE("C++ patches sites and hooks functions, which requests keep") {
    Opened opened;
    const double with = opened.log_probability(hs::Options());
    int calls = 0;
    const auto hooked = [&] {
        hs::Options options;
        options.hook(kSite, [&calls](std::string_view site, float* values, const std::vector<std::int64_t>& shape) {
            ++calls;
            CHECK(site == kSite);
            std::fill_n(values, shape.at(0) * shape.at(1), 0.0F);
        });
        return opened.model.submit(HS_RUN, {"A house."}, {"Ein Haus."}, options);
    };
    const double cleared = hooked().wait().number(HS_LOG_PROBABILITY);  // the options are gone
    CHECK(calls == 1);
    CHECK(cleared < with);
    hs::Options patched;
    patched.patch(kSite, std::vector<float>(4 * 256), {4, 256});
    CHECK(opened.log_probability(patched) == Approx(cleared));
    CHECK(status_of([&] { patched.patch(kSite, {1.0F}, {2}); }) == HS_INVALID);
    hs::Options throwing;
    throwing.hook(kSite, [](std::string_view, float*, const std::vector<std::int64_t>&) { throw 1; });
    const hs::Result failed = opened.model.submit(HS_RUN, {"A house."}, {"Ein Haus."}, throwing).wait();
    CHECK(status_of([&] { static_cast<void>(failed.text()); }) == HS_FAILED);
}

TEST_CASE("C++ has the status of an input's problem") {
    Opened opened;
    CHECK(status_of([&] { opened.model.translate("bad \xff"); }) == HS_INVALID);
}

TEST_CASE("C++ asks the library, and checks devices") {
    CHECK(json::parse(hs::about()).at("abi") == HS_ABI);
    CHECK(json::parse(hs::models(of({{"path", {HEADSCOPE_SOURCE_DIR "/assets"}}}))).size() >= 3);
    CHECK(json::parse(hs::keys()).size() > 50);
    CHECK(hs::devices() != "");
    const json few{{"devices", {"cpu"}}, {"ops", {"fill"}}, {"quick", true}, {"no_speed", true}};
    CHECK(json::parse(hs::conform(of(few))).at("passed") == true);
    int calls = 0;
    const auto stop = [&](std::uint64_t, std::uint64_t, std::string_view) { return ++calls < 3; };
    CHECK(json::parse(hs::conform(of(few), stop)).at("interrupted") == true);
    CHECK(calls == 3);
}

TEST_CASE("C++ trains") {
    CHECK(status_of([] { hs::Training training{hs::Options()}; }) == HS_INVALID);  // "output" is missing
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headscope-cpp-training";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    for (int i = 0; i < 200; ++i) {
        std::ofstream(folder / "text.txt", std::ios::app) << "The cat number " << i << " sleeps.\n";
    }
    {
        hs::Training training(
            of({{"output", (folder / "run").string()}, {"text", (folder / "text.txt").string()}, {"device", "cpu"}}),
            R"({"training": {"steps": 100000, "report_every": 2}})");
        std::string last;
        while (const auto event = training.next()) {
            last = json::parse(*event).at("event");
            if (last == "report") {
                training.stop();
            }
        }
        CHECK(last == "end");
        CHECK_FALSE(training.next());
    }
    std::filesystem::remove_all(folder);
}
