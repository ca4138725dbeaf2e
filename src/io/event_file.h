// Scalars of a run for TensorBoard.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headscope {

// Seconds since 1970.
using WallClock = std::function<double()>;
double wall_clock();

// One event file, "events.out.tfevents.SECONDS.headscope". Each start of a run writes a file of its own, since one that
// TensorBoard is reading must not change but at its end; it reads a folder's files in the order of their names, and a
// record that a kill cut short ends the reading of its file alone.
class EventFile {
public:
    // Makes the folder and a new file in it, whose name comes after those that are there, whatever the clock says.
    // `last_step`: where the run goes on; what older files hold of later steps counts no more. 0: a new run. Error when
    // the file cannot be written.
    explicit EventFile(const std::string& folder, std::int64_t last_step = 0, WallClock clock = wall_clock);
    EventFile(const EventFile&) = delete;
    EventFile& operator=(const EventFile&) = delete;
    ~EventFile();  // writes what is left as far as it can

    const std::string& path() const { return path_; }

    // Kept until flush().
    void scalar(std::string_view tag, std::int64_t step, double value);
    // Error when it cannot be written; then the file ends as it did before, and what was kept stays for another try.
    void flush();

private:
    std::string path_;
    WallClock clock_;
    std::string waiting_;  // records
};

}  // namespace headscope
