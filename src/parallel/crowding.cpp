#include "parallel/crowding.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "support/processors.h"

namespace headscope {
namespace {

int count_of(const std::string& processors) {
    return static_cast<int>(std::ranges::count(processors, '1'));
}

std::string affinity() {
    const long online = std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF));
    std::string text(static_cast<std::size_t>(online), '1');
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            text[i] = i < CPU_SETSIZE && CPU_ISSET(i, &set) ? '1' : '0';
        }
    }
    return text;
}

std::string text_of(const RankSeat& seat) {
    return fmt::format("{:d} {} {:d} {} {} \"{}\" {}", seat.on_cpu, seat.threads, seat.threads_chosen, seat.quota,
                       seat.processors, seat.device, seat.host);
}

RankSeat seat_of(const std::string& text) {
    RankSeat seat;
    std::istringstream words(text);
    words >> seat.on_cpu >> seat.threads >> seat.threads_chosen >> seat.quota >> seat.processors >>
        std::quoted(seat.device) >> seat.host;
    return seat;
}

// The ranks of one host that compute on its processors.
struct Host {
    int ranks = 0;
    int threads = 0;
    int quota = 0;
    int most_bound_to = 0;  // the most processors that one of them may use
    bool all_chosen = true;
    std::string processors;  // of all

    void add(const RankSeat& seat) {
        ++ranks;
        threads += seat.threads;
        quota = seat.quota;
        most_bound_to = std::max(most_bound_to, count_of(seat.processors));
        all_chosen = all_chosen && seat.threads_chosen;
        processors.resize(std::max(processors.size(), seat.processors.size()), '0');
        for (std::size_t i = 0; i < seat.processors.size(); ++i) {
            processors[i] = std::max(processors[i], seat.processors[i]);
        }
    }
};

std::string problem(const std::string& name, const Host& host) {
    constexpr const char* kUnbind = "pass --bind-to none to mpirun, or --cpus-per-task to srun";
    const int reached = count_of(host.processors);
    const int usable = host.quota > 0 ? std::min(host.quota, reached) : reached;
    const bool launched = !name.empty();  // and perhaps bound
    const bool bound = launched && host.most_bound_to < static_cast<int>(host.processors.size());
    const std::string who =
        fmt::format("{} rank{}{}", host.ranks, host.ranks == 1 ? "" : "s", launched ? " on host " + name : "");
    if (host.threads > usable && host.all_chosen && bound && host.most_bound_to < host.threads / host.ranks) {
        return fmt::format(
            "{} compute{} with {} threads, but may use {} of its {} processors: {}, or lower "
            "HEADSCOPE_THREADS",
            who, host.ranks == 1 ? "s" : "", host.threads, usable, host.processors.size(), kUnbind);
    }
    if (host.threads > usable && host.ranks > 1) {
        return fmt::format("{} compute with {} threads on {} processor{}: set HEADSCOPE_THREADS={}{}", who,
                           host.threads, usable, usable == 1 ? "" : "s", std::max(1, usable / host.ranks),
                           host.ranks > usable ? ", or start fewer ranks" : "");
    }
    if (launched && host.most_bound_to == 1 && reached < static_cast<int>(host.processors.size())) {
        return fmt::format("{} use{} {} of its {} processors, since each is bound to one: {}", who,
                           host.ranks == 1 ? "s" : "", reached, host.processors.size(), kUnbind);
    }
    return "";
}

std::vector<std::string> shared_devices(const std::vector<RankSeat>& seats) {
    std::map<std::string, std::vector<std::size_t>> users;
    for (std::size_t rank = 0; rank < seats.size(); ++rank) {
        const RankSeat& seat = seats[rank];
        if (!seat.on_cpu && !seat.device.empty()) {
            users[seat.device + (seat.host.empty() ? "" : " on host " + seat.host)].push_back(rank);
        }
    }
    std::vector<std::string> warnings;
    for (const auto& [device, ranks] : users) {
        if (ranks.size() > 1) {
            warnings.push_back(
                fmt::format("ranks {} and {} share one device ({}): they take turns, and each needs its own memory "
                            "there",
                            ranks[0], ranks[1], device));
        }
    }
    return warnings;
}

}  // namespace

RankSeat seat_here(const std::string& host, const std::string& device, const Settings& settings) {
    RankSeat seat;
    seat.host = host;
    // Slurm may give each task a GPU of its own, which has the same number in each.
    seat.device = settings.has("SLURM_STEP_ID") ? "" : device;
    seat.on_cpu = device.starts_with("cpu");
    seat.processors = affinity();
    const int usable = processors();
    seat.quota = usable < count_of(seat.processors) ? usable : 0;
    const std::string chosen = settings.get("HEADSCOPE_THREADS");
    int threads = 0;
    std::from_chars(chosen.data(), chosen.data() + chosen.size(), threads);
    seat.threads_chosen = threads > 0;
    seat.threads = threads > 0 ? threads : usable;
    return seat;
}

std::vector<std::string> crowding(const std::vector<RankSeat>& seats) {
    std::map<std::string, Host> hosts;
    for (const RankSeat& seat : seats) {
        if (seat.on_cpu) {
            hosts[seat.host].add(seat);
        }
    }
    std::vector<std::string> warnings = shared_devices(seats);
    for (const auto& [name, host] : hosts) {
        if (const std::string text = problem(name, host); !text.empty()) {
            warnings.push_back(text);
        }
    }
    return warnings;
}

std::vector<std::string> crowding(Communicator& ranks, const RankSeat& mine) {
    std::vector<RankSeat> seats;
    for (const std::string& text : ranks.gather(text_of(mine))) {
        seats.push_back(seat_of(text));
    }
    return ranks.leads() ? crowding(seats) : std::vector<std::string>();
}

}  // namespace headscope
