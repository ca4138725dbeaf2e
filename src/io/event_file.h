// Writes a run's scalars for TensorBoard.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headscope {

// Seconds since 1970.
using WallClock = std::function<double()>;
double wall_clock();

// One event file, "events.out.tfevents.SECONDS.headscope". Each start of a run writes a new file, because a file that
// TensorBoard is reading may only be appended to. TensorBoard reads a folder's files in order of their names; a record
// truncated by a kill ends the reading of that file only.
class EventFile {
public:
    // Creates the folder and a new file whose name sorts after the existing ones, whatever the clock says. `last_step`:
    // the step from which the run resumes; TensorBoard discards later steps in older files. 0: a new run. Error if the
    // file cannot be written.
    explicit EventFile(const std::string& folder, std::int64_t last_step = 0, WallClock clock = wall_clock);
    EventFile(const EventFile&) = delete;
    EventFile& operator=(const EventFile&) = delete;
    ~EventFile();  // flushes, ignoring errors

    const std::string& path() const { return path_; }

    // Buffered until flush().
    void scalar(std::string_view tag, std::int64_t step, double value);
    // Error if writing fails; then the file is unchanged and the records stay buffered for another attempt.
    void flush();

private:
    std::string path_;
    WallClock clock_;
    std::string waiting_;  // records
};

}  // namespace headscope
