#include "parallel/mpi_communicator.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace headscope {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

// Sleeps between looks, longer each time: waiting leaves the processors to others.
class Pause {
public:
    void rest() {
        std::this_thread::sleep_for(next_);
        next_ = std::min<std::chrono::microseconds>(2 * next_, 1ms);
    }
    void restart() { next_ = 50us; }

private:
    std::chrono::microseconds next_ = 50us;
};

// Says "still here" now and then to those who wait for a rank that itself waits.
class Stays {
public:
    Stays(MpiMail& mail, Seconds patience) : mail_(mail), every_(std::min<Seconds>(patience / 20, 5s)) {}
    void look() {
        if (Clock::now() - last_ > every_) {
            mail_.stay();
            last_ = Clock::now();
        }
    }

private:
    MpiMail& mail_;
    Seconds every_;
    Clock::time_point last_ = Clock::now();
};

}  // namespace

MpiCommunicator::MpiCommunicator(const mpi::Module& module, const mpi::Place& place, Seconds patience, Report report,
                                 std::size_t part_bytes)
    : module_(module),
      place_(place),
      patience_(patience),
      report_(std::move(report)),
      part_bytes_(part_bytes),
      exceptions_(std::uncaught_exceptions()),
      mail_(module, place.rank, place.size) {}

template <class Condition>
bool MpiCommunicator::wait_until(const Condition& condition, double seconds) {
    const Clock::time_point start = Clock::now();
    Pause pause;
    for (;;) {
        mail_.turn();
        if (condition()) {
            return true;
        }
        if (Clock::now() - start > Seconds(seconds)) {
            return false;
        }
        pause.rest();
    }
}

void MpiCommunicator::greet() {
    Silence silence(size(), patience_);
    Pause pause;
    mail_.say("start", false);
    while (listen() && !mail_.all_have_read()) {
        pause.rest();
        for (int other = 0; other < size(); ++other) {
            if (!mail_.has_read(other)) {
                silence.check(*this, other, mail_.word(other));
            }
        }
    }
}

MpiCommunicator::~MpiCommunicator() {
    try {
        if (std::uncaught_exceptions() > exceptions_) {
            fail("it ended before the others, and did not say why");
        }
        if (!failing_) {
            leave();
            return;
        }
    } catch (const OtherRankFailed&) {
        failing_ = true;
    } catch (const std::exception& error) {
        fail(error.what());
    }
    if (!leads()) {
        std::this_thread::sleep_for(4s);  // rank 0 ends this one, after it has tidied up
    }
    abort();
}

void MpiCommunicator::exchange(std::span<const std::span<const std::byte>> out,
                               std::span<const std::span<std::byte>> in) {
    const auto me = static_cast<std::size_t>(rank());
    HEADSCOPE_CHECK(out.size() == in.size() && std::ssize(out) == size(), "an exchange has a message for each rank");
    HEADSCOPE_CHECK(out[me].size() == in[me].size(), "what a rank sends itself has one size");
    std::ranges::copy(out[me], in[me].begin());
    try {
        check();
        std::vector<Part> parts = begin(out, in);
        finish(parts);
    } catch (const OtherRankFailed&) {
        throw;
    } catch (const Error& error) {
        fail(error.what());  // now, while the bytes that MPI reads and writes are still there
        throw;
    }
}

std::vector<MpiCommunicator::Part> MpiCommunicator::begin(std::span<const std::span<const std::byte>> out,
                                                          std::span<const std::span<std::byte>> in) {
    std::vector<Part> parts;
    for (int other = 0; other < size(); ++other) {
        const auto at = static_cast<std::size_t>(other);
        if (other == rank()) {
            continue;
        }
        for (std::size_t from = 0; from < in[at].size(); from += part_bytes_) {
            const std::span<std::byte> bytes = in[at].subspan(from, std::min(part_bytes_, in[at].size() - from));
            Part& part = parts.emplace_back(Part{other, {}});
            check_mpi(
                module_.receive(mpi::Data, other, 0, bytes.data(), static_cast<int>(bytes.size()), &part.request));
        }
        for (std::size_t from = 0; from < out[at].size(); from += part_bytes_) {
            const std::span<const std::byte> bytes =
                out[at].subspan(from, std::min(part_bytes_, out[at].size() - from));
            Part& part = parts.emplace_back(Part{other, {}});
            check_mpi(
                module_.send(mpi::Data, other, 0, bytes.data(), static_cast<int>(bytes.size()), 0, &part.request));
        }
    }
    return parts;
}

void MpiCommunicator::finish(std::vector<Part>& parts) {
    Silence silence(size(), patience_);
    Stays stays(mail_, patience_);
    Pause pause;
    for (;;) {
        if (!listen()) {
            throw OtherRankFailed();
        }
        const auto moved = std::erase_if(parts, [&](Part& part) {
            mpi::Arrival arrival;
            check_mpi(module_.test(&part.request, &arrival));
            return arrival.done != 0;
        });
        if (parts.empty()) {
            return;
        }
        if (moved > 0) {
            pause.restart();
            continue;
        }
        pause.rest();
        stays.look();
        for (const Part& part : parts) {
            silence.check(*this, part.other, mail_.word(part.other));
        }
    }
}

void MpiCommunicator::check() {
    if (failing_ || !listen()) {
        throw OtherRankFailed();
    }
}

void MpiCommunicator::announce(const std::string& what, Takes time) {
    if (!failing_ && listen()) {
        mail_.say(what, time == Takes::Long);
        if (time == Takes::Long) {
            catch_up();
        }
    }
}

// Waits until all are told of long work: otherwise they would soon miss this rank. None of them waits for long before
// it reads its words.
void MpiCommunicator::catch_up() {
    Silence silence(size(), patience_);
    Stays stays(mail_, patience_);
    Pause pause;
    while (mail_.unsaid() && listen()) {
        pause.rest();
        stays.look();
        for (int other = 0; other < size(); ++other) {
            if (other != rank()) {
                silence.check(*this, other, mail_.word(other));
            }
        }
    }
    constexpr double kForMpi = 0.02;  // to hand the words over
    wait_until([&] { return mail_.all_have_read(); }, kForMpi);
}

// Reads what others have to say; false if all ranks end.
bool MpiCommunicator::listen() {
    mail_.turn();
    if (!failing_ && mail_.failure()) {
        failing_ = true;
        end_all(*mail_.failure());
    }
    failing_ = failing_ || mail_.ended();
    return !failing_;
}

// At rank 0: reports the failure and tells all others.
void MpiCommunicator::end_all(const RankFailure& failure) {
    constexpr double kForReading = 1.0;
    exit_code_ = failure.exit_code;
    report_(failure.rank == 0 ? failure.reason : fmt::format("{}: {}", name_of(failure.rank), failure.reason));
    try {
        mail_.send_end();
        wait_until([&] { return mail_.all_have_read(); }, kForReading);
    } catch (const Error&) {
        return;  // abort() ends them
    }
}

void MpiCommunicator::fail(const std::string& reason, int exit_code) {
    // Those who do not hear of rank 0 end all in its place, in turns, so that only the first reports.
    constexpr double kForRankZero = 3.0;
    constexpr double kForEachRank = 0.5;
    if (failing_) {
        return;
    }
    failing_ = true;
    try {
        mail_.turn();
        if (leads()) {
            end_all(mail_.failure().value_or(RankFailure{0, reason, exit_code}));
            return;
        }
        exit_code_ = exit_code;
        mail_.send_failure(reason, exit_code);
        if (wait_until([&] { return mail_.ended(); }, kForRankZero + kForEachRank * std::min(rank(), 8))) {
            return;
        }
        mail_.send_end();
        mail_.turn();
    } catch (const Error&) {
        if (leads()) {
            report_(reason);
            return;
        }
    }
    report_(fmt::format("{}: {}", name_of(rank()), reason));
    abort();
}

void MpiCommunicator::abort() {
    std::this_thread::sleep_for(500ms);  // for the launcher to pass on what was printed: MPICH's drops it otherwise
    module_.abort(exit_code_);
}

// Ends MPI once all ranks are here. Nothing is said after the last letter.
void MpiCommunicator::leave() {
    Silence silence(size(), patience_);
    Pause pause;
    mail_.send_leave();
    for (;;) {
        if (!listen()) {
            throw OtherRankFailed();
        }
        bool all_left = true;
        for (int other = 0; other < size(); ++other) {
            if (!mail_.left(other) || !mail_.has_read(other)) {
                silence.check(*this, other, mail_.word(other));
                all_left = false;
            }
        }
        if (all_left) {
            break;
        }
        pause.rest();
    }
    mail_.close();
    check_mpi(module_.end());
}

}  // namespace headscope
