// The conformance of devices.
#include "tests/capi/handles.h"

using namespace headscope_tests;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const json kFew{{"devices", {"cpu"}}, {"ops", {"masked_softmax"}}, {"quick", true}, {"no_speed", true}};

json with(const json& more) {
    json options = kFew;
    options.update(more);
    return options;
}

json found(const json& options, hs_progress_function progress = nullptr, void* user = nullptr) {
    Buffer report;
    Problem problem;
    const hs_status status = hs_conform(Options(options).get(), progress, user, &report, &problem);
    INFO(message_of(problem));
    REQUIRE(status == HS_OK);
    return json_of(report);
}

std::string refused(const json& options, hs_status status = HS_INVALID) {
    Buffer report;
    Problem problem;
    CHECK(hs_conform(Options(options).get(), nullptr, nullptr, &report, &problem) == status);
    CHECK(report.get() == nullptr);
    return message_of(problem);
}

}  // namespace

TEST_CASE("a device is checked, and told of") {
    std::vector<std::uint64_t> told;
    const hs_progress_function tell = [](void* user, uint64_t done, uint64_t all, hs_text doing) -> hs_status {
        CHECK(done < all);
        CHECK_THAT(text_of(doing), Contains("masked_softmax"));
        static_cast<std::vector<std::uint64_t>*>(user)->push_back(done);
        return HS_OK;
    };
    const json report = found(kFew, tell, &told);
    CHECK(report.at("passed") == true);
    CHECK(report.at("failures") == "");
    CHECK(report.at("scope") == "quick");
    CHECK(report.at("devices").at(0).at("id") == "cpu");
    CHECK(report.at("counts").at("cases") > 10);
    CHECK(report.at("counts").at("runs") >= report.at("counts").at("cases"));
    CHECK(report.at("counts").at("failed_runs") == 0);
    CHECK_THAT(report.at("text").get<std::string>(), Contains("masked_softmax") && Contains("passed"));
    CHECK_FALSE(told.empty());
}

TEST_CASE("parts of a check make up the whole") {
    const auto cases = [](const char* part) {
        return found(with({{"ops", {"layer_norm"}}, {"dtypes", {"f32"}}, {"part", part}}))
            .at("counts")
            .at("cases")
            .get<int>();
    };
    const int first = cases("1/2");
    const int second = cases("2/2");
    CHECK(first > 0);
    CHECK(second > 0);
    CHECK(first + second == cases("1/1"));
}

TEST_CASE("a check that is stopped has what it found so far") {
    const hs_progress_function stop = [](void* user, uint64_t, uint64_t, hs_text) -> hs_status {
        return ++*static_cast<int*>(user) > 3 ? HS_CANCELLED : HS_OK;
    };
    int calls = 0;
    const json report = found(kFew, stop, &calls);
    CHECK(calls == 4);
    CHECK(report.at("interrupted") == true);
    CHECK(report.at("passed") == false);
    CHECK(report.at("counts").at("cases") > 0);
    CHECK_THAT(report.at("failures").get<std::string>(), Contains("interrupted"));
}

TEST_CASE("a check refuses what is not known") {
    CHECK_THAT(refused(with({{"ops", {"softmax"}}})), Contains("did you mean \"masked_softmax\"?"));
    CHECK_THAT(refused(with({{"dtypes", {"f99"}}})), Contains("f99"));
    CHECK_THAT(refused(with({{"paths", {"scenic"}}})), Contains("no path \"scenic\""));
    CHECK_THAT(refused(with({{"case", "no such case"}})), Contains("no case is called"));
    CHECK_THAT(refused(with({{"devices", {"abacus"}}}), HS_DEVICE), Contains("abacus"));
    for (const char* part : {"0/2", "3/2", "1", "1/2/3", "a/b", "1/9999999999999999999999", ""}) {
        CHECK_THAT(refused(with({{"part", part}})), Contains("such as 1/8"));
    }
    CHECK_THAT(refused(with({{"beam", 3}})), Contains("means nothing to hs_conform"));
    CHECK_THAT(refused(with({{"settings", {{"HEADSCOPE_SCAN_NAN", "1"}}}})), Contains("HEADSCOPE_SCAN_NAN"));
    CHECK(hs_conform(nullptr, nullptr, nullptr, nullptr, nullptr) == HS_INVALID);
}
