// What a TensorBoard event file is made of. The messages are Event, Summary and SessionLog of TensorFlow's event.proto
// and summary.proto in the wire format of Protocol Buffers; of them only what scalars need is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

// Wall times are seconds since 1970.

// The first of every file: which version of the format follows.
std::string version_event(double wall_time);
// A run goes on: what was written of this step and of later ones before does not count.
std::string restart_event(double wall_time, std::int64_t step);
// The value is kept as a float.
std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, double value);

// An event as a record of the file: its length (64 bits), the length's checksum, the event, its checksum.
std::string event_record(std::string_view event);

}  // namespace headscope
