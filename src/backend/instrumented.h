// The decorator that sees every op: always validates it; times, traces or scans for NaN on request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "backend/forwarding_backend.h"
#include "backend/trace_file.h"

namespace headscope {

class Capture;

struct InstrumentOptions {
    bool time = false;           // events around every op (Backend::events), totals by name
    bool scan_for_nan = false;   // downloads every real output; Error names the op, the output and the label
    bool check_replays = false;  // checks every replayed body, also of backends that do not replay
    std::shared_ptr<TraceFile> trace = nullptr;  // gets the ops when the backend is destroyed; implies time
};

struct OpTime {
    std::int64_t calls = 0;
    double seconds = 0.0;
};

class Instrumented final : public ForwardingBackend {
public:
    Instrumented(std::unique_ptr<Backend> backend, InstrumentOptions options);
    ~Instrumented() override;

    // What the model is doing ("encoder.0.self_attention"), for traces and NaN messages.
    void set_label(std::string label);
    // Totals of all ops so far; waits for them.
    const std::map<std::string, OpTime>& times();

    Tensor empty(const Shape& shape, DType dtype) override;
    void upload(const Tensor& to, const void* from, std::size_t bytes) override;
    void download(const Tensor& from, void* to, std::size_t bytes) override;
    void synchronize() override;
    std::shared_ptr<Event> record_event() override;
    void replay(const std::string& name, const std::function<void()>& body) override;
    void replay_again(const std::string& name, RepeatedSequence& sequence, const Dependencies& dependencies,
                      const std::function<void()>& body) override;
    bool replays() const override;

#define HEADSCOPE_DECLARE(Op) void run(const Op& op) override;
    HEADSCOPE_ALL_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

private:
    template <class Op>
    void observe(const Op& op);
    bool passes_on() const;
    void replay_captured(const std::string& name, const Capture& found, const std::function<void()>& body);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace headscope
