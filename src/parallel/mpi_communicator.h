// A rank among ranks of one or many machines, by MPI.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/mpi_mail.h"
#include "parallel/mpi_module.h"

namespace headscope {

// The first rank that fails is reported once, by rank 0 if that one listens, else by itself; then all ranks end, those
// that compute by MPI_Abort. So who catches an error calls fail() with its text, prints nothing, and returns an exit
// code other than 0.
class MpiCommunicator final : public Communicator {
public:
    // Prints a line for the user.
    using Report = std::function<void(const std::string&)>;
    static constexpr std::size_t kPartBytes = std::size_t{1} << 26U;

    // MPI has been started at `place`. `patience` as for LocalCommunicator. All ranks make one at the same time.
    // `part_bytes`: larger messages are sent in parts.
    MpiCommunicator(const mpi::Module& module, const mpi::Place& place, std::chrono::duration<double> patience,
                    Report report, std::size_t part_bytes = kPartBytes);
    // Waits until all ranks come here, and ends MPI. After a failure it ends the process, too.
    ~MpiCommunicator() override;

    int rank() const override { return place_.rank; }
    int size() const override { return place_.size; }
    void exchange(std::span<const std::span<const std::byte>> out, std::span<const std::span<std::byte>> in) override;
    void check() override;
    void announce(const std::string& what, Takes time = Takes::Short) override;
    // Does not return if rank 0 does not listen.
    void fail(const std::string& reason, int exit_code = 1) override;
    std::chrono::duration<double> patience() const override { return patience_; }

    // Says a first word to everybody, and waits until all have read it. Some MPIs prepare the way from one rank to
    // another while both of them listen: a later word would wait for that.
    void greet();

    // The host, and which of its ranks this is: the one to choose a device by.
    const mpi::Place& place() const { return place_; }

private:
    struct Part {  // of a message, under way
        int other = 0;
        mpi::Request request;
    };
    std::vector<Part> begin(std::span<const std::span<const std::byte>> out, std::span<const std::span<std::byte>> in);
    void finish(std::vector<Part>& parts);
    void catch_up();
    void leave();
    void abort();
    bool listen();
    void end_all(const RankFailure& failure);
    template <class Condition>
    bool wait_until(const Condition& condition, double seconds);

    const mpi::Module& module_;
    const mpi::Place place_;
    const std::chrono::duration<double> patience_;
    const Report report_;
    const std::size_t part_bytes_;
    const int exceptions_;  // in flight when this was made
    MpiMail mail_;
    int exit_code_ = 1;
    bool failing_ = false;  // from then on only abort() is called: MPI may still read and write memory that is gone
};

}  // namespace headscope
