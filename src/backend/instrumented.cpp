#include "backend/instrumented.h"

#include <cmath>
#include <deque>
#include <iterator>
#include <utility>

#include "backend/capture.h"
#include "backend/replays.h"
#include "backend/validate.h"
#include "support/check.h"

namespace headscope {

namespace {

void check_transfer(const char* what, const Tensor& tensor, std::size_t bytes) {
    HEADSCOPE_CHECK(tensor.defined(), std::string(what) + ": the tensor has no memory");
    HEADSCOPE_CHECK(tensor.contiguous(),
                    std::string(what) + ": expected a contiguous tensor, found " + tensor.to_string());
    const std::size_t expected = static_cast<std::size_t>(tensor.elements()) * size_of(tensor.dtype);
    HEADSCOPE_CHECK(bytes == expected, std::string(what) + ": " + tensor.to_string() + " has " +
                                           std::to_string(expected) + " bytes, given " + std::to_string(bytes));
}

}  // namespace

struct Instrumented::Impl {
    // An op whose time is not known yet.
    struct Timed {
        const char* op;
        std::string label;
        std::shared_ptr<Event> begin, end;
    };

    Impl(Backend& backend, InstrumentOptions wanted) : inner(backend), options(std::move(wanted)) {}

    Backend& inner;
    InstrumentOptions options;
    std::string label;
    std::map<std::string, OpTime> times;
    std::vector<TraceEvent> events;
    double first_begin = 0.0;  // of the first op, by the trace's clock
    std::deque<Timed> pending;
    std::shared_ptr<Event> last_begin;  // of what was traced last
    double last_begin_seconds = 0.0;    // since the first op

    Capture* capture = nullptr;  // while a body is captured, nothing reaches the device

    // What `body` enqueues.
    Capture captured(const std::string& name, const std::function<void()>& body) {
        Capture found;
        capture = &found;
        try {
            body();
        } catch (...) {
            capture = nullptr;
            throw;
        }
        capture = nullptr;
        HEADSCOPE_CHECK(!found.outlived(), name + ": what the body of a replay allocates must not outlive it");
        return found;
    }
    void only_ops(const std::string& what) const { HEADSCOPE_CHECK(capture == nullptr, not_in_a_replay(what)); }

    bool timed() const { return options.time || options.trace != nullptr; }

    void add(Timed op) {
        // Far more than a device lets the host run ahead: the older half is done by then.
        constexpr std::size_t kMostPending = 4096;
        pending.push_back(std::move(op));
        if (pending.size() == kMostPending) {
            settle(kMostPending / 2);
        }
    }

    // Adds the first `count` pending ops to the totals.
    void settle(std::size_t count) {
        if (count == 0) {
            return;
        }
        pending[count - 1].end->wait();
        for (; count > 0; --count) {
            account(pending.front());
            pending.pop_front();
        }
    }

    void account(const Timed& op) {
        const double seconds = op.end->seconds_since(*op.begin);
        OpTime& total = times[op.op];
        ++total.calls;
        total.seconds += seconds;
        if (options.trace != nullptr) {
            constexpr double kMicro = 1e6;
            // Measured from op to op: clocks are more precise for short times than for long ones.
            last_begin_seconds += last_begin == nullptr ? 0.0 : op.begin->seconds_since(*last_begin);
            last_begin = op.begin;
            events.push_back({op.op, op.label, kMicro * last_begin_seconds, kMicro * seconds});
        }
    }

    void scan(const char* op, const Declared& output) {
        if (!output.fully_written() || !is_real_dtype(output.tensor->dtype)) {
            return;
        }
        const std::vector<double> values = to_host<double>(inner, *output.tensor);
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (std::isnan(values[i])) {
                throw Error(std::string("NaN: ") + op + " wrote one to its output " + output.name + " (" +
                            output.tensor->to_string() + "), first at element " + std::to_string(i) +
                            (label.empty() ? "" : ", in " + label) + " on " + inner.device().id);
            }
        }
    }
};

Instrumented::Instrumented(std::unique_ptr<Backend> backend, InstrumentOptions options)
    : ForwardingBackend(std::move(backend)), impl_(std::make_unique<Impl>(inner(), std::move(options))) {}

Instrumented::~Instrumented() {
    if (impl_->options.trace != nullptr) {
        try {
            impl_->settle(impl_->pending.size());
        } catch (const Error&) {  // lost device: write what is known
        }
        const DeviceInfo& of = device();
        impl_->options.trace->add(of.id + " " + of.name, impl_->first_begin, impl_->events);
    }
}

template <class Op>
void Instrumented::observe(const Op& op) {
    if (impl_->capture != nullptr) {
        impl_->capture->add(op);
        return;
    }
    validate(op);
    const std::shared_ptr<Event> begin = impl_->timed() ? inner().record_event() : nullptr;
    if (impl_->options.trace != nullptr && impl_->first_begin == 0.0) {
        impl_->first_begin = impl_->options.trace->now();
    }
    inner().run(op);
    if (begin != nullptr) {
        impl_->add({Op::kName, impl_->options.trace != nullptr ? impl_->label : "", begin, inner().record_event()});
    }
    if (impl_->options.scan_for_nan) {
        for (const Declared& operand : operands_of(op)) {
            impl_->scan(Op::kName, operand);
        }
    }
}

#define HEADSCOPE_DEFINE(Op)               \
    void Instrumented::run(const Op& op) { \
        observe(op);                       \
    }
HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

void Instrumented::set_label(std::string label) {
    impl_->label = std::move(label);
}

const std::map<std::string, OpTime>& Instrumented::times() {
    impl_->settle(impl_->pending.size());
    return impl_->times;
}

Tensor Instrumented::empty(const Shape& shape, DType dtype) {
    return impl_->capture != nullptr ? impl_->capture->empty(shape, dtype) : inner().empty(shape, dtype);
}

void Instrumented::upload(const Tensor& to, const void* from, std::size_t bytes) {
    impl_->only_ops("uploaded data");
    check_transfer("upload", to, bytes);
    inner().upload(to, from, bytes);
}

void Instrumented::download(const Tensor& from, void* to, std::size_t bytes) {
    impl_->only_ops("downloaded data");
    check_transfer("download", from, bytes);
    inner().download(from, to, bytes);
}

void Instrumented::synchronize() {
    impl_->only_ops("waited for the device");
    inner().synchronize();
}

std::shared_ptr<Event> Instrumented::record_event() {
    impl_->only_ops("recorded an event");
    return inner().record_event();
}

bool Instrumented::replays() const {
    // Timing, tracing and scanning have to see every op.
    return inner().replays() && !impl_->timed() && !impl_->options.scan_for_nan;
}

// Whether a body just runs: it is part of another, or nobody wants to know what it does.
bool Instrumented::passes_on() const {
    return impl_->capture != nullptr || !(replays() || impl_->options.check_replays);
}

void Instrumented::replay(const std::string& name, const std::function<void()>& body) {
    if (passes_on()) {
        body();
    } else {
        replay_captured(name, impl_->captured(name, body), body);
    }
}

void Instrumented::replay_again(const std::string& name, RepeatedSequence& sequence, const Dependencies& dependencies,
                                const std::function<void()>& body) {
    if (passes_on()) {
        body();
        return;
    }
    std::shared_ptr<const Capture> found = sequence.known(name, dependencies);
    if (found == nullptr) {
        found = std::make_shared<const Capture>(impl_->captured(name, body));
        sequence.remember(name, dependencies, found);
    } else if (impl_->options.check_replays) {
        const std::string difference = found->difference(impl_->captured(name, body));
        HEADSCOPE_CHECK(difference.empty(), name + ": with equal dependencies the body of a replay must do the same; " +
                                                difference + " differs, so a dependency is missing");
    }
    replay_captured(name, *found, body);
}

// `found` is what body enqueues.
void Instrumented::replay_captured(const std::string& name, const Capture& found, const std::function<void()>& body) {
    const auto checked_body = [&] {
        const std::string difference = found.difference(impl_->captured(name, body));
        HEADSCOPE_CHECK(difference.empty(),
                        name + ": the body of a replay must do the same each time; " + difference + " differs");
        body();
    };
    if (replays()) {
        const Capture::Key key = found.key();
        inner().replay(name + std::string(reinterpret_cast<const char*>(key.data()), sizeof key), checked_body);
    } else {
        checked_body();
    }
}

}  // namespace headscope
