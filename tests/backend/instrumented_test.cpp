#include "backend/instrumented.h"
#include "backend/open_options.h"

#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "backend/forwarding_backend.h"
#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "recording_backend.h"
#include "support/check.h"

using namespace headscope;

namespace {

// A unique name in the temporary folder, removed at the end.
class TemporaryFile {
public:
    TemporaryFile() {
        std::string pattern = (std::filesystem::temp_directory_path() / "headscope-trace-XXXXXX").string();
        const int descriptor = mkstemp(pattern.data());
        REQUIRE(descriptor >= 0);
        close(descriptor);
        path = pattern;
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
    std::string path;
};

AddScaled some_op(Backend& backend) {
    const Tensor a = make_from_host<float>(backend, {4}, DType::F32, {1, 2, 3, 4});
    return {.a = a, .out = make_from_host<float>(backend, {4}, DType::F32, {1, 2, 3, 4})};
}

}  // namespace

TEST_CASE("the decorator validates before anything runs", "[instrumented]") {
    std::vector<std::string> ran;
    Instrumented backend(std::make_unique<RecordingBackend>(ran), {});
    AddScaled op = some_op(backend);
    backend.run(op);
    CHECK(ran == std::vector<std::string>{"add_scaled"});
    op.out = backend.empty({5}, DType::F32);
    CHECK_THROWS_WITH(backend.run(op), Catch::Matchers::Contains("add_scaled: out must have the shape [4]"));
    CHECK(ran.size() == 1);
    CHECK(backend.device().id == "test");
    CHECK(backend.times().empty());
    CHECK(backend.support(OpId::Fill, DType::F32).reason == "fill only noted");
}

TEST_CASE("transfers of the wrong size are rejected", "[instrumented]") {
    std::vector<std::string> ran;
    Instrumented backend(std::make_unique<RecordingBackend>(ran), {});
    const Tensor tensor = backend.empty({2, 3}, DType::F32);
    std::vector<float> values(6);
    CHECK_THROWS_WITH(backend.upload(tensor, values.data(), 20), Catch::Matchers::Contains("has 24 bytes, given 20"));
    CHECK_THROWS_WITH(backend.download(tensor.narrow(1, 0, 2), values.data(), 16),
                      Catch::Matchers::Contains("contiguous"));
    CHECK_THROWS_WITH(backend.download(Tensor{}, values.data(), 0), Catch::Matchers::Contains("no memory"));
}

TEST_CASE("ops are counted and timed by name on request", "[instrumented]") {
    std::vector<std::string> ran;
    Instrumented backend(std::make_unique<RecordingBackend>(ran), {.time = true});
    const AddScaled op = some_op(backend);
    backend.run(op);
    backend.run(op);
    backend.run(Fill{.out = op.out});
    CHECK(backend.times().at("add_scaled").calls == 2);
    CHECK(backend.times().at("fill").calls == 1);
    CHECK(backend.times().at("fill").seconds >= 0.0);
}

namespace {

// A device with its own clock, on which every op takes as many seconds as its place in the stream, and which is as far
// behind the host as possible: nothing is done before somebody waits.
struct Script {
    int enqueued = 0;  // ops
    int done = 0;
    int synchronized = 0;
    int waits = 0;
    int live_events = 0;
    int most_live_events = 0;
};

class ScriptedEvent final : public Event {
public:
    explicit ScriptedEvent(Script& script) : script_(script), position_(script.enqueued) {
        script.most_live_events = std::max(script.most_live_events, ++script.live_events);
    }
    ~ScriptedEvent() override { --script_.live_events; }
    bool reached() override { return script_.done >= position_; }
    void wait() override {
        ++script_.waits;
        script_.done = std::max(script_.done, position_);
    }
    double seconds_since(const Event& earlier) const override {
        const auto& other = dynamic_cast<const ScriptedEvent&>(earlier);
        REQUIRE(script_.done >= std::max(position_, other.position_));
        return seconds_at(position_) - seconds_at(other.position_);
    }

private:
    static double seconds_at(int position) { return 0.5 * position * (position + 1); }  // 1 + 2 + ..
    Script& script_;
    int position_;
};

class ScriptedBackend final : public ForwardingBackend {
public:
    ScriptedBackend(std::unique_ptr<Backend> inner, Script& script) : ForwardingBackend(std::move(inner)), s_(script) {}

    std::shared_ptr<Event> record_event() override { return std::make_shared<ScriptedEvent>(s_); }
    void synchronize() override { ++s_.synchronized; }
    using ForwardingBackend::run;
    void run(const AddScaled& /*op*/) override { ++s_.enqueued; }
    void run(const Fill& /*op*/) override { ++s_.enqueued; }

private:
    Script& s_;
};

std::unique_ptr<Backend> scripted(std::vector<std::string>& ran, Script& script) {
    return std::make_unique<ScriptedBackend>(std::make_unique<RecordingBackend>(ran), script);
}

}  // namespace

TEST_CASE("an op's time is measured on the device, without waiting before it is requested", "[instrumented]") {
    std::vector<std::string> ran;
    Script script;
    Instrumented backend(scripted(ran, script), {.time = true});
    const AddScaled op = some_op(backend);
    backend.run(op);
    backend.run(Fill{.out = op.out});
    backend.run(op);
    CHECK(script.waits == 0);
    CHECK(backend.times().at("add_scaled").seconds == 1.0 + 3.0);
    CHECK(backend.times().at("add_scaled").calls == 2);
    CHECK(backend.times().at("fill").seconds == 2.0);
    CHECK(script.waits == 1);
    CHECK(script.synchronized == 0);
    CHECK(script.live_events == 0);
}

TEST_CASE("any number of ops is timed with a bounded number of events", "[instrumented]") {
    std::vector<std::string> ran;
    Script script;
    Instrumented backend(scripted(ran, script), {.time = true});
    const AddScaled op = some_op(backend);
    constexpr int kOps = 20000;
    for (int i = 0; i < kOps; ++i) {
        backend.run(op);
    }
    CHECK(script.most_live_events <= 2 * 4096);
    CHECK(script.waits <= kOps / 2048);
    CHECK(script.done < kOps - 1000);  // the newest are still pending
    CHECK(backend.times().at("add_scaled").calls == kOps);
    CHECK(backend.times().at("add_scaled").seconds == 0.5 * kOps * (kOps + 1));
}

TEST_CASE("a trace has the device's start time of each op", "[instrumented]") {
    const TemporaryFile file;
    std::vector<std::string> ran;
    Script script;
    {
        Instrumented backend(scripted(ran, script), {.trace = std::make_shared<TraceFile>(file.path)});
        const AddScaled op = some_op(backend);
        for (int i = 0; i < 3; ++i) {
            backend.set_label("layer " + std::to_string(i));
            backend.run(op);
        }
        CHECK(script.waits == 0);
    }
    std::ifstream stream(file.path);
    const nlohmann::json events = nlohmann::json::parse(stream).at("traceEvents");
    REQUIRE(events.size() == 4);  // the first names the device
    const auto began = [&](std::size_t op) { return events[op + 1].at("ts").get<double>(); };
    CHECK(began(0) >= 0.0);
    CHECK(began(2) - began(0) == Approx(3e6));
    CHECK(events[3].at("dur").get<double>() == 3e6);
    CHECK(events[3].at("args").at("label") == "layer 2");
}

TEST_CASE("a NaN is reported with op, output and label", "[instrumented]") {
    std::vector<std::string> ran;
    auto inner = std::make_unique<RecordingBackend>(ran);
    inner->writes_nan = true;
    Instrumented backend(std::move(inner), {.scan_for_nan = true});
    backend.set_label("encoder.0.self_attention");
    backend.run(Fill{.out = backend.empty({1}, DType::I32)});
    CHECK_THROWS_WITH(backend.run(some_op(backend)), Catch::Matchers::Contains("add_scaled") &&
                                                         Catch::Matchers::Contains("its output out") &&
                                                         Catch::Matchers::Contains("first at element 1") &&
                                                         Catch::Matchers::Contains("encoder.0.self_attention"));
}

TEST_CASE("a trace has Chrome's format, with the labels", "[instrumented]") {
    const TemporaryFile file;
    std::vector<std::string> ran;
    {
        Instrumented backend(std::make_unique<RecordingBackend>(ran),
                             {.trace = std::make_shared<TraceFile>(file.path)});
        backend.set_label("decoder.1.cross");
        backend.run(some_op(backend));
    }
    std::ifstream stream(file.path);
    const nlohmann::json trace = nlohmann::json::parse(stream);
    REQUIRE(trace.at("traceEvents").size() == 2);
    CHECK(trace.at("traceEvents")[0].at("name") == "process_name");
    const nlohmann::json& event = trace.at("traceEvents")[1];
    CHECK(event.at("name") == "add_scaled");
    CHECK(event.at("ph") == "X");
    CHECK(event.at("args").at("label") == "decoder.1.cross");
    CHECK(event.at("ts").get<double>() >= 0.0);
}

TEST_CASE("backends share a trace, each with its own row", "[instrumented]") {
    const TemporaryFile file;
    std::vector<std::string> ran;
    const InstrumentOptions options{.trace = std::make_shared<TraceFile>(file.path)};
    const auto traced = [&] { return nlohmann::json::parse(std::ifstream(file.path)).at("traceEvents"); };
    {
        Instrumented first(std::make_unique<RecordingBackend>(ran), options);
        first.run(some_op(first));
        {
            Instrumented second(std::make_unique<RecordingBackend>(ran), options);
            second.run(some_op(second));
        }
        CHECK(traced().size() == 2);  // already complete
        first.run(some_op(first));
    }
    Instrumented(std::make_unique<RecordingBackend>(ran), options);
    std::map<int, int> ops;
    double latest = 0.0;
    for (const nlohmann::json& event : traced()) {
        ops[event.at("pid").get<int>()] += event.at("ph") == "X" ? 1 : 0;
        latest = std::max(latest, event.value("ts", 0.0));
    }
    CHECK(ops == std::map<int, int>{{0, 1}, {1, 2}, {2, 0}});
    CHECK(latest > 0.0);
}

TEST_CASE("a trace that cannot be written is an immediate error", "[instrumented]") {
    TraceFiles traces;
    CHECK_THROWS_AS(traces.at("/no/such/folder/trace"), Error);
    CHECK_NOTHROW(traces.require_written());  // there is none
}

TEST_CASE("a program's traces have one file a path, and nothing in common with another's", "[instrumented]") {
    const TemporaryFile file;
    TraceFiles traces;
    CHECK(traces.at(file.path) == traces.at(file.path));
    TraceFiles others;
    CHECK(traces.at(file.path) != others.at(file.path));
    CHECK(OpenOptions().traces != OpenOptions().traces);
    const OpenOptions options;
    CHECK(OpenOptions(options).traces == options.traces);
}

TEST_CASE("attention without its own kernel is three core ops", "[instrumented]") {
    std::vector<std::string> ran;
    RecordingBackend backend(ran);
    const Tensor q = backend.empty({1, 2, 3, 4}, DType::F32);
    backend.run(Attention{.q = q, .k = q, .v = q, .out = backend.empty({1, 2, 3, 4}, DType::F32)});
    CHECK(ran == std::vector<std::string>{"matmul", "masked_softmax", "matmul"});
}
