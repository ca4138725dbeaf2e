// Ranks as processes of this machine: this program, started again for each of them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/local_group.h"

namespace headscope {

// The value of a hidden option, by which a process knows that it is a rank.
struct RankStart {
    int descriptor = -1;  // of its group's memory
    int rank = 0;
    pid_t parent = 0;
    int attempt = 0;  // how often the ranks were started before

    std::string text() const;
    static RankStart parse(const std::string& text);  // Error for what text() does not write
    // Makes this process end with its parent. Error if that has ended already.
    void follow_parent() const;
};

class RankProcesses {
public:
    // Starts this program `count` times with `arguments`, to which `option` and RankStart::text() are added, before a
    // "--". Error if that fails. Call it before any other thread computes; children inherit which signals this thread
    // blocks.
    RankProcesses(int count, const std::vector<std::string>& arguments, const std::string& option, int attempt);
    RankProcesses(const RankProcesses&) = delete;
    RankProcesses& operator=(const RankProcesses&) = delete;
    ~RankProcesses();  // ends those that still run

    // Until all have ended. If one fails, the others end within two seconds. `stop`: whether rank 0 is to be asked to
    // stop, by SIGTERM. Returns why they ended; nothing if all succeeded.
    std::optional<RankFailure> wait(const std::function<bool()>& stop);
    bool begun() const { return group_.begun(); }  // see Communicator::begin()

private:
    struct Process {
        pid_t id = 0;  // 0: it has ended
    };
    void reap();
    bool running() const;
    void signal(int number) const;

    LocalGroup group_;
    std::vector<Process> processes_;
};

}  // namespace headscope
